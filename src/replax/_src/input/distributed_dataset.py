"""Datasets whose elements are spread over the replicas of a strategy."""

from __future__ import annotations

import copy
import dataclasses
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from replax._src.cluster.beacon import INPUT
from replax._src.core.errors import InvalidArgumentError, OutOfRangeError
from replax._src.dataset.iterator import Run
from replax._src.dataset.node import INFINITE
from replax._src.dataset.optional import Optional
from replax._src.dataset.shelf import Shelf
from replax._src.input.feed import FedStep, Feed
from replax._src.input.options import InputOptions
from replax._src.input.peers import Round
from replax._src.input.steps import NOT_BEGUN, taken_up
from replax._src.input.supply import Supply, Way
from replax._src.replica import scope
from replax._src.replica.scope import HostValueError

__all__ = ["DistributedDataset", "DistributedIterator"]

# Besides the steps, the bytes that are made ready ahead are bounded.
AHEAD_BYTES = 256 * 2**20


class DistributedDataset:
    """A dataset that gives every replica its share of each element.

    Made by ``strategy.experimental_distribute_dataset`` and
    ``strategy.distribute_datasets_from_function``. Each iteration begins anew.

    >>> import replax
    >>> strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> data = replax.data.Dataset.range(6).batch(4)
    >>> for x in strategy.experimental_distribute_dataset(data):
    ...     print([part.tolist() for part in x.values])
    [[0, 1], [2, 3]]
    [[4], [5]]
    """

    def __init__(
        self,
        supply: Supply,
        place: scope.Place,
        options: InputOptions,
        text: Callable[[Any], Any] | None = None,
    ) -> None:
        self._supply = supply
        self._place = place
        self._options = options
        self._text = text  # makes of strings what users are given

    def __iter__(self) -> DistributedIterator:
        _require_host("iterates over a distributed dataset", self._place)
        return DistributedIterator(self._supply, self._place, self._options, self._text)

    @property
    def supply(self) -> Supply:
        """What is read, and how replicas share it."""
        return self._supply

    def on_host(self) -> DistributedDataset:
        """The same, with nothing of it put on devices: all dtypes stay as they are."""
        twin = copy.copy(self)
        twin._options = dataclasses.replace(  # noqa: SLF001  # it is one of these
            self._options, experimental_fetch_to_device=False
        )
        return twin

    @property
    def ranks(self) -> tuple[int, ...]:
        """The processes that have replicas, each of which reads its share."""
        devices = self._place.topology.devices
        return tuple(sorted({device.process_index for device in devices}))

    @property
    def element_spec(self) -> Any:
        """A nest of specs of what ``next`` gives, for an ``input_signature``."""
        fetch = bool(self._options.experimental_fetch_to_device)
        return self._supply.spec(on_devices=fetch)

    def cardinality(self) -> int:
        """How many steps there are; as for ``Dataset`` where that is no number."""
        return self._supply.cardinality()

    def __len__(self) -> int:
        count = self.cardinality()
        if count < 0:
            what = "endless" if count == INFINITE else "of unknown length"
            msg = f"{self!r} is {what}; use cardinality()"
            raise TypeError(msg)
        return count

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<DistributedDataset {self._supply} on {self._place.strategy!r}>"


