"""The table in which all benchmarks report."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence

import rich.console
import rich.table


@dataclasses.dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes:
      what: What is measured, and who the peer is.
      ours: Our figure, with its unit.
      theirs: The peer's.
      ratio: Ours divided by theirs.
      bound: What we promise the ratio to stay below, if we do.
    """

    what: str
    ours: str
    theirs: str = ""
    ratio: float | None = None
    bound: float | None = None

    @property
    def holds(self) -> bool:
        """Whether what we promise is so."""
        return self.bound is None or (self.ratio or 0.0) <= self.bound


def compared(what: str, ours: float, theirs: float, bound: float | None = None) -> Row:
    """A row about two times, in seconds."""
    return Row(what, duration(ours), duration(theirs), ours / theirs, bound)


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds >= 1:
        return f"{seconds:.1f} s"
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.2f} ms"
    return f"{seconds * 1e6:.0f} us"


def report(*questions: Callable[[], Sequence[Row]]) -> None:
    """Asks the questions, prints one table, and exits with 1 if a bound is broken."""
    progress = rich.console.Console(stderr=True)
    rows: list[Row] = []
    for ask in questions:
        with progress.status(f"{ask.__module__}: {(ask.__doc__ or '').strip()}"):
            rows += ask()
    table = rich.table.Table()
    table.add_column("what")
    for name in ("ours", "theirs", "ratio", "bound", ""):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.what,
            row.ours,
            row.theirs,
            "" if row.ratio is None else f"{row.ratio:.2f}",
            "" if row.bound is None else f"{row.bound:.2f}",
            "" if row.bound is None else "ok" if row.holds else "[bold red]not[/]",
        )
    rich.console.Console().print(table)
    sys.exit(not all(row.holds for row in rows))
