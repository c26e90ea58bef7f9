"""``ignore_errors``: elements that cannot be made are left out, and counted."""

from __future__ import annotations

import dataclasses
import logging

from replax._src.dataset.block import Block
from replax._src.dataset.node import UNKNOWN, Cursor, Node, Pass, State
from replax._src.dataset.structure import ElementSpec

__all__ = ["IgnoreErrors"]

_log = logging.getLogger("replax")


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class IgnoreErrors(Node):
    """The elements that can be made.

    Attributes:
      log_warning: Whether to log every error, rather than their number at the end.
    """

    child: Node
    log_warning: bool = False

    def label(self) -> str:
        return "ignore_errors()"

    def spec(self) -> ElementSpec:
        return self.child.spec()

    def cardinality(self) -> int:
        elements = self.child.cardinality()
        return elements if elements <= 0 and elements != UNKNOWN else UNKNOWN

    def open(self, pass_: Pass) -> Cursor:
        return _IgnoreErrorsCursor(self.child.open(pass_), log_warning=self.log_warning)


class _IgnoreErrorsCursor(Cursor):
    def __init__(self, child: Cursor, *, log_warning: bool) -> None:
        self._child = child
        self._log_warning = log_warning
        self._ignored = 0
        self._last: Exception | None = None

    def take(self, count: int) -> Block | None:
        del count  # one by one, so that an error costs one element
        while True:
            before = self._child.state()
            try:
                block = self._child.take(1)
            except Exception as error:
                if self._child.state() == before:
                    raise  # it would come again, for ever
                self._note(error)
            else:
                if block is None:
                    self._report()
                return block

    def _note(self, error: Exception) -> None:
        self._ignored += 1
        self._last = error
        if self._log_warning:
            _log.warning("ignore_errors left out an element: %s", error)

    def _report(self) -> None:
        if self._last is not None:
            _log.warning(
                "ignore_errors left out %d element%s; the last error was %s: %s",
                self._ignored,
                "" if self._ignored == 1 else "s",
                type(self._last).__name__,
                self._last,
            )
            self._last = None

    def state(self) -> State:
        return [self._ignored, self._child.state()]

    def restore(self, state: State) -> None:
        self._ignored, child_state = state
        self._child.restore(child_state)

    def close(self) -> None:
        self._child.close()
