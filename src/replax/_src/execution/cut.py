"""Cuts the steps of all shape classes at their meetings.

The steps are walked through side by side, one segment at a time. For each segment it
is decided which equations all classes share, and which values have to leave the
classes' branches, because a meeting or a later segment reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from replax._src.core.jax_compat import JaxprEqn, Var
from replax._src.execution.board import Board, Home
from replax._src.execution.equations import Atom, type_of, variables
from replax._src.execution.flat_step import FlatStep
from replax._src.execution.remaking import is_layout, kept_and_remade
from replax._src.execution.sameness import same_operation
from replax._src.execution.segment import Branch, Segment
from replax._src.execution.slots import Slot, matched

__all__ = ["Cut"]

_Equations = list[JaxprEqn]


class Cut:
    """The walk through the steps of all classes."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._read_after = [_read_after(step) for step in board.steps]
        # For each class, cheap equations of earlier segments that may be run again.
        self._again: list[_Equations] = [[] for _ in board.steps]

    def segment(
        self, number: int, wanted: Sequence[Sequence[Atom]]
    ) -> tuple[Segment, list[Home]]:
        """Cuts out the next segment.

        Args:
          number: Its number.
          wanted: What the meeting behind it reads: for each operand, that of each
            class.

        Returns:
          The segment, and where the meeting finds its operands.
        """
        steps = self._board.steps
        own = [
            [*again, *step.segments[number]]
            for again, step in zip(self._again, steps, strict=True)
        ]
        common, alike = self._common(own, wanted)
        rest = [
            [e for e in equations if id(e) not in shared]
            for equations, shared in zip(own, alike, strict=True)
        ]
        slots: list[Slot] = []
        writes: list[tuple[Atom | None, ...]] = []
        homes = [self._home(atoms, slots, writes) for atoms in wanted]
        self._keep(number, rest, slots, writes)
        columns = zip(*writes, strict=True) if writes else (() for _ in steps)
        branches = [
            Branch.of(self._board, c, equations, column)
            for c, (equations, column) in enumerate(zip(rest, columns, strict=True))
        ]
        return Segment(common, tuple(branches), tuple(slots)), homes

    def _common(
        self, own: Sequence[_Equations], wanted: Sequence[Sequence[Atom]]
    ) -> tuple[Branch, list[set[int]]]:
        """What all classes do alike.

        Returns:
          It, as the first class has it, and for each class the equations (by id) that
          it makes superfluous. The cheap ones among them are not: a branch had better
          make such a value itself than read it from memory.
        """
        board = self._board
        numbers = _Numbers(board, own)
        outputs: dict[Any, list[Atom]] = {}
        for eqn in own[0]:
            if not is_layout(eqn):
                for var in eqn.outvars:
                    outputs.setdefault(numbers.shared(0, var), [var])
        one: list[tuple[Any, Sequence[Atom]]] = []  # what is wanted and is one value
        for atoms in wanted:
            if board.shared(atoms) is None:
                keys = {numbers.shared(c, atom) for c, atom in enumerate(atoms)}
                if len(keys) == 1:
                    one.append((keys.pop(), atoms))
                    outputs.setdefault(one[-1][0], list(atoms))
        outputs.pop(None, None)
        found: dict[Any, Home] = {}
        for key, atoms in outputs.items():
            home = board.add(Slot.around([type_of(atoms[0])]), [atoms[0]] * len(own))
            numbers.settle(key, home)
            found[key] = home
        for key, atoms in one:
            if key is not None:
                board.settle(atoms, found[key])
        writes = [atoms[0] for atoms in outputs.values()]
        alike = [
            {id(e) for e in equations if not is_layout(e) and numbers.has(c, e)}
            for c, equations in enumerate(own)
        ]
        equations = [e for e in own[0] if numbers.has(0, e)]
        return Branch.of(board, 0, equations, writes), alike

    def _home(
        self,
        atoms: Sequence[Atom],
        slots: list[Slot],
        writes: list[tuple[Atom | None, ...]],
    ) -> Home:
        """Where a meeting finds an operand; a new slot if it is nowhere yet."""
        home = self._board.shared(atoms)
        if home is None:
            slots.append(Slot.around([type_of(atom) for atom in atoms]))
            writes.append(tuple(atoms))
            home = self._board.add(slots[-1], atoms)
        return home

    def _keep(
        self,
        number: int,
        rest: Sequence[_Equations],
        slots: list[Slot],
        writes: list[tuple[Atom | None, ...]],
    ) -> None:
        """Adds slots for what later segments read of this one."""
        kept: list[list[Var]] = []
        for c, equations in enumerate(rest):
            known = (self._board.homes[c], self._board.steps[c].constants)
            values, again = kept_and_remade(
                equations, set[Var]().union(*known), self._read_after[c][number]
            )
            kept.append(values)
            self._again[c] = again
        more, places = matched([[type_of(v) for v in values] for values in kept])
        for i, slot in enumerate(more):
            atoms = [
                next((v for v, p in zip(values, own, strict=True) if p == i), None)
                for values, own in zip(kept, places, strict=True)
            ]
            self._board.add(slot, atoms)
            slots.append(slot)
            writes.append(tuple(atoms))


