"""Notices that the processes of a group no longer get on, and says who is where.

A process that waits in a collective for one that does not come is in native code, which
no signal and no exception of Python reaches; it may wait for ever. So each process has
a thread that publishes where it is, about once a second, and looks whether anybody
moves. When nobody has for too long, every process prints who is where and its own
stacks, and ends.

As long as all is well a process only publishes. It reads what the others publish when
it has not moved itself for half of the time that is allowed.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import NoReturn

from replax._src.cluster.beacon import COMPILATION, Beacon
from replax._src.cluster.coordination import Coordination
from replax._src.cluster.input_steps import InputSteps
from replax._src.cluster.roll import Roll
from replax._src.cluster.sightings import Departure, Sighting, described, halted_for
from replax._src.core import jax_compat
from replax._src.core.errors import ReplaxError, UnavailableError

__all__ = ["VARIABLE", "Watchdog", "timeout_of"]

VARIABLE = "REPLAX_STALL_TIMEOUT"

# What a process ends with that gives up.
EXIT_CODE = 1

# All in seconds. How long a group may stand still: longer than it takes to fill a
# shuffle buffer, or to write a checkpoint.
_TIMEOUT = 600.0
# How often a process publishes where it is.
_INTERVAL = 1.0
# After how long without a word a process is taken for gone, when a collective has
# failed, and when nothing hints at it.
_SILENCE = 4.0
_LONG_SILENCE = 60.0
# How long processes that give up wait for each other to say so.
_FAREWELL = 5.0

# In what the libraries say that move the bytes, when they lose a peer.
_TRANSPORT = ("gloo", "nccl", "connection closed by peer", "connection reset by peer")


def timeout_of(environ: Mapping[str, str]) -> float:
    """For how many seconds a group may stand still, as the environment says.

    Raises:
      ValueError: The variable is no positive number.
    """
    text = environ.get(VARIABLE, str(_TIMEOUT))
    with contextlib.suppress(ValueError):
        if float(text) > 0:
            return float(text)
    msg = (
        f"{VARIABLE} is {text!r}, which is no positive number of seconds; write for "
        f"example {VARIABLE}=1800, or inf to wait for ever"
    )
    raise ValueError(msg)


class Watchdog:
    """The thread of one process that watches the group.

    Attributes:
      beacon: Where this process is.
      timeout: For how many seconds the group may stand still.
      steps: Which steps of distributed data this process has, and others have not.

    Args:
      coordination: How the processes talk.
      collectives: How many operations this process has begun together with the others.
    """

    def __init__(
        self, coordination: Coordination, collectives: Callable[[], int]
    ) -> None:
        self.beacon = Beacon()
        self.timeout = _TIMEOUT
        self._coordination = coordination
        self._collectives = collectives
        self._roll = Roll(coordination)
        self.steps = InputSteps(coordination, collectives)
        self._pid = os.getpid()
        self._beat = 0
        self._seen_at = self.beacon.now
        self._moved = time.monotonic()
        self._lost: list[int] = []
        self._end = threading.Event()
        self._thread = threading.Thread(
            target=self._watch, name="replax-watchdog", daemon=True
        )

    def start(self, timeout: float) -> None:
        """Begins to watch, until the program ends.

        Args:
          timeout: For how many seconds the group may stand still.
        """
        self.timeout = timeout
        self._publish()
        self._thread.start()
        # JAX waits for the others at its own end, for minutes, also for those that are
        # gone. It has registered that before, so this is called first.
        atexit.register(self._leave)
        self._uncaught, sys.excepthook = sys.excepthook, self._explain_uncaught

    # --- for the other threads --------------------------------------------------

    def require_present(self, number: int) -> None:
        """Makes sure that nobody has ended before an operation of all processes.

        Args:
          number: How many operations of all that makes.

        Raises:
          UnavailableError: Somebody has.
        """
        departed = self._roll.departed
        if not departed:
            return
        missed = [d for d in departed.values() if d.collectives < number]
        if missed:
            raise UnavailableError(self._about(missed))

    def explained(self, error: Exception) -> Exception:
        """An error of a collective, as one that says who is gone.

        This takes some seconds: so long a process has to be silent.

        Returns:
          An ``UnavailableError``, or ``error`` itself if it is about something else.
        """
        text = str(error)
        is_ours = isinstance(error, ReplaxError)
        if is_ours or not any(word in text.lower() for word in _TRANSPORT):
            return error
        step = self.beacon.steps - 1
        with contextlib.suppress(ReplaxError):
            self._lost = self._find_lost()
        gone = [self._last_words(rank) for rank in self._lost]
        gone += [str(departure) for departure in self._roll.departed.values()]
        if not gone:
            return error
        return UnavailableError(
            f"{'; '.join(gone)}. Step {step} of rank {self._coordination.rank} needs "
            f"all {self._coordination.size} processes ({text.strip()}); look at what "
            f"the others printed, and start all again from the last checkpoint"
        )

    def _last_words(self, rank: int) -> str:
        last = self._roll.last_of(rank)
        if last is None:
            return f"rank {rank} is gone, and was never seen"
        return (
            f"rank {rank} is gone: it was last seen at step {last.step}, phase "
            f"{last.phase!r}"
        )

    def _find_lost(self) -> list[int]:
        """The processes that are silent, when all others have been heard."""
        self._roll.read()
        began, beat = time.monotonic(), self._beat
        while True:
            time.sleep(_INTERVAL / 4)
            self._roll.read_departures()
            self._roll.read()
            silent = self._roll.silent_since(began)
            # On a machine that is overloaded the others are as slow as this one.
            slow = self._beat - beat < _SILENCE / _INTERVAL
            waited = time.monotonic() - began
            if not silent or waited > (4 if slow else 1) * _SILENCE:
                return silent

    def _explain_uncaught(
        self,
        kind: type[BaseException],
        error: BaseException,
        traceback: TracebackType | None,
    ) -> None:
        explained = self.explained(error) if isinstance(error, Exception) else error
        if explained is not error:
            explained.__cause__ = error
            kind, error, traceback = type(explained), explained, None
        self._uncaught(kind, error, traceback)

    # --- the thread -------------------------------------------------------------

    def _watch(self) -> None:
        while not self._end.wait(min(_INTERVAL, self.timeout / 5)):
            # When the service is gone for good, JAX ends the process.
            with contextlib.suppress(ReplaxError):
                self._publish()
                self._roll.read_departures()
                self.steps.read()
                self._judge()

    def _publish(self) -> None:
        self._beat += 1
        self._roll.publish(self._mine())

    def _mine(self) -> Sighting:
        now, at = time.monotonic(), self.beacon.now
        compiling = jax_compat.is_compiling()
        if at is not self._seen_at or compiling:
            self._seen_at, self._moved = at, now
        phase, step = at
        return Sighting(
            self._coordination.rank,
            self._beat,
            COMPILATION if compiling else phase,
            step,
            self._collectives(),
            now - self._moved,
        )

    def _judge(self) -> None:
        """Gives up if the group can no longer get on."""
        mine = self._mine()
        departed = list(self._roll.departed.values())
        if mine.rank in self._roll.departed:
            return
        gave_up = [d for d in departed if d.failed]
        if gave_up:
            self.give_up(gave_up[0].how)
        # The main thread may still find out by itself, and raise.
        if mine.seconds > min(3 * _INTERVAL, self.timeout):
            self._judge_input(mine)
            missed = [d for d in departed if d.collectives < mine.collectives]
            if missed:
                self.give_up(self._about(missed))
        if mine.seconds > self.timeout / 2:
            halted = halted_for(self._roll.read())
            if halted > self.timeout:
                self.give_up(
                    f"no process has got on for {halted:.1f} s; if that is as it "
                    f"should be, allow more time with {VARIABLE}=seconds"
                )

    def _judge_input(self, mine: Sighting) -> None:
        """Gives up if this process waits at a step that another one has no data for."""
        for failure in self.steps.missed():
            if failure.collectives >= mine.collectives:
                continue
            # It may have gone on without that step.
            self._roll.read()
            last = self._roll.last_of(failure.rank)
            if last is not None and last.collectives <= failure.collectives:
                self.give_up(str(failure))

    def _about(self, departures: Sequence[Departure]) -> str:
        phase, step = self.beacon.now
        return (
            f"{'; '.join(map(str, departures))}, and rank {self._coordination.rank} "
            f"cannot go on without it at step {step}, phase {phase!r}; all processes "
            f"have to run the same steps"
        )

    # --- the end ----------------------------------------------------------------

    def _depart(self, how: str, *, failed: bool) -> None:
        rank, step = self._coordination.rank, self.beacon.steps
        self._roll.depart(Departure(rank, step, self._collectives(), how, failed))

    def give_up(self, why: str) -> NoReturn:
        """Prints what is known, and ends the process, wherever its threads are."""
        rank, size = self._coordination.rank, self._coordination.size
        text = f"\nreplax: rank {rank} of {size} gives up: {why}\n"
        with contextlib.suppress(ReplaxError):
            text += f"{described(self._roll.read())}\n"
        text += f"the stacks of rank {rank}:\n"
        # Not by way of sys.stderr, of which another thread may hold the lock.
        os.write(2, text.encode())
        faulthandler.dump_traceback(file=2)
        with contextlib.suppress(ReplaxError):
            self._depart(why, failed=True)
            self._wait_for_others_to_give_up()
        os._exit(EXIT_CODE)

    def _wait_for_others_to_give_up(self) -> None:
        """Waits for a moment: when one ends, JAX may end others before they print."""
        end = time.monotonic() + _FAREWELL
        while self._roll.missing and time.monotonic() < end:
            time.sleep(0.1)
            self._roll.read_departures()
        if self._coordination.rank == 0:
            # The service ends with it.
            time.sleep(2 * 0.1)

    def _leave(self) -> None:
        """At the end of the program waits for the others, as long as they are there."""
        if os.getpid() != self._pid:
            return  # a process that was forked
        gone: list[int] = []
        with contextlib.suppress(ReplaxError):  # when the service is gone
            error = getattr(sys, "last_value", None)
            after = "" if error is None else f" after {type(error).__name__}: {error}"
            self._depart(f"has ended{after}", failed=False)
            gone = self._wait_for_departures()
        self._end.set()
        self._thread.join(_FAREWELL)
        if gone:
            self._end_without(gone)

    def _wait_for_departures(self) -> list[int]:
        """Waits until all have come to their end.

        Returns:
          Those that have failed on the way.
        """
        pause = max(0.05, self._coordination.size / 1000)
        while True:
            self._roll.read_departures()
            self._roll.read()
            failed = [d.rank for d in self._roll.departed.values() if d.failed]
            silent = self._roll.silent_since(time.monotonic() - _LONG_SILENCE)
            lost = self._roll.missing & {*self._lost, *silent}
            if failed or lost == self._roll.missing:
                return sorted([*failed, *lost])
            time.sleep(pause)

    def _end_without(self, gone: Sequence[int]) -> None:
        logging.getLogger("replax").error(
            "rank %d ends, and has not met at its end: rank %s, which failed",
            self._coordination.rank,
            ", ".join(map(str, gone)),
        )
        if self._coordination.rank == 0:
            # The service ends with it, and with that JAX those who are not so far yet.
            time.sleep(2 * _INTERVAL)
        jax_compat.abandon_distributed()
        if self._lost:
            return  # the program knows
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(EXIT_CODE)
