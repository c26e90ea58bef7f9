"""Saving variables and restoring them. The only package that imports orbax."""
