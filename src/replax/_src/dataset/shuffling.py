"""In which order a shuffle gives elements: a function of its key and the place.

Every draw is a function of its number (Philox is a counter-based generator), so that a
shuffle can be entered anywhere without replaying it, and its position is one number.
"""

from __future__ import annotations

import mmap
import operator
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from replax._src.dataset.block import Index
from replax._src.dataset.index import as_array, looked_up

__all__ = [
    "Chance",
    "Key",
    "Order",
    "Orders",
    "Slots",
    "full_order",
    "key_of",
    "uniform",
    "windowed_order",
]

Key = np.ndarray

# Up to here a permutation is written down (16 MB); from here on it is computed.
_LONGEST_WRITTEN = 2**22
_MIXING_ROUNDS = 6
_PIECE = 2**14


def key_of(seed: int, *numbers: int) -> Key:
    """A key for random draws, different for each sequence of numbers."""
    words = (seed % 2**64, *numbers)  # negative seeds are seeds too
    return np.random.SeedSequence(words).generate_state(2, np.uint64)


def raw_draws(key: Key, start: int, stop: int) -> np.ndarray:
    """The draws with the numbers from ``start`` to ``stop``, 64 random bits each."""
    # One step of Philox makes four.
    first = start // 4
    bits = np.random.Philox(key=key, counter=first)
    return bits.random_raw(stop - first * 4)[start - first * 4 :]


def uniform(key: Key, start: int, stop: int) -> np.ndarray:
    """Uniform numbers in [0, 1), each a function of its number."""
    return (raw_draws(key, start, stop) >> np.uint64(11)) * 2.0**-53


class Order:
    """The numbers of the elements that a shuffle gives, place by place."""

    def at(self, index: Index) -> Index:
        """The numbers of the elements at these places."""
        raise NotImplementedError


def full_order(key: Key, size: int) -> Order:
    """A permutation of all of ``size`` elements."""
    if size <= _LONGEST_WRITTEN:
        return _Written(key, size)
    return _Mixed(key, size)


class _Written(Order):
    def __init__(self, key: Key, size: int) -> None:
        # In pages of its own, which go back to the system with it: every epoch has a
        # thread and an order, and what threads free is kept for them by the C library.
        pages = mmap.mmap(-1, max(1, size * 4))
        numbers = np.frombuffer(pages, np.int32, size)
        for start in range(0, size, _PIECE):
            stop = min(start + _PIECE, size)
            numbers[start:stop] = np.arange(start, stop, dtype=np.int32)
        np.random.Generator(np.random.Philox(key=key)).shuffle(numbers)
        self._numbers = numbers

    def at(self, index: Index) -> Index:
        return looked_up(self._numbers, index)


class _Mixed(Order):
    """A permutation that is computed place by place: a Feistel network.

    It permutes a square a little larger than ``size``; what falls outside is sent
    through again until it falls inside.
    """

    def __init__(self, key: Key, size: int) -> None:
        self._size = size
        self._side_bits = (max(1, (size - 1).bit_length()) + 1) // 2
        self._round_keys = raw_draws(key, 0, _MIXING_ROUNDS)

    def at(self, index: Index) -> Index:
        places = as_array(index).astype(np.uint64)
        numbers = self._mix(places)
        outside = numbers >= self._size
        while outside.any():
            numbers[outside] = self._mix(numbers[outside])
            outside = numbers >= self._size
        return numbers.astype(np.int64)

    def _mix(self, places: np.ndarray) -> np.ndarray:
        bits = np.uint64(self._side_bits)
        mask = np.uint64((1 << self._side_bits) - 1)
        left, right = places >> bits, places & mask
        for round_key in self._round_keys:
            mixed = (right ^ round_key) * np.uint64(0xFF51AFD7ED558CCD)
            mixed ^= mixed >> np.uint64(33)
            mixed *= np.uint64(0xC4CEB9FE1A85EC53)
            mixed ^= mixed >> np.uint64(29)
            left, right = right, left ^ (mixed & mask)
        return (left << bits) | right


