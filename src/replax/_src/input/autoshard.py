"""Which part of a dataset each worker reads: rewrites of its plan.

Everything here is a function of the plan, the policy and a few numbers; it reads no
data and asks nobody.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterator, Sequence

from replax._src.core.errors import InvalidArgumentError, NotFoundError
from replax._src.dataset.node import Node, rewritten
from replax._src.dataset.options import SHARD_HINT, AutoShardPolicy
from replax._src.dataset.sources.files import Records
from replax._src.dataset.transformations.batch import Batch
from replax._src.dataset.transformations.flat_map import Interleave
from replax._src.dataset.transformations.part import BatchPart, Cut, Part
from replax._src.dataset.transformations.prefetch import Prefetch
from replax._src.dataset.transformations.repeat import Repeat
from replax._src.dataset.transformations.select import Shard, Skip, Take
from replax._src.dataset.transformations.shuffle import Shuffle
from replax._src.dataset.writing import written

__all__ = ["Share", "Worker", "read_from_files", "share", "warn_of_fallback"]

_log = logging.getLogger("replax")

# What gives the elements of its child as they are, so that taking a part of each can
# be done before it as well.
_PASSES_ON = (Prefetch, Repeat, Take, Skip, Shard, Shuffle)


@dataclasses.dataclass(frozen=True)
class Worker:
    """A worker among others.

    Attributes:
      index: Its number, from 0.
      workers: How many there are.
      first_replica: The number of its first replica among those of all workers.
      local_replicas: How many replicas it has.
      replicas: How many replicas all workers have.
      is_even: Whether all workers have equally many.
    """

    index: int = 0
    workers: int = 1
    first_replica: int = 0
    local_replicas: int = 1
    replicas: int = 1
    is_even: bool = True

    @classmethod
    def among(cls, counts: Sequence[int], index: int) -> Worker:
        """One of the workers that have so many replicas each."""
        return cls(
            index=index,
            workers=len(counts),
            first_replica=sum(counts[:index]),
            local_replicas=counts[index],
            replicas=sum(counts),
            is_even=len(set(counts)) == 1,
        )


@dataclasses.dataclass(frozen=True)
class Share:
    """What one worker reads.

    Attributes:
      given: The plan of the dataset.
      asked: The policy that its options say.
      plan: The rewritten plan.
      policy: How the dataset is shared: FILE, DATA, OFF or HINT.
      reason: Why that policy.
      holds_parts: Whether the elements of the plan are the worker's own rows, each
        with the number of rows of the whole batch; else they are batches that the
        worker cuts and deals out itself.
    """

    given: Node
    asked: AutoShardPolicy
    plan: Node
    policy: AutoShardPolicy
    reason: str
    holds_parts: bool = False


def share(plan: Node, policy: AutoShardPolicy, worker: Worker) -> Share:
    """What a worker reads of a dataset.

    Args:
      plan: The dataset, whose elements are batches over all replicas.
      policy: How to share it.
      worker: Which worker.

    Raises:
      NotFoundError: FILE is asked for, and the dataset is not made of files.
      InvalidArgumentError: There are fewer files than workers, or the workers cannot
        deal out batches of their own because they have different numbers of replicas.
    """
    chosen, reason = _chosen(plan, policy)
    if worker.workers == 1:
        is_hinted = chosen is AutoShardPolicy.HINT
        own = _hinted(plan, worker) if is_hinted else plan
        return Share(plan, policy, own, chosen, reason)
    if chosen is AutoShardPolicy.DATA:
        cut = Cut(worker.replicas, worker.first_replica, worker.local_replicas)
        own = _own_rows(plan, cut)
        return Share(plan, policy, own, chosen, reason, holds_parts=True)
    if not worker.is_even:
        msg = (
            f"the dataset {written(plan)} is shared by {chosen.name}, under which each "
            f"worker deals out batches of its own, and the {worker.workers} workers "
            f"have different numbers of devices, {worker.replicas} together; use "
            f"AutoShardPolicy.DATA, or equally many devices on each worker"
        )
        raise InvalidArgumentError(msg)
    own = plan
    if chosen is AutoShardPolicy.FILE:
        own = _own_files(plan, worker)
    elif chosen is AutoShardPolicy.HINT:
        own = _hinted(plan, worker)
    return Share(plan, policy, own, chosen, reason)


def _chosen(plan: Node, policy: AutoShardPolicy) -> tuple[AutoShardPolicy, str]:
    if policy is not AutoShardPolicy.AUTO:
        return policy, f"its options say {policy.name}"
    if all(_is_read_from_files(source) for source in _sources(plan)):
        return AutoShardPolicy.FILE, "its options say AUTO, and it is read from files"
    other = next(s for s in _sources(plan) if not _is_read_from_files(s))
    return (
        AutoShardPolicy.DATA,
        f"its options say AUTO, and {other.label()} is not read from files",
    )


def warn_of_fallback(share: Share) -> None:
    """Says that AUTO has come to DATA, under which every worker may read all data."""
    if share.asked is AutoShardPolicy.AUTO and share.policy is AutoShardPolicy.DATA:
        _log.warning("the dataset is shared by rows (DATA): %s", share.reason)


def _sources(plan: Node) -> Iterator[Node]:
    """What a plan begins with; readers of files count as beginnings."""
    if _is_read_from_files(plan) or not plan.children:
        yield plan
        return
    for child in plan.children:
        yield from _sources(child)


def _is_read_from_files(node: Node) -> bool:
    """Whether a step reads files whose names come from its child."""
    if isinstance(node, Records):
        return True
    if not isinstance(node, Interleave):
        return False
    try:
        made = node.first_made()
    except ValueError:  # there are no elements
        return False
    return all(_is_read_from_files(source) for source in _sources(made))


def read_from_files(plan: Node) -> list[Node]:
    """The names of the files that a plan reads: a plan for each reader in it."""
    return [_names(s) for s in _sources(plan) if _is_read_from_files(s)]


def _names(reader: Node) -> Node:
    (names,) = reader.children
    return names


def _own_files(plan: Node, worker: Worker) -> Node:
    readers = [s for s in _sources(plan) if _is_read_from_files(s)]
    if not readers:
        msg = (
            f"the dataset {written(plan)} is shared by files (FILE), and there are no "
            f"files in it; use AutoShardPolicy.DATA, or AUTO"
        )
        raise NotFoundError(msg)
    for reader in readers:
        files = _names(reader).cardinality()
        if 0 <= files < worker.workers:
            msg = (
                f"the dataset {written(plan)} is shared by files (FILE), and has "
                f"{files} files for {worker.workers} workers; use "
                f"options.experimental_distribute.auto_shard_policy = "
                f"AutoShardPolicy.DATA, or write at least {worker.workers} files"
            )
            raise InvalidArgumentError(msg)
    wanted = {id(reader) for reader in readers}
    return _sharded(plan, wanted, worker)


def _sharded(plan: Node, readers: set[int], worker: Worker) -> Node:
    if id(plan) in readers:
        names = Shard(child=_names(plan), shards=worker.workers, shard=worker.index)
        return plan.with_children((names,))
    if not plan.children:
        return plan
    return plan.with_children(
        tuple(_sharded(child, readers, worker) for child in plan.children)
    )


def _hinted(plan: Node, worker: Worker) -> Node:
    def change(node: Node) -> Node:
        if isinstance(node, Shard) and node.shards == SHARD_HINT:
            return dataclasses.replace(node, shards=worker.workers, shard=worker.index)
        return node

    return rewritten(plan, change)


def _own_rows(plan: Node, cut: Cut) -> Node:
    """The plan, reading only the worker's rows of each batch if it can."""
    if isinstance(plan, _PASSES_ON):
        (child,) = plan.children
        return plan.with_children((_own_rows(child, cut),))
    if isinstance(plan, Batch) and plan.child.indexed and not plan.child.ahead:
        return BatchPart(
            child=plan.child,
            size=plan.size,
            drop_remainder=plan.drop_remainder,
            cut=cut,
        )
    return Part(child=plan, cut=cut)
