"""Random numbers, and keys of random numbers: each a function of its place."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from replax._src.core.specs import TensorSpec
from replax._src.dataset.block import Block, Index
from replax._src.dataset.index import as_array
from replax._src.dataset.node import INFINITE, Cursor, IndexCursor, Pass
from replax._src.dataset.seeding import RandomNode
from replax._src.dataset.shuffling import key_of
from replax._src.dataset.structure import LEAF, ElementSpec

__all__ = ["Keys", "RandomNumbers", "WithKey"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _Drawn(RandomNode):
    """Something random for each place, without end.

    Attributes:
      reshuffle: Whether each pass has draws of its own.
    """

    inputs = ()
    reshuffle: bool = True

    def cardinality(self) -> int:
        return INFINITE

    def open(self, pass_: Pass) -> Cursor:
        return IndexCursor(self, pass_)

    @property
    def indexed(self) -> bool:
        return True

    @property
    def varies(self) -> bool:
        return self.reshuffle

    def rows(self, index: Index, pass_: Pass) -> Block:
        places = as_array(index).astype(np.uint64)
        drawn = self.drawn(places, pass_ if self.reshuffle else ())
        return Block(LEAF, [drawn], len(places))

    @abc.abstractmethod
    def drawn(self, places: np.ndarray, pass_: Pass) -> np.ndarray:
        """What is drawn for each place."""


class RandomNumbers(_Drawn):
    """Numbers from 0 to 2**32 - 1."""

    def label(self) -> str:
        return f"random({self.chance.seed if self.chance.seeded else ''})"

    def spec(self) -> ElementSpec:
        return ElementSpec(LEAF, (TensorSpec((), np.int64),))

    def drawn(self, places: np.ndarray, pass_: Pass) -> np.ndarray:
        first, second = _cipher(*_halves(self.seed, pass_), places)
        return (first ^ second).astype(np.int64)


class Keys(_Drawn):
    """For each place the key that ``jax.random.fold_in`` makes of it."""

    def label(self) -> str:
        return "keys"

    def spec(self) -> ElementSpec:
        return ElementSpec(LEAF, (TensorSpec((2,), np.uint32),))

    def drawn(self, places: np.ndarray, pass_: Pass) -> np.ndarray:
        return np.stack(_cipher(*_halves(self.seed, pass_), places), axis=1)


def _halves(seed: int, pass_: Pass) -> tuple[np.ndarray, np.ndarray]:
    """The key that the keys of one pass are made from: ``jax.random.PRNGKey``'s."""
    words = [seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF]
    first, second = np.array(words, np.uint32)[:, None]
    if any(pass_):
        # The first pass is keyed by the seed itself, so that it can be had in JAX.
        first, second = key_of(seed, *pass_).astype(np.uint32)[:, None]
    return first, second


_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def _cipher(
    first_key: np.ndarray, second_key: np.ndarray, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Threefry-2x32 with 20 rounds, JAX's default generator, in NumPy.

    A data pipeline must not wait for the devices that it feeds, and its worker
    processes have none.
    """
    keys = [first_key, second_key, first_key ^ second_key ^ np.uint32(0x1BD11BDA)]
    x: np.ndarray = np.zeros(len(places), np.uint32) + keys[0]
    y: np.ndarray = places.astype(np.uint32) + keys[1]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x = x + y
            y = (y << np.uint32(rotation)) | (y >> np.uint32(32 - rotation))
            y = y ^ x
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


class WithKey:
    """A function of users that takes a key behind the element."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, element: Any, key: Any) -> Any:
        if type(element) is tuple:
            return self._function(*element, key)
        return self._function(element, key)
