"""Examples: named lists of numbers or strings in one message, as TensorFlow's."""
