"""Datasets of other libraries, each of which is imported by its users alone."""