class _Numbers:
    """Equal numbers for the equations that all classes have in a segment."""

    def __init__(self, board: Board, own: Sequence[_Equations]) -> None:
        self._board = board
        self._values: list[dict[Var, Any]] = [{} for _ in own]
        self._seen: dict[Any, list[tuple[JaxprEqn, int]]] = {}
        self._count = 0
        found = [{self._number(c, e) for e in own[c]} for c in range(len(own))]
        self._shared = set[int | None].intersection(*found) - {None}

    def _number(self, class_id: int, eqn: JaxprEqn) -> int | None:
        """Numbers an equation; two that do the same to the same get one number."""
        if eqn.effects:
            return None
        operands = tuple(self._identity(class_id, atom) for atom in eqn.invars)
        if None in operands:
            return None
        same = self._seen.setdefault((eqn.primitive, operands), [])
        number = next((n for e, n in same if same_operation(e, eqn)), None)
        if number is None:
            number = self._count
            self._count += 1
            same.append((eqn, number))
        for i, var in enumerate(eqn.outvars):
            self._values[class_id][var] = (number, i)
        return number

    def _identity(self, class_id: int, atom: Atom) -> Any:
        value = self._values[class_id].get(atom) if isinstance(atom, Var) else None
        return self._board.identity(class_id, atom) if value is None else value

    def shared(self, class_id: int, atom: Atom) -> Any:
        """A key for a value that all classes have, else None."""
        value = self._values[class_id].get(atom) if isinstance(atom, Var) else None
        if value is not None:
            return value if value[0] in self._shared else None
        return self._board.identity(class_id, atom)

    def has(self, class_id: int, eqn: JaxprEqn) -> bool:
        """Whether all classes have this equation."""
        values = self._values[class_id]
        return bool(eqn.outvars) and (
            values.get(eqn.outvars[0], (None,))[0] in self._shared
        )

    def settle(self, key: Any, home: Home) -> None:
        """Lets all classes find a value that they share in one slot."""
        for homes, values in zip(self._board.homes, self._values, strict=True):
            homes.update({var: home for var, value in values.items() if value == key})


def _read_after(step: FlatStep) -> list[set[Var]]:
    """For each segment, what is read behind the meeting that ends it."""
    live = variables(step.outputs)
    result = [set[Var]()]
    for i in range(len(step.meetings) - 1, -1, -1):
        for eqn in step.segments[i + 1]:
            live |= variables(eqn.invars)
        result.append(set(live))
        live |= variables(step.meetings[i].invars)
    return result[::-1]
