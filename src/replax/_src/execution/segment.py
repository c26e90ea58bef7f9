"""What a ragged step does between two meetings.

A segment has a part that all shape classes share, run once, and a part that each class
does in its own way, run under a ``lax.switch``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import lax

from replax._src.core.jax_compat import JaxprEqn, Var
from replax._src.execution.board import Board, Home
from replax._src.execution.equations import Atom, evaluate, type_of, variables
from replax._src.execution.remaking import needed
from replax._src.execution.slots import Slot

__all__ = ["Branch", "Segment"]


@dataclasses.dataclass(frozen=True)
class Branch:
    """What one class does in a segment.

    Attributes:
      equations: Its equations, in order.
      reads: The variables it reads that are defined before, and their homes.
      constants: The constants of its step.
      writes: What it puts into each of the segment's slots; None if it has nothing.
    """

    equations: tuple[JaxprEqn, ...]
    reads: dict[Var, Home]
    constants: dict[Var, Any]
    writes: tuple[Atom | None, ...]

    @classmethod
    def of(
        cls,
        board: Board,
        class_id: int,
        equations: Sequence[JaxprEqn],
        writes: Sequence[Atom | None],
    ) -> Branch:
        """The branch with those of the equations that it needs."""
        wanted: set[Var] = {atom for atom in writes if isinstance(atom, Var)}
        kept = needed(equations, wanted)
        own = {var for eqn in kept for var in eqn.outvars}
        free = wanted.union(*(variables(eqn.invars) for eqn in kept)) - own
        homes = board.homes[class_id]
        return cls(
            tuple(kept),
            {var: homes[var] for var in free if var in homes},
            board.steps[class_id].constants,
            tuple(writes),
        )

    def runner(
        self, places: Sequence[int], slots: Sequence[Slot]
    ) -> Callable[..., list[jax.Array]]:
        """The branch as a function of the values at some places of the board."""
        position = {place: i for i, place in enumerate(places)}

        def run(*held: jax.Array) -> list[jax.Array]:
            env = dict(self.constants)
            for var, home in self.reads.items():
                value = held[position[home.place]]
                env[var] = home.slot.taken(value, type_of(var).shape)
            values = iter(evaluate(self.equations, env, _present(self.writes)))
            return [
                slot.zeros() if atom is None else slot.filled(next(values))
                for slot, atom in zip(slots, self.writes, strict=True)
            ]

        return run


@dataclasses.dataclass(frozen=True)
class Segment:
    """What happens between two meetings.

    Attributes:
      common: What all classes do alike, as the first class has it.
      branches: What each class does in its own way.
      slots: The slots that branches fill.
    """

    common: Branch
    branches: tuple[Branch, ...]
    slots: tuple[Slot, ...]

    def run(self, class_id: jax.Array, held: list[Any]) -> None:
        """Appends what it computes to the values on the board."""
        shared = self.common
        env = dict(shared.constants)
        for var, home in shared.reads.items():
            env[var] = home.slot.taken(held[home.place], type_of(var).shape)
        held += evaluate(shared.equations, env, _present(shared.writes))
        if not self.slots and not any(branch.equations for branch in self.branches):
            return
        reads = {h.place for branch in self.branches for h in branch.reads.values()}
        places = sorted(reads)
        runners = [branch.runner(places, self.slots) for branch in self.branches]
        held += lax.switch(class_id, runners, *(held[place] for place in places))


def _present(atoms: Sequence[Atom | None]) -> list[Atom]:
    return [atom for atom in atoms if atom is not None]