class DistributedIterator:
    """The steps of one iteration over a distributed dataset.

    >>> import replax
    >>> strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> data = replax.data.Dataset.range(2).batch(2)
    >>> iterator = iter(strategy.experimental_distribute_dataset(data))
    >>> [part.tolist() for part in iterator.get_next().values]
    [[0], [1]]
    >>> iterator.get_next_as_optional().has_value()
    False
    """

    def __init__(
        self,
        supply: Supply,
        place: scope.Place,
        options: InputOptions,
        text: Callable[[Any], Any] | None = None,
    ) -> None:
        self._text = text
        self._place = place
        self._options = options
        self._supply = supply
        self._runs = supply.runs()
        self._open(NOT_BEGUN)

    def _open(self, begun: tuple[int, int]) -> None:
        self._cursors = [run.cursor() for run in self._runs]
        self._begun = begun
        self._shelf: Shelf[FedStep] | None = None
        self._round: Round | None = None
        self._taken = 0
        self._finalizer = weakref.finalize(self, _close_all, self._runs)

    def _started(self) -> Shelf[FedStep]:
        round_ = self._round = self._supply.begin()
        steps = self._supply.steps(self._cursors, self._begun, round_)
        fetch = bool(self._options.experimental_fetch_to_device)
        feed = Feed(steps, self._place.topology, fetch=fetch, text=self._text)
        shelf = Shelf(feed, self._steps_ahead, bytes_limit=AHEAD_BYTES)
        self._finalizer.detach()
        self._finalizer = weakref.finalize(self, _stop, shelf, round_)
        return shelf

    def __iter__(self) -> DistributedIterator:
        return self

    def __next__(self) -> Any:
        _require_host("calls next() of a distributed iterator", self._place)
        if self._shelf is None:
            self._shelf = self._started()
        with self._place.topology.phase(INPUT):
            found = self._got(self._shelf, self._round)
        if found is None:
            raise StopIteration
        return found.value

    def _got(self, shelf: Shelf[FedStep], round_: Round | None) -> FedStep | None:
        """The next step, if no other worker has failed to make it."""
        try:
            found = shelf.get()
        except Exception as error:
            if round_ is not None:
                round_.fail(self._taken, error)
                self._taken += 1
            raise
        if found is None:
            if round_ is not None:
                round_.finish()
            return None
        self._taken += 1
        if round_ is not None:
            round_.take(self._taken)
        return found[0]

    @property
    def _steps_ahead(self) -> int:
        asked = self._options.experimental_per_replica_buffer_size
        return max(asked, self._place.topology.num_replicas if asked == 1 else 1)

    def get_next(self, name: str | None = None) -> Any:
        """What the replicas get next.

        Args:
          name: Accepted for TensorFlow's programs.

        Raises:
          OutOfRangeError: No replica gets anything any more.
        """
        del name
        try:
            return next(self)
        except StopIteration:
            msg = (
                f"{self._supply} has no more elements for any replica; loop with "
                f"`for`, or ask get_next_as_optional()"
            )
            raise OutOfRangeError(msg) from None

    def get_next_as_optional(self) -> Optional:
        """What the replicas get next, or the fact that there is nothing."""
        try:
            return Optional(next(self), lambda: self.element_spec)
        except StopIteration:
            return Optional.empty(lambda: self.element_spec)

    @property
    def element_spec(self) -> Any:
        """A nest of specs of what ``next`` gives."""
        fetch = bool(self._options.experimental_fetch_to_device)
        return self._supply.spec(on_devices=fetch)

    def get_state(self) -> Any:
        """The position in the dataset, as JSON can hold it.

        It says what has been given, and not to how many replicas: an iterator of a
        strategy with others goes on with the element that comes next.
        """
        if self._shelf is not None:
            position = self._shelf.state()
        else:
            unread = self._supply.steps(self._cursors, self._begun, None)
            position = unread.state()
        positions = position if self._supply.way is Way.WHOLE else [position]
        states = [
            run.state_at(at) for run, at in zip(self._runs, positions, strict=True)
        ]
        return states[0] if len(states) == 1 else states

    def set_state(self, state: Any) -> None:
        """Goes to a position that was saved, by this process or by another one.

        Args:
          state: What ``get_state`` of an iterator over the same dataset has returned.

        Raises:
          InvalidArgumentError: It is the position in another dataset.
        """
        states = [state] if len(self._runs) == 1 else state
        if not isinstance(states, list) or len(states) != len(self._runs):
            msg = (
                f"set_state got {state!r}; give what get_state of an iterator over "
                f"{len(self._runs)} datasets has returned, a list of as many positions"
            )
            raise InvalidArgumentError(msg)
        for run, saved in zip(self._runs, states, strict=True):
            try:
                run.check(saved)
            except InvalidArgumentError as error:
                if self._supply.has_own_positions:
                    error.add_note(
                        "(each worker reads files or parts of its own: it goes on from "
                        "the position that it saved, among as many workers as before)"
                    )
                raise
        self.close()
        begun = NOT_BEGUN
        for run, saved in zip(self._runs, states, strict=True):
            position, begun = taken_up(saved["position"])
            run.restore({**saved, "position": position})
        self._open(begun)

    def close(self) -> None:
        """Releases threads and files; without it they are when nobody has this."""
        self._finalizer()

    def __repr__(self) -> str:
        return f"<DistributedIterator over {self._supply}>"


def _close_all(runs: Sequence[Run]) -> None:
    for run in runs:
        run.close()


def _stop(shelf: Shelf[FedStep], round_: Round | None) -> None:
    # The thread of the shelf may be waiting for other workers.
    if round_ is not None:
        round_.drop()
    shelf.stop()


def _require_host(what: str, place: scope.Place) -> None:
    """Refuses to read data in a trace, in a step, and for another strategy."""
    here = scope.current()
    if here is not None and here.replica is not None:
        msg = (
            f"the step {what}, but data is read for all replicas together; call "
            f"next() outside of strategy.run, and give the step what it returns"
        )
        raise ValueError(msg)
    if scope.current_frame() is not None:
        raise HostValueError(what)
    if here is not None and not here.is_default and here.strategy is not place.strategy:
        msg = (
            f"code in the scope of {here.strategy!r} {what} of {place.strategy!r}; "
            f"distribute the dataset with the strategy that trains on it"
        )
        raise RuntimeError(msg)