class Slots:
    """A buffer of ``size`` slots, through which elements pass in random order.

    Step ``i`` gives what lies in a random slot and puts element ``size + i`` there.

    Args:
      key: What the draws depend on.
      size: How many slots there are.
      step: Where to begin.
    """

    def __init__(self, key: Key, size: int, step: int = 0) -> None:
        self._key = key
        self.size = size
        self.step = step
        self.numbers = self._filled(step)

    def _filled(self, step: int) -> np.ndarray:
        """What lies in the slots before a step."""
        numbers = np.arange(self.size)
        unknown = np.ones(self.size, bool)
        stop = step
        while stop > 0 and unknown.any():
            start = max(0, stop - 4 * self.size - 64)
            last = np.full(self.size, -1)
            # Of several writes to one slot the last one stays.
            last[self._draws(start, stop)] = np.arange(start, stop)
            found = unknown & (last >= 0)
            numbers[found] = self.size + last[found]
            unknown &= ~found
            stop = start
        return numbers

    def _draws(self, start: int, stop: int) -> np.ndarray:
        draws = raw_draws(self._key, start, stop) % np.uint64(self.size)
        return draws.astype(np.int64)

    def advance(self, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Takes steps, and says where the elements that they give come from.

        Returns:
          The slots, and for each step which of these steps put its element there; -1
          if it lay there before.
        """
        draws = self._draws(self.step, self.step + steps)
        by_slot = np.argsort(draws, kind="stable")
        again = draws[by_slot[1:]] == draws[by_slot[:-1]]
        earlier = np.full(steps, -1)
        earlier[by_slot[1:][again]] = by_slot[:-1][again]
        self.numbers[draws] = np.arange(steps) + (self.size + self.step)
        self.step += steps
        return draws, earlier

    def emptied(self) -> np.ndarray:
        """The order in which the slots are emptied when nothing more comes."""
        if not self.step:
            # All there is lies in the slots; it comes as if it were read by number.
            return as_array(full_order(self._key, self.size).at(range(self.size)))
        last = self._key ^ np.uint64(0x9E3779B97F4A7C15)
        return np.random.Generator(np.random.Philox(key=last)).permutation(self.size)


def windowed_order(key: Key, size: int | None, buffer_size: int) -> Order:
    """The order in which ``size`` elements leave a buffer of fewer.

    Args:
      key: What it depends on.
      size: How many elements there are; None if there is no end to them.
      buffer_size: How many of them the buffer holds.
    """
    return _Windowed(key, size, buffer_size)


class _Windowed(Order):
    """Computed in chunks, each from the buffer that the one before has left."""

    def __init__(self, key: Key, size: int | None, buffer_size: int) -> None:
        self._slots = Slots(key, buffer_size)
        self._key = key
        self._steps = None if size is None else size - buffer_size
        self._length = max(1024, buffer_size)
        self._chunks: OrderedDict[int, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def at(self, index: Index) -> Index:
        places = as_array(index)
        chunks = places // self._length
        numbers = np.empty(len(places), np.int64)
        with self._lock:
            for chunk in np.unique(chunks):
                here = chunks == chunk
                offsets = places[here] - chunk * self._length
                numbers[here] = self._chunk(int(chunk))[offsets]
        return numbers

    def _chunk(self, number: int) -> np.ndarray:
        known = self._chunks.get(number)
        if known is None:
            known = self._chunks[number] = self._computed(number)
            if len(self._chunks) > 4:
                self._chunks.popitem(last=False)
        return known

    def _computed(self, number: int) -> np.ndarray:
        start = number * self._length
        steps = self._length
        if self._steps is not None:
            steps = max(0, min(steps, self._steps - start))
            start = min(start, self._steps)
        if self._slots.step != start:
            self._slots = Slots(self._key, self._slots.size, start)
        slots = self._slots
        before = slots.numbers.copy()
        draws, earlier = slots.advance(steps)
        numbers = np.where(earlier >= 0, slots.size + start + earlier, before[draws])
        if steps == self._length:
            return numbers
        # The end: what is left in the buffer, from where this chunk enters it.
        skipped = number * self._length - start
        left = slots.numbers[slots.emptied()]
        return np.concatenate([numbers, left[skipped:]])


class Chance:
    """What a dataset draws at random if users gave it no seed.

    Args:
      seed: The seed of users, or None to draw one.
    """

    def __init__(self, seed: int | None) -> None:
        self.seeded = seed is not None
        self.seed = secrets.randbits(31) if seed is None else operator.index(seed)
        self._iterations = 0
        self._lock = threading.Lock()

    def next_iteration(self) -> int:
        """Counts the iterations that are begun, each of which has its own order."""
        with self._lock:
            self._iterations += 1
            return self._iterations - 1

    def resume(self, seed: int, iteration: int) -> None:
        """Goes on as the process did in which an iteration was interrupted."""
        with self._lock:
            if not self.seeded:
                self.seed = seed
            self._iterations = max(self._iterations, iteration + 1)


class Orders:
    """The orders of the last few passes."""

    def __init__(self) -> None:
        self._known: OrderedDict[Sequence[int], Order] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, pass_: Sequence[int], make: Callable[[Any], Order]) -> Order:
        """The order of a pass, made when it is first asked for."""
        with self._lock:
            order = self._known.get(pass_)
            if order is None:
                order = self._known[pass_] = make(pass_)
                if len(self._known) > 3:
                    self._known.popitem(last=False)
            return order
