"""Iterators over datasets, which can be stopped and gone on with elsewhere."""

from __future__ import annotations

import weakref
import zlib
from collections.abc import Callable
from typing import Any

from replax._src.core.errors import InvalidArgumentError, OutOfRangeError
from replax._src.dataset.node import Cursor, Node, State
from replax._src.dataset.optional import Optional
from replax._src.dataset.pieces import PieceCursor
from replax._src.dataset.seeding import Seeds, chances, with_seeds
from replax._src.dataset.writing import identified, written

__all__ = ["DatasetIterator", "Run"]

_VERSION = 1


class Run:
    """One iteration of a plan: its seeds, its number, and how far it has come.

    Args:
      plan: The plan.
      read: What is read in its place: a part of its elements, at the same positions.
    """

    def __init__(self, plan: Node, read: Node | None = None) -> None:
        self._plan = plan
        self._read = plan if read is None else read
        self._chances = list(chances(plan))
        self._seeds: Seeds = [chance.seed for chance in self._chances]
        self._iteration = max(
            (chance.next_iteration() for chance in self._chances), default=0
        )
        self._cursor: Cursor | None = None

    def cursor(self) -> Cursor:
        """What reads the plan."""
        if self._cursor is None:
            plan = with_seeds(self._read, self._seeds)
            if plan.pure and not plan.in_order:
                self._cursor = PieceCursor(plan, (self._iteration,))
            else:
                self._cursor = plan.open((self._iteration,))
        return self._cursor

    def state_at(self, position: State) -> dict[str, Any]:
        """A position, as JSON can hold it.

        Args:
          position: The state of the cursor there.
        """
        return {
            "version": _VERSION,
            "plan": fingerprint(self._plan),
            "seeds": self._seeds,
            "iteration": self._iteration,
            "position": position,
        }

    def check(self, state: Any) -> None:
        """Raises if this is no position in the plan."""
        _check(state, self._plan)

    def restore(self, state: dict[str, Any]) -> None:
        """Moves to a position that was saved."""
        self.check(state)
        self.close()
        self._seeds = list(state["seeds"])
        self._iteration = state["iteration"]
        for chance, seed in zip(self._chances, self._seeds, strict=True):
            chance.resume(seed, self._iteration)
        self._cursor = None
        self.cursor().restore(state["position"])

    def close(self) -> None:
        """Releases threads and files."""
        if self._cursor is not None:
            self._cursor.close()


def fingerprint(plan: Node) -> str:
    """What two plans have in common if a position in one is one in the other."""
    return f"{zlib.crc32(identified(plan).encode()):08x}"


def _check(state: Any, plan: Node) -> None:
    wanted = {"version", "plan", "seeds", "iteration", "position"}
    if not isinstance(state, dict) or not wanted <= state.keys():
        msg = f"set_state got {state!r}; give what get_state has returned"
        raise InvalidArgumentError(msg)
    if state["version"] != _VERSION:
        msg = (
            f"the position was saved in format {state['version']}, and this version of "
            f"Replax knows format {_VERSION}; go on with the version that saved it"
        )
        raise InvalidArgumentError(msg)
    if state["plan"] != fingerprint(plan):
        msg = (
            f"the position was saved from another dataset than {written(plan)}; "
            f"build the dataset as it was built when the position was saved, and with "
            f"worker processes if there were any then, without them if there were none"
        )
        raise InvalidArgumentError(msg)


class DatasetIterator:
    """The elements of a dataset, one after the other.

    It is made by ``iter(dataset)``.

    >>> import replax
    >>> iterator = iter(replax.data.Dataset.range(3))
    >>> int(next(iterator))
    0
    >>> position = iterator.get_state()
    >>> [int(x) for x in iterator]
    [1, 2]
    >>> iterator.set_state(position)
    >>> [int(x) for x in iterator]
    [1, 2]
    """

    def __init__(
        self, plan: Node, given: Callable[[Any], Any] | None, owner: object
    ) -> None:
        self._plan = plan
        self._given = given
        self._owner = owner  # whose threads and worker processes this uses
        self._run = Run(plan)
        self._cursor = self._run.cursor()
        weakref.finalize(self, self._run.close)

    def __iter__(self) -> DatasetIterator:
        return self

    def __next__(self) -> Any:
        block = self._cursor.take(1)
        if block is None:
            raise StopIteration
        element = block.element(0)
        return element if self._given is None else self._given(element)

    def get_next(self) -> Any:
        """The next element.

        Raises:
          OutOfRangeError: There is none.
        """
        try:
            return next(self)
        except StopIteration:
            msg = (
                f"{written(self._plan)} has no more elements; loop with `for`, or use "
                f"next(iterator, default)"
            )
            raise OutOfRangeError(msg) from None

    def get_next_as_optional(self) -> Optional:
        """The next element, or the fact that there is none."""
        try:
            return Optional(next(self), lambda: self.element_spec)
        except StopIteration:
            return Optional.empty(lambda: self.element_spec)

    @property
    def element_spec(self) -> Any:
        """A nest of specs: what the elements look like."""
        return self._plan.spec().tree()

    def get_state(self) -> dict[str, Any]:
        """The position, as numbers, strings, lists and dicts, which JSON can hold."""
        return self._run.state_at(self._cursor.state())

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes to a position that was saved, by this process or by another one.

        Args:
          state: What ``get_state`` of an iterator over the same dataset has returned.

        Raises:
          InvalidArgumentError: It is the position in another dataset.
        """
        self._run.restore(state)
        self._cursor = self._run.cursor()

    def close(self) -> None:
        """Releases threads and files; without it they are when nobody has this."""
        self._run.close()

    def __repr__(self) -> str:
        return f"<DatasetIterator over {written(self._plan)}>"
