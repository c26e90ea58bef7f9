"""Layers that prepare data for models: they learn from data, and keep no variables."""
