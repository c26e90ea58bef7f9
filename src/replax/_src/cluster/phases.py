"""Contexts in which a process does what its peers can see, and may wait for."""

from __future__ import annotations

from types import TracebackType

from replax._src.cluster.beacon import STEP
from replax._src.cluster.watchdog import Watchdog

__all__ = ["Meeting", "Phase", "Step"]


class Meeting:
    """An operation of all processes: its errors say who is gone."""

    def __init__(self, watchdog: Watchdog) -> None:
        self._watchdog = watchdog

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, Exception):
            explained = self._watchdog.explained(error)
            if explained is not error:
                raise explained from error


class Phase(Meeting):
    """Something that takes its time, such as input."""

    def __init__(self, watchdog: Watchdog, name: str) -> None:
        super().__init__(watchdog)
        self._name = name
        self._before = ""

    def __enter__(self) -> None:
        beacon = self._watchdog.beacon
        self._before = beacon.now[0]
        beacon.enter(self._name)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._watchdog.beacon.enter(self._before)
        if error is not None:
            super().__exit__(kind, error, traceback)


class Step(Phase):
    """The next step; one context serves for all, one after the other."""

    def __init__(self, watchdog: Watchdog) -> None:
        super().__init__(watchdog, STEP)

    def __enter__(self) -> None:
        beacon = self._watchdog.beacon
        self._before = beacon.now[0]
        beacon.begin_step()
