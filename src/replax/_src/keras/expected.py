"""Imported with the datasets, for what it does: models of Keras will take them."""

from __future__ import annotations

from replax._src.keras import arrival

__all__: list[str] = []

arrival.expect()
