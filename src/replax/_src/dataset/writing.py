"""Plans in words."""

from __future__ import annotations

from collections.abc import Callable

from replax._src.dataset.node import INFINITE, UNKNOWN, Node

__all__ = ["count_in_words", "drawn", "identified", "written"]


def written(plan: Node) -> str:
    """A plan as it is written in a program: ``range(10).batch(4)``."""
    return _written(plan, lambda node: node.label())


def identified(plan: Node) -> str:
    """What of a plan a position in it depends on."""
    return _written(plan, lambda node: node.identity())


def _written(plan: Node, label: Callable[[Node], str]) -> str:
    children = [_written(child, label) for child in plan.children]
    if not children:
        return label(plan)
    if len(children) == 1:
        return f"{children[0]}.{label(plan)}"
    return f"{label(plan)}[{', '.join(children)}]"


def count_in_words(cardinality: int) -> str:
    """How many elements a plan has."""
    if cardinality == INFINITE:
        return "endless"
    if cardinality == UNKNOWN:
        return "unknown number"
    return f"{cardinality:,}"


def drawn(plan: Node) -> str:
    """A plan as a table: a line for each step, from the sources down."""
    rows = _rows(plan, "")
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), row[1].rjust(widths[1]), row[2]]).rstrip()
        for row in rows
    )


def _rows(plan: Node, indent: str) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    inner = indent + "  " if len(plan.children) > 1 else indent
    for child in plan.children:
        rows += _rows(child, inner)
    rows.append(
        (indent + plan.label(), count_in_words(plan.cardinality()), _manner(plan))
    )
    return rows


def _manner(plan: Node) -> str:
    """How a step is read."""
    if plan.indexed and not plan.ahead:
        return "by number"
    return "by number or in order" if plan.indexed else "in order"
