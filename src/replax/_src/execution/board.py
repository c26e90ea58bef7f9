"""The values that a ragged step has outside the branches of its shape classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from jax.core import ShapedArray

from replax._src.core.jax_compat import Literal, Var
from replax._src.execution.equations import Atom
from replax._src.execution.flat_step import FlatStep
from replax._src.execution.slots import Slot

__all__ = ["Board", "Home"]


@dataclasses.dataclass(frozen=True)
class Home:
    """Where classes find the value of a variable.

    Attributes:
      place: The number of the slot on the board.
      slot: The slot.
      is_uniform: Whether what lies there has one type in all classes.
    """

    place: int
    slot: Slot
    is_uniform: bool


class Board:
    """All slots of a step in the order they are filled, and who has what in them.

    Attributes:
      steps: The step of each class.
      homes: For each class, where its variables are found.
      size: The number of slots.
    """

    def __init__(self, steps: Sequence[FlatStep]) -> None:
        self.steps = steps
        self.homes: list[dict[Var, Home]] = [{} for _ in steps]
        self.size = 0
        self._literals: dict[Any, Home] = {}
        for variables in zip(*(step.inputs for step in steps), strict=True):
            self.add(Slot.around([v.aval for v in variables]), variables)

    def add(self, slot: Slot, atoms: Sequence[Atom | None]) -> Home:
        """Puts up one more slot.

        Args:
          slot: The slot.
          atoms: For each class, what it will put there, if anything.
        """
        types = [None if atom is None else atom.aval for atom in atoms]
        uniform = types[0] is not None and all(t == types[0] for t in types)
        home = Home(self.size, slot, uniform)
        self.size += 1
        for homes, atom in zip(self.homes, atoms, strict=True):
            if isinstance(atom, Var):
                _check_is_array(atom.aval)
                homes.setdefault(atom, home)
        return home

    def settle(self, atoms: Sequence[Atom], home: Home) -> None:
        """Lets each class find its own of these, which are all one value, in a slot."""
        for class_id, atom in enumerate(atoms):
            if isinstance(atom, Var):
                self.homes[class_id].setdefault(atom, home)
            else:
                self._literals.setdefault(self.identity(class_id, atom), home)

    def shared(self, atoms: Sequence[Atom]) -> Home | None:
        """The slot in which all classes find these values unflattened, if any."""
        found = [
            self.homes[class_id].get(atom)
            if isinstance(atom, Var)
            else self._literals.get(self.identity(class_id, atom))
            for class_id, atom in enumerate(atoms)
        ]
        home = found[0]
        if home is None or any(other != home for other in found):
            return None
        return home if home.slot == Slot.around([a.aval for a in atoms]) else None

    def identity(self, class_id: int, atom: Atom) -> Any:
        """A key that is equal for all classes that read one value, or else None."""
        if isinstance(atom, Literal):
            return (str(atom.aval), getattr(atom.aval, "weak_type", False), repr(atom))
        constants = self.steps[class_id].constants
        if atom in constants:
            return ("constant", id(constants[atom]))
        home = self.homes[class_id].get(atom)
        return ("board", home.place) if home is not None and home.is_uniform else None


def _check_is_array(aval: Any) -> None:
    if not isinstance(aval, ShapedArray):
        msg = (
            f"a {aval} is used on both sides of a collective in a step whose replicas "
            f"have different local shapes; only arrays can be: read it into an array "
            f"before, or create it after the collective"
        )
        raise ValueError(msg)  # noqa: TRY004 - the type is one that users never see
