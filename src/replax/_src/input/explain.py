"""Who reads what of a dataset, and what each replica gets: from the plan alone."""

from __future__ import annotations

import dataclasses
import html
import itertools
from collections.abc import Sequence

from replax._src.dataset.node import INFINITE, UNKNOWN, Node, walk
from replax._src.dataset.options import AutoShardPolicy
from replax._src.dataset.seeding import chances
from replax._src.dataset.sources.names import path_of
from replax._src.dataset.transformations.part import BatchPart, Cut
from replax._src.dataset.writing import count_in_words, written
from replax._src.input.autoshard import Share, Worker, read_from_files, share
from replax._src.input.batch_sizes import (
    Alike,
    sizes_of,
    steps_of_slices,
    turns_with_rows,
)
from replax._src.input.split import part_length

__all__ = ["Explanation", "Reading", "StepKind", "explained", "explained_function"]

# Of more workers the first ones and the last one are shown, of more steps the kinds.
_FEW = 8
_Bounds = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Reading:
    """What some workers read.

    Attributes:
      workers: The first and the last of them.
      what: What each of them reads.
    """

    workers: _Bounds
    what: str


@dataclasses.dataclass(frozen=True)
class StepKind:
    """Steps at which every replica gets equally much.

    Attributes:
      steps: How many in a row; ``INFINITE`` or ``UNKNOWN`` if that is no number.
      rows: How many rows replicas get: for some replicas in a row how many they are,
        and how many rows each gets.
      first_rows: For one step, the number of the first row of each of these.
    """

    steps: int
    rows: tuple[tuple[int, int], ...]
    first_rows: tuple[int, ...] | None = None


@dataclasses.dataclass(frozen=True)
class Explanation:
    """How a dataset reaches the replicas; printing it shows a table.

    Attributes:
      dataset: The dataset, as it is written.
      replicas: How many replicas there are.
      workers: How many workers.
      policy: How workers share the dataset; None where there is nothing to share.
      reason: Why so.
      readings: What each worker reads.
      steps: How many steps there are; -1 without an end, -2 if it is not known.
      kinds: What replicas get, step by step.
      of_each_worker: Whether these are the replicas of one worker, and each of the
        other workers' replicas gets as much.
      remarks: What else there is to know.

    >>> import replax
    >>> strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> strategy.explain(replax.data.Dataset.range(6).batch(4))
    range(6).batch(4)
    replicas  2 of one worker, which reads everything
    steps     2
    <BLANKLINE>
    step  replica 0  replica 1
       1  rows 0-1   rows 2-3
       2  row 4      row 5
    """

    dataset: str
    replicas: int
    workers: int
    policy: AutoShardPolicy | None
    reason: str
    readings: tuple[Reading, ...]
    steps: int
    kinds: tuple[StepKind, ...]
    of_each_worker: bool = False
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        facts = self._facts()
        width = max(len(name) for name, _ in facts)
        lines = [self.dataset]
        lines += [f"{name.ljust(width)}  {text}" for name, text in facts]
        table = self._table()
        if len(table) > 1:
            widths = [max(map(len, column)) for column in zip(*table, strict=True)]
            lines.append("")
            for first, *others in table:
                cells = [first.rjust(widths[0])]
                cells += [
                    cell.ljust(w) for cell, w in zip(others, widths[1:], strict=True)
                ]
                lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        facts = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
            for name, text in self._facts()
        )
        head, *rows = self._table()
        columns = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        body = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>"
            for row in rows
        )
        return (
            f"<table><caption><code>{html.escape(self.dataset)}</code></caption>"
            f"<tbody>{facts}</tbody></table>"
            f"<table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>"
        )

    def _facts(self) -> list[tuple[str, str]]:
        if self.workers == 1:
            where = "of one worker, which reads everything"
        else:
            where = f"of {self.workers:,} workers"
        facts = [("replicas", f"{self.replicas:,} {where}")]
        if self.policy is not None and self.workers > 1:
            facts.append(("policy", f"{self.policy.name}: {self.reason}"))
        if self.workers > 1:
            facts += [
                (_numbered("worker", *reading.workers), reading.what)
                for reading in self.readings
            ]
        facts.append(("steps", count_in_words(self.steps)))
        facts += [("", remark) for remark in self.remarks]
        return facts

    def _table(self) -> list[list[str]]:
        """The steps: a line for each kind, a column for replicas that get the same."""
        replicas = self.replicas // (self.workers if self.of_each_worker else 1)
        edges = {0, replicas}
        for kind in self.kinds:
            end = 0
            for count, _ in kind.rows:
                end += count
                edges.add(end)
        if any(kind.first_rows is not None for kind in self.kinds):
            edges |= set(range(min(replicas, _FEW)))
        groups = list(itertools.pairwise(sorted(edges)))
        whose = " of each worker" if self.of_each_worker else ""
        head = ["step"]
        head += [_numbered("replica", a, b - 1) + whose for a, b in groups]
        lines = [head]
        done = 0
        for kind in self.kinds:
            cells = [_cell(kind, first) for first, _ in groups]
            lines.append([_steps_in_words(done, kind.steps), *cells])
            done += max(0, kind.steps)
        return lines


