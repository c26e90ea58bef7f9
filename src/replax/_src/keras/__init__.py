"""Keras models under strategies. The only package that imports keras."""
