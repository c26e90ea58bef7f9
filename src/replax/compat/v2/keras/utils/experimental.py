"""The older name of functions that make datasets."""

from replax.keras import DatasetCreator

__all__ = ["DatasetCreator"]