def explained(
    plan: Node, policy: AutoShardPolicy, counts: Sequence[int]
) -> Explanation:
    """How a dataset of batches over all replicas is shared.

    Args:
      plan: The dataset.
      policy: What its options say.
      counts: How many replicas each worker has.
    """
    workers = len(counts)
    first = share(plan, policy, Worker.among(counts, 0))
    replicas = sum(counts)
    is_dealt = workers > 1 and not first.holds_parts
    sizes, are_all = sizes_of(plan)
    kinds, remarks = _kinds(sizes, replicas, counts[0] if is_dealt else replicas)
    if not are_all:
        remarks.append("the first steps are shown; it goes on like that")
    steps = plan.cardinality()
    if is_dealt:
        steps = steps_of_slices(plan, replicas, counts[0])
    if first.policy in {AutoShardPolicy.FILE, AutoShardPolicy.HINT} and workers > 1:
        steps = INFINITE if steps == INFINITE else UNKNOWN
        kinds = [dataclasses.replace(k, first_rows=None) for k in kinds[:1]]
        remarks.append(
            "there are steps until no worker has rows any more; the others go on with "
            "empty batches"
        )
    return Explanation(
        dataset=written(plan),
        replicas=replicas,
        workers=workers,
        policy=first.policy,
        reason=first.reason,
        readings=_readings(plan, policy, counts, first),
        steps=steps,
        kinds=tuple(kinds),
        of_each_worker=is_dealt,
        remarks=tuple(remarks),
    )


def explained_function(
    plans: Sequence[Node], steps: int, counts: Sequence[int]
) -> Explanation:
    """How datasets that a function has made reach the replicas.

    Args:
      plans: What the function made for this worker.
      steps: How many steps there are.
      counts: How many replicas each worker has.
    """
    what = "the dataset that the function makes for it"
    if len(plans) > 1:
        what = "the datasets that the function makes, one for each of its replicas"
    return Explanation(
        dataset=", ".join(map(written, plans)),
        replicas=sum(counts),
        workers=len(counts),
        policy=None,
        reason="",
        readings=(Reading((0, len(counts) - 1), what),),
        steps=steps,
        kinds=(),
        remarks=("every replica gets whole elements, one after the other",),
    )


def _kinds(
    sizes: Sequence[Alike], replicas: int, at_once: int
) -> tuple[list[StepKind], list[str]]:
    """What replicas get of elements, of which ``at_once`` slices are given a step."""
    remarks: list[str] = []
    turns = replicas // at_once
    if turns > 1:
        is_whole = all(
            alike.rows and _lasts(alike.rows, replicas, at_once) == turns
            for alike in sizes
        )
        remarks.append(
            f"each worker deals out batches of its own; a batch lasts "
            f"{'' if is_whole else 'at most '}{turns:,} steps"
        )
    kinds: list[StepKind] = []
    few = sum(alike.count * turns for alike in sizes if alike.count > 0) <= _FEW
    for alike in sizes:
        if alike.rows is None:
            remarks.append(
                f"batches may have any number of rows: of n rows each of {replicas:,} "
                f"replicas gets n / {replicas:,}, rounded up, and the last ones fewer "
                f"or none"
            )
        elif few and alike.count > 0:
            lasts = _lasts(alike.rows, replicas, at_once)
            for i in range(alike.count):
                start = alike.first_row
                start = None if start is None else start + i * alike.rows
                kinds += [
                    _slices(alike.rows, replicas, turn * at_once, at_once, 1, start)
                    for turn in range(lasts)
                ]
        else:
            if alike.count == UNKNOWN:
                remarks.append(
                    f"the last batch may have fewer than {alike.rows:,} rows"
                )
            if alike.rows % replicas and turns > 1:
                remarks.append(
                    f"of {alike.rows:,} rows the last slices are shorter, or empty"
                )
            lasts = _lasts(alike.rows, replicas, at_once)
            steps = alike.count * lasts if alike.count > 0 else alike.count
            kinds.append(_slices(alike.rows, replicas, 0, at_once, steps, None))
    return kinds, remarks


