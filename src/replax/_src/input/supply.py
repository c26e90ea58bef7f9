"""Where the steps of a distributed dataset come from."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from replax._src.core.errors import InvalidArgumentError
from replax._src.core.specs import TensorSpec
from replax._src.dataset.iterator import Run
from replax._src.dataset.node import INFINITE, UNKNOWN, Cursor, Node
from replax._src.dataset.options import AutoShardPolicy
from replax._src.dataset.structure import TreeDef
from replax._src.dataset.writing import written
from replax._src.input.agree import Agreed
from replax._src.input.autoshard import Share, Worker
from replax._src.input.batch_sizes import steps_of_slices
from replax._src.input.peers import Peers, Round
from replax._src.input.specs import distributed_spec
from replax._src.input.steps import Dealt, Parts, Split, Steps, Whole

__all__ = ["Supply", "Way"]

# With these each worker reads something else, and has positions of its own.
_OWN = {AutoShardPolicy.FILE, AutoShardPolicy.HINT}


class Way(enum.Enum):
    """How elements become what replicas get."""

    SPLIT = "each element is cut into a part for each replica"
    PARTS = "each element holds the parts of this worker's replicas"
    DEALT = "each element is cut, and the slices are dealt out over several steps"
    WHOLE = "each replica gets whole elements"


@dataclasses.dataclass(frozen=True)
class Supply:
    """The plans that a worker reads, and what its replicas get of them.

    Attributes:
      plans: The datasets: one, or one for each of the worker's replicas. Positions are
        positions in them.
      read: What is read of them.
      way: What becomes of the elements.
      worker: Which worker reads.
      replicas: For each worker the numbers of its replicas.
      share: How the dataset was shared among workers; None if that was not done.
      peers: How to talk to the other workers; None if there are none.
    """

    plans: tuple[Node, ...]
    read: tuple[Node, ...]
    way: Way
    worker: Worker
    replicas: tuple[tuple[int, ...], ...]
    share: Share | None = None
    peers: Peers | None = None

    @classmethod
    def of_share(
        cls,
        share: Share,
        worker: Worker,
        replicas: tuple[tuple[int, ...], ...],
        peers: Peers | None,
    ) -> Supply:
        """Of a dataset of batches over all replicas."""
        if worker.workers == 1:
            way = Way.SPLIT
        else:
            way = Way.PARTS if share.holds_parts else Way.DEALT
        position_of = share.plan if share.policy in _OWN else share.given
        return cls((position_of,), (share.plan,), way, worker, replicas, share, peers)

    @classmethod
    def of_function(
        cls,
        plans: Sequence[Node],
        worker: Worker,
        replicas: tuple[tuple[int, ...], ...],
        peers: Peers | None,
    ) -> Supply:
        """Of datasets that a function of users made for this worker."""
        return cls(tuple(plans), tuple(plans), Way.WHOLE, worker, replicas, None, peers)

    @property
    def has_own_positions(self) -> bool:
        """Whether a position of one worker is none of the others."""
        shared = self.share
        return self.peers is not None and shared is not None and shared.policy in _OWN

    def runs(self) -> list[Run]:
        """An iteration of each plan."""
        return [Run(p, r) for p, r in zip(self.plans, self.read, strict=True)]

    def begin(self) -> Round | None:
        """An iteration over the dataset, as the workers talk about it."""
        return None if self.peers is None else self.peers.begin()

    def steps(
        self, cursors: Sequence[Cursor], begun: tuple[int, int], round_: Round | None
    ) -> Steps:
        """The steps of one iteration.

        Args:
          cursors: What reads the plans.
          begun: How many slices of the first batch were dealt before, of how many.
          round_: The iteration, among workers.
        """
        own = self._own_steps(cursors, begun)
        if round_ is None:
            return own
        return Agreed(
            own,
            round_,
            known_steps=self._known_steps,
            replicas=self.replicas,
            structure=self._structure,
            drops_empty=self.way is Way.DEALT,
        )

    def _own_steps(self, cursors: Sequence[Cursor], begun: tuple[int, int]) -> Steps:
        worker = self.worker
        if self.way is Way.WHOLE:
            return Whole(cursors, worker.local_replicas)
        (elements,) = cursors
        if self.way is Way.PARTS:
            if begun[0]:
                msg = (
                    "the position was saved in the middle of a batch that was dealt "
                    "out over several steps (OFF); go on from it with that policy"
                )
                raise InvalidArgumentError(msg)
            return Parts(
                elements, worker.replicas, worker.first_replica, worker.local_replicas
            )
        if self.way is Way.SPLIT:
            return Split(elements, worker.replicas, begun)
        return Dealt(elements, worker.replicas, worker.local_replicas, begun)

    def _structure(self) -> TreeDef:
        return self.plans[0].spec().treedef

    @property
    def _known_steps(self) -> int | None:
        """How many steps each worker makes, of which each knows those of all.

        Those of batches that are dealt out count also if no replica has rows.
        """
        is_same = self.share is not None and self.share.policy in {
            AutoShardPolicy.DATA,
            AutoShardPolicy.OFF,
        }
        batches = self.plans[0].cardinality()
        if not is_same or batches == UNKNOWN:
            return None
        if self.way is Way.DEALT and batches != INFINITE:
            return batches * (self.worker.replicas // self.worker.local_replicas)
        return batches

    def cardinality(self) -> int:
        """How many steps there are; as for a plan where that is no number."""
        counts = [plan.cardinality() for plan in self.plans]
        if UNKNOWN in counts:
            return UNKNOWN
        known = [count for count in counts if count != INFINITE]
        if len(known) < len(counts):
            return INFINITE
        steps = max(known)
        worker = self.worker
        if self.way is Way.WHOLE and len(counts) == 1:
            steps = -(-steps // worker.local_replicas)
        if worker.workers == 1 or self.way is Way.PARTS:
            return steps
        if self.share is not None and self.share.policy is AutoShardPolicy.OFF:
            (plan,) = self.plans
            return steps_of_slices(plan, worker.replicas, worker.local_replicas)
        return UNKNOWN

    def spec(self, *, on_devices: bool) -> Any:
        """A nest of specs of what replicas get, on the host or on devices."""
        given = self.plans[0].spec()
        if on_devices:
            given = given.with_leaves(map(_on_device, given.leaves))
        return distributed_spec(
            given,
            self.worker.replicas,
            self.worker.local_replicas,
            is_split=self.way is not Way.WHOLE,
            is_open=self.worker.workers > 1,
        )

    def __str__(self) -> str:
        return ", ".join(map(written, self.plans))


def _on_device(spec: TensorSpec) -> TensorSpec:
    dtype = np.dtype(spec.dtype)
    if dtype.kind in "OSU":
        return spec
    return TensorSpec(spec.shape, jax.dtypes.canonicalize_dtype(dtype))
