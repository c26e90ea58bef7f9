"""Random numbers of a strategy: a seed and the number of the step."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["RandomState", "replica_key"]


class RandomState:
    """Where a strategy's random numbers come from; saved with its variables.

    Attributes:
      seed: The strategy's seed.
      step: How many runs have drawn random numbers.
    """

    __slots__ = ("seed", "step")

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.step = 0

    def advance(self, runs: int = 1) -> np.ndarray:
        """Seed and number of the step that now begins, as an input of a program.

        Args:
          runs: How many runs of the program draw random numbers; each is a step.
        """
        now = np.array([self.seed & 0xFFFFFFFF, self.step & 0xFFFFFFFF], np.uint32)
        self.step += runs
        return now


def replica_key(
    seed_and_step: jax.Array, replica_id: jax.Array | int, draw: int
) -> jax.Array:
    """The key for one draw by one replica in one step."""
    key = jax.random.key(jnp.asarray(seed_and_step)[0])
    for number in (jnp.asarray(seed_and_step)[1], replica_id, draw):
        key = jax.random.fold_in(key, number)
    return key