def _lasts(rows: int, replicas: int, at_once: int) -> int:
    """For how many steps a batch lasts; where it is split there is always one."""
    return 1 if at_once == replicas else turns_with_rows(rows, replicas, at_once)


def _slices(
    rows: int, replicas: int, first: int, count: int, steps: int, start: int | None
) -> StepKind:
    """Steps at which so many slices of a batch are given, from the first one on."""
    length = part_length(rows, replicas)
    full = rows // length if length else 0
    runs: list[tuple[int, int]] = []
    firsts: list[int] = []
    here = first
    # Slices that are full, one that is shorter, and empty ones.
    for end, size in ((full, length), (full + 1, rows - full * length), (replicas, 0)):
        stop = min(end, first + count)
        if stop > here and (size or end == replicas):
            runs.append((stop - here, size))
            firsts.append((start or 0) + here * length)
            here = stop
    return StepKind(steps, tuple(runs), None if start is None else tuple(firsts))


def _readings(
    plan: Node, policy: AutoShardPolicy, counts: Sequence[int], first: Share
) -> tuple[Reading, ...]:
    last = len(counts) - 1
    if not last or first.policy is AutoShardPolicy.OFF:
        return (Reading((0, last), "everything"),)
    shown = [i for i in range(len(counts)) if i < _FEW - 1 or i == last]
    reads_own = any(isinstance(node, BatchPart) for node in walk(first.plan))
    if first.policy is AutoShardPolicy.DATA and not reads_own:
        what = "everything, of which it keeps the rows of its replicas"
        return (Reading((0, last), what),)
    return tuple(
        Reading((i, i), _read_by(share(plan, policy, Worker.among(counts, i))))
        for i in shown
    )


def _read_by(shared: Share) -> str:
    """What one worker reads."""
    if shared.policy is AutoShardPolicy.FILE:
        return ", and ".join(_files(names) for names in read_from_files(shared.plan))
    if shared.policy is AutoShardPolicy.HINT:
        return written(shared.plan)
    parts = [node for node in walk(shared.plan) if isinstance(node, BatchPart)]
    return ", and ".join(_rows_of(part.cut, part.size) for part in parts)


def _rows_of(cut: Cut, size: int) -> str:
    start, stop = cut.rows(size)
    which = f"rows {_range(start, stop)}" if stop > start else "none"
    return f"{which} of every {size:,}"


def _files(names: Node) -> str:
    """How many files there are, and the names of the first ones."""
    count = names.cardinality()
    files = "file" if count == 1 else "files"
    if count <= 0 or not names.indexed or any(True for _ in chances(names)):
        return f"{count_in_words(count)} {files}"
    few = min(count, 3)
    found = [path_of(name) for name in names.rows(range(few), (0,)).elements()]
    more = ", ..." if count > few else ""
    return f"{count:,} {files}: {', '.join(found)}{more}"


def _range(start: int, stop: int) -> str:
    if stop - start < 2:
        return f"{start:,}"
    return f"{start:,}-{stop - 1:,}"


def _numbered(what: str, first: int, last: int) -> str:
    if first == last:
        return f"{what} {first:,}"
    return f"{what}s {first:,}-{last:,}"


def _steps_in_words(done: int, steps: int) -> str:
    if steps < 0:
        return "each" if not done else f"{done + 1:,} on"
    return _range(done + 1, done + steps + 1)


def _cell(kind: StepKind, replica: int) -> str:
    """What one replica gets."""
    end = 0
    for i, (count, rows) in enumerate(kind.rows):
        begin, end = end, end + count
        if replica >= end:
            continue
        if not rows:
            return "none"
        word = "row" if rows == 1 else "rows"
        if kind.first_rows is None:
            return f"{rows:,} {word}"
        first = kind.first_rows[i] + (replica - begin) * rows
        return f"{word} {_range(first, first + rows)}"
    return ""
