"""How many rows the elements of a plan have, as far as the plan says."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

from replax._src.dataset.node import INFINITE, UNKNOWN, Node
from replax._src.dataset.transformations.batch import Batch
from replax._src.dataset.transformations.cache import Cache
from replax._src.dataset.transformations.map import Map
from replax._src.dataset.transformations.padded_batch import PaddedBatch
from replax._src.dataset.transformations.prefetch import Prefetch
from replax._src.dataset.transformations.repeat import Repeat
from replax._src.dataset.transformations.select import Skip, Take
from replax._src.dataset.transformations.shuffle import Shuffle
from replax._src.input.split import part_length

__all__ = ["Alike", "sizes_of", "steps_of_slices", "turns_with_rows"]

# What gives elements as they are, in whatever order.
_KEEP = (Cache, Prefetch, Shuffle)

# So many changes of size are told apart.
_MOST = 8

# So many are counted.
_MOST_COUNTED = 10_000


@dataclasses.dataclass(frozen=True)
class Alike:
    """Elements in a row that have equally many rows.

    Attributes:
      count: How many elements; ``INFINITE`` or ``UNKNOWN`` if that is no number.
      rows: How many rows each of them has; None if that is not known.
      first_row: Which row of what was batched is their first one; None if not known.
      is_sure: Whether no function of users can have changed the number of rows.
    """

    count: int
    rows: int | None
    first_row: int | None = None
    is_sure: bool = True


def sizes_of(plan: Node) -> tuple[list[Alike], bool]:
    """The elements of a plan in their order, alike ones together.

    Returns:
      The elements, of which only the last ones may be without a number; and whether
      these are all.
    """
    found: list[Alike] = []
    for alike in _sizes(plan):
        if not alike.count:
            continue
        last = found[-1] if found else None
        if last is not None and last.count < 0:
            return found, False
        if last is not None and _continues(last, alike):
            found[-1] = dataclasses.replace(
                last, count=alike.count if alike.count < 0 else last.count + alike.count
            )
            continue
        if len(found) == _MOST:
            return found, False
        found.append(alike)
    return found, True


def steps_of_slices(plan: Node, replicas: int, at_once: int) -> int:
    """How many steps there are of batches that are dealt out.

    Steps without any rows are none.

    Args:
      plan: The batches.
      replicas: Into how many slices each is cut.
      at_once: How many slices a step takes.

    Returns:
      ``INFINITE`` or ``UNKNOWN`` if that is no number.
    """
    cardinality = plan.cardinality()
    if cardinality < 0:
        return cardinality
    if isinstance(plan, _KEEP):
        return steps_of_slices(plan.child, replicas, at_once)
    if isinstance(plan, Repeat) and plan.count is not None:
        once = steps_of_slices(plan.child, replicas, at_once)
        return once if once < 0 else once * plan.count
    steps = 0
    for alike in itertools.islice(_sizes(plan), _MOST_COUNTED):
        if alike.rows is None or not alike.is_sure:
            return UNKNOWN
        steps += alike.count * turns_with_rows(alike.rows, replicas, at_once)
        cardinality -= alike.count
    return UNKNOWN if cardinality else steps


def turns_with_rows(rows: int, replicas: int, at_once: int) -> int:
    """For how many steps a batch lasts that is dealt out."""
    slices = -(-rows // part_length(rows, replicas)) if rows else 0
    return -(-slices // at_once)


def _continues(last: Alike, alike: Alike) -> bool:
    if last.rows != alike.rows or last.rows is None:
        return False
    if alike.first_row is None or last.first_row is None:
        return alike.first_row is last.first_row
    return alike.first_row == last.first_row + last.count * last.rows


def _sizes(plan: Node) -> Iterator[Alike]:
    if isinstance(plan, (Batch, PaddedBatch)):
        return _batched(plan)
    if isinstance(plan, Map) and _rows(plan) is None:
        return _unsure(_sizes(plan.child))
    if isinstance(plan, (Cache, Prefetch)):
        return _sizes(plan.child)
    if isinstance(plan, Repeat):
        return _repeated(plan)
    if isinstance(plan, Take) and plan.count >= 0:
        return _limited(_sizes(plan.child), 0, plan.count)
    if isinstance(plan, Skip) and plan.count >= 0:
        return _limited(_sizes(plan.child), plan.count, None)
    return iter([Alike(plan.cardinality(), _rows(plan))])


def _unsure(sizes: Iterator[Alike]) -> Iterator[Alike]:
    """The same after a function, which hardly ever changes the number of rows."""
    for alike in sizes:
        yield dataclasses.replace(alike, is_sure=False)


def _rows(plan: Node) -> int | None:
    """How many rows an element has by its spec."""
    lengths = {leaf.shape[0] if leaf.shape else None for leaf in plan.spec().leaves}
    return lengths.pop() if len(lengths) == 1 else None


def _batched(plan: Batch | PaddedBatch) -> Iterator[Alike]:
    elements, size = plan.child.cardinality(), plan.size
    if elements < 0:
        yield Alike(elements, size, 0)
        return
    yield Alike(elements // size, size, 0)
    if elements % size and not plan.drop_remainder:
        yield Alike(1, elements % size, elements - elements % size)


def _repeated(plan: Repeat) -> Iterator[Alike]:
    if plan.child.cardinality() == 0:
        return
    rounds = 0
    while plan.count is None or rounds < plan.count:
        sizes = list(_sizes(plan.child))
        if len([s for s in sizes if s.count]) == 1 and sizes[0].count > 0:
            # All alike: they need not be counted round by round.
            endless = plan.count is None
            count = INFINITE if endless else sizes[0].count * (plan.count or 0)
            yield dataclasses.replace(sizes[0], count=count)
            return
        yield from sizes
        rounds += 1


def _limited(sizes: Iterator[Alike], start: int, stop: int | None) -> Iterator[Alike]:
    """The elements from one number to another."""
    passed = 0
    for alike in sizes:
        if stop is not None and passed >= stop:
            return
        skipped = max(0, start - passed)
        if alike.count < 0:
            left = alike.count if stop is None else stop - passed
            yield _without_first(alike, skipped, left)
            return
        kept = min(alike.count, stop - passed if stop is not None else alike.count)
        if kept > skipped:
            yield _without_first(alike, skipped, kept - skipped)
        passed += alike.count


def _without_first(alike: Alike, skipped: int, count: int) -> Alike:
    first = alike.first_row
    if first is not None and alike.rows is not None:
        first += skipped * alike.rows
    # Of an unknown number a part is unknown too.
    if alike.count == UNKNOWN:
        count = UNKNOWN
    return Alike(count, alike.rows, first)
