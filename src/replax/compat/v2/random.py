"""Random arrays."""

from replax._src.compat.draws import normal, set_seed, uniform

__all__ = ["normal", "set_seed", "uniform"]
