"""Processes find out that they do the same before they do it.

Processes that enter a collective with different shapes are aborted by the library that
moves the bytes, and processes that enter different collectives wait for ever. So each
numbers what it does together with the others. What it has done before needs no word;
what is new to it (an operation, shapes, dtypes) it publishes under its number, and
waits for what the others do at that number.

A peer to which the operation is not new does not publish by itself, and may be inside
of the collective already. A thread of its answers for it.

Where all have done before what they do now, but one does the other thing first, nobody
asks. So a process that has begun nothing for some seconds publishes what it did lately,
and compares it with what the others did at the same numbers.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from replax._src.cluster.coordination import Coordination
from replax._src.cluster.watchdog import Watchdog
from replax._src.core.errors import (
    DeadlineExceededError,
    InvalidArgumentError,
    ReplaxError,
)

__all__ = ["Agreement", "written"]

_SAID = "replax/agreement/said"
_ASKED = "replax/agreement/asked"
_LATELY = "replax/agreement/lately"

# After this many seconds a peer that has not published is asked.
_PATIENCE = 1.0
# How often it is looked whether somebody asks.
_LOOK_EVERY = 0.5
# For how many seconds a process that is found to be in the wrong operation may come out
# of it by itself. If it waits there for the others it never does.
_GRACE = 5.0
# After how many seconds without a new operation it is compared what was done lately,
# and how many operations back: more than are in flight. The next time is when it has
# been twice as long, for mostly a process is only busy.
_STILL = 5.0
_SEVERAL = 32
# How many operations back a question can be answered.
_REMEMBERED = 4096
_TIMEOUT = 600.0

Leaves = Sequence[tuple[str, str]]


def written(operation: str, leaves: Leaves = ()) -> str:
    """What is done together, as text that processes can compare.

    Args:
      operation: What is done.
      leaves: What it is done with: the name of each value, which may be another one on
        each process, and its type, such as ``float32[3]``.
    """
    return json.dumps([operation, [list(leaf) for leaf in leaves]])


class Agreement:
    """The operations that this process does together with its peers, in order.

    Attributes:
      coordination: How the processes talk.
      timeout: How many seconds a peer is waited for.
      watchdog: Sees to it that no process waits for others for ever.
    """

    def __init__(self, coordination: Coordination) -> None:
        self.coordination = coordination
        self.timeout = _TIMEOUT
        self.watchdog = Watchdog(coordination, lambda: self._number)
        self._number = 0
        self._agreed: set[str] = set()
        # What was done at each number, and whether it was published there.
        self._done: dict[int, tuple[str, bool]] = {}
        self._published: list[int] = []
        self._failure: Exception | None = None
        self._gives_up_at = float("inf")
        self._lock = threading.RLock()
        self._still_at = 0
        self._still_since = self._compare_at = time.monotonic()
        self._end = threading.Event()
        self._listener: threading.Thread | None = None

    def start(self, stall_timeout: float) -> None:
        """Begins to answer and to watch, until the program ends.

        Args:
          stall_timeout: For how many seconds the group may stand still.
        """
        # In this order: what begins first ends last, so that a process that waits at
        # its end for the others still answers them.
        self._listen()
        self.watchdog.start(stall_timeout)

    # --- the operations ---------------------------------------------------------

    def enter(self, what: str) -> None:
        """Makes sure that all processes are about to do the same.

        Args:
          what: The operation, from :func:`written`.
        """
        with self._lock:
            is_new = what not in self._agreed
            number = self._begin(what, says_so=is_new)
            if is_new:
                self._compare(number, what, "")
                self._agreed.add(what)

    def exchange(self, what: str, mine: str) -> list[str]:
        """Gives every process the texts of all, by rank.

        Args:
          what: The operation, the same everywhere, from :func:`written`.
          mine: The text of this process.
        """
        with self._lock:
            return self._compare(self._begin(what, says_so=True), what, mine)

    def _begin(self, what: str, *, says_so: bool) -> int:
        if self._failure is not None:
            self._gives_up_at = float("inf")
            raise self._failure
        self._number += 1
        self.watchdog.require_present(self._number)
        self._done[self._number] = (what, says_so)
        self._done.pop(self._number - _REMEMBERED, None)
        return self._number

    def _compare(self, number: int, what: str, mine: str) -> list[str]:
        self._listen()
        rank = self.coordination.rank
        self._say(number, what, mine)
        said = [
            (what, mine) if peer == rank else self._heard(number, peer, what)
            for peer in range(self.coordination.size)
        ]
        if not all(_is_same(theirs, what) for theirs, _ in said):
            # All who are here know it now, and may go on with something else.
            self._done.pop(number, None)
            raise _different([theirs for theirs, _ in said])
        # Who has come to this number has heard all that was said before.
        for old in self._published[:-1]:
            self.coordination.delete(f"{_SAID}/{old}/{rank}")
        del self._published[:-1]
        return [text for _, text in said]

    def _say(self, number: int, what: str, text: str) -> None:
        key = f"{_SAID}/{number}/{self.coordination.rank}"
        self.coordination.put(key, json.dumps([what, text]), again=True)
        self._published.append(number)

    def _heard(self, number: int, peer: int, what: str) -> tuple[str, str]:
        key = f"{_SAID}/{number}/{peer}"
        end = time.monotonic() + self.timeout
        has_asked = False
        while True:
            try:
                return tuple(
                    json.loads(self.coordination.get(key, _PATIENCE, f"rank {peer}"))
                )
            except DeadlineExceededError:
                if time.monotonic() > end:
                    raise self._alone(peer, what) from None
            # It may have ended without coming here.
            self.watchdog.require_present(number)
            if self._failure is not None:
                raise self._failure
            if not has_asked:
                me = self.coordination.rank
                self.coordination.put(f"{_ASKED}/{peer}/{number}", str(me), again=True)
                has_asked = True

    def _alone(self, peer: int, what: str) -> Exception:
        msg = (
            f"rank {self.coordination.rank} waited {self.timeout:g} s at {_read(what)} "
            f"for rank {peer}, which did not come there; all processes have to run the "
            f"same steps, so look at what rank {peer} is doing, or allow more time "
            f"with CommunicationOptions(timeout_seconds=...)"
        )
        return DeadlineExceededError(msg)

    # --- answering for a process that is busy -----------------------------------

    def _listen(self) -> None:
        if self._listener is None:
            self._listener = threading.Thread(
                target=_answer,
                args=(weakref.ref(self), self._end),
                name="replax-agreement",
                daemon=True,
            )
            self._listener.start()
            # Registered after JAX's own end, and so called before it.
            atexit.register(_stop, self._listener, self._end)

    def answer(self) -> None:
        """Says what this process did at the numbers that others ask for."""
        if time.monotonic() > self._gives_up_at:
            self.watchdog.give_up(str(self._failure))
        me = self.coordination.rank
        for asked in self.coordination.all_below(f"{_ASKED}/{me}"):
            number = int(asked)
            if number not in self._done:
                continue  # it is not there yet
            what, says_so = self._done[number]
            if not says_so:
                with contextlib.suppress(ReplaxError):
                    key = f"{_SAID}/{number}/{me}"
                    self.coordination.put(key, json.dumps([what, ""]))
                    self._published.insert(0, number)
                self._check_asker(number, what)
            self.coordination.delete(f"{_ASKED}/{me}/{number}")

    def compare_lately(self) -> None:
        """If nothing has begun for a while, looks whether all have done the same."""
        now = time.monotonic()
        if self._number != self._still_at:
            self._still_at, self._still_since = self._number, now
            self._compare_at = now + _STILL
        if now < self._compare_at or self._failure is not None:
            return
        self._compare_at = now + (now - self._still_since)
        me = self.coordination.rank
        numbers = sorted(self._done.copy())[-_SEVERAL:]
        mine = {number: self._done[number][0] for number in numbers}
        self.coordination.put(f"{_LATELY}/{me}", _brief(mine), again=True)
        others = {
            int(peer): _of_brief(text)
            for peer, text in self.coordination.all_below(_LATELY).items()
            if int(peer) != me
        }
        for number in numbers:
            here = {r: done[number] for r, done in others.items() if number in done}
            here[me] = _of_brief(_brief({number: mine[number]}))[number]
            if len({digest for digest, _ in here.values()}) > 1:
                self._fail(_disagreement({r: text for r, (_, text) in here.items()}))
                return

    def _fail(self, failure: Exception) -> None:
        """Lets the next operation raise it, or gives up if there is none for long."""
        if self._failure is None:
            self._failure = failure
            self._gives_up_at = time.monotonic() + _GRACE

    def _check_asker(self, number: int, what: str) -> None:
        """Says what is wrong here too, where a collective may wait for the asker."""
        said = [what] * self.coordination.size
        for peer in range(self.coordination.size):
            text = self.coordination.find(f"{_SAID}/{number}/{peer}")
            if text is not None:
                said[peer] = json.loads(text)[0]
        if not all(_is_same(s, what) for s in said):
            self._fail(_different(said))


def _stop(listener: threading.Thread, end: threading.Event) -> None:
    end.set()
    listener.join(_LOOK_EVERY)


def _answer(agreement: weakref.ref[Agreement], end: threading.Event) -> None:
    while not end.wait(_LOOK_EVERY):
        it = agreement()
        if it is None:
            return
        try:
            it.answer()
            it.compare_lately()
        except ReplaxError:
            return  # the service is gone, and the group with it
        del it


def _is_same(what: str, other: str) -> bool:
    return what == other or _without_names(what) == _without_names(other)


def _without_names(what: str) -> tuple[str, list[str]]:
    operation, leaves = json.loads(what)
    return operation, [kind for _, kind in leaves]


def _brief(done: Mapping[int, str]) -> str:
    """Some operations by their numbers: a digest each, and words for people."""
    return json.dumps(
        {
            number: (
                hashlib.blake2b(repr(_without_names(what)).encode()).hexdigest()[:32],
                _read(what),
            )
            for number, what in done.items()
        }
    )


def _of_brief(text: str) -> dict[int, tuple[str, str]]:
    return {int(number): tuple(pair) for number, pair in json.loads(text).items()}


def _read(what: str, differing: Sequence[int] | None = None) -> str:
    operation, leaves = json.loads(what)
    shown = leaves if differing is None else [leaves[i] for i in differing]
    if not shown:
        return operation
    few = ", ".join(f"{name} {kind}".strip() for name, kind in shown[:8])
    more = f" and {len(shown) - 8} more" if len(shown) > 8 else ""
    return f"{operation} with {few}{more}"


def _different(said: Sequence[str]) -> Exception:
    parsed: list[Any] = [json.loads(what) for what in said]
    operations = {operation for operation, _ in parsed}
    lengths = {len(leaves) for _, leaves in parsed}
    differing: list[int] | None = None
    if len(operations) == len(lengths) == 1:
        columns = zip(*(leaves for _, leaves in parsed), strict=True)
        differing = [i for i, c in enumerate(columns) if len({k for _, k in c}) > 1]
    return _disagreement({r: _read(what, differing) for r, what in enumerate(said)})


def _disagreement(texts: Mapping[int, str]) -> Exception:
    """An error that says who is at what.

    Args:
      texts: By rank, in words.
    """
    groups: dict[str, list[int]] = {}
    for rank, text in sorted(texts.items()):
        groups.setdefault(text, []).append(rank)
    lines = "; ".join(
        f"rank {', '.join(map(str, ranks))} is at {text}"
        for text, ranks in groups.items()
    )
    msg = (
        f"the processes are about to do different things together: {lines}. All have "
        f"to come to the same operations in the same order with the same shapes and "
        f"dtypes, so give every process the same; for values of different lengths use "
        f"all_gather or gather"
    )
    return InvalidArgumentError(msg)
