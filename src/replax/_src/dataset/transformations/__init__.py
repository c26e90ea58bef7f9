"""What is done with the elements of a dataset: one transformation a file."""
