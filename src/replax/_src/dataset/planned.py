"""What every dataset has: a plan, its options, and how values look to users."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

from replax._src.core.errors import InvalidArgumentError
from replax._src.dataset.node import Node
from replax._src.dataset.options import Options
from replax._src.dataset.structure import ElementSpec, Opaque

__all__ = [
    "Dialect",
    "Planned",
    "plan_of",
    "require_alike",
    "require_count",
    "require_function",
    "require_whole",
]


@dataclasses.dataclass(frozen=True)
class Dialect:
    """How values look to users.

    Attributes:
      taken: Makes arrays of values that users give as elements.
      given: Makes of an element what users are given; None to give it as it is.
      text: Makes of strings in elements that replicas share what users are given.
    """

    taken: Callable[[Any], Any] = lambda value: value
    given: Callable[[Any], Any] | None = None
    text: Callable[[Any], Any] | None = None


class Planned(Opaque):
    """A plan and options; the base of datasets.

    Args:
      plan: What the elements are.
      options: How they are made and shared.
    """

    # A facade has other arrays than NumPy's.
    dialect: ClassVar[Dialect] = Dialect()
    # What methods make: a reader of files becomes a dataset like any other.
    made: ClassVar[type[Planned]]

    def __init__(self, plan: Node, options: Options | None = None) -> None:
        self._plan = plan
        self._options = Options() if options is None else options

    @property
    def chosen_options(self) -> Options:
        """The options, as they are; not to be changed."""
        return self._options

    @property
    def plan(self) -> Node:
        """The steps that make the elements; they cannot be changed."""
        return self._plan

    def _then(self, plan: Node) -> Self:
        made: Any = self.made(plan, self._options)
        return made


def plan_of(value: Any, what: str) -> Node:
    """The plan of a dataset that was given, or returned by a function of users.

    Args:
      value: The dataset.
      what: Who was given it, for the error.
    """
    if isinstance(value, Planned):
        return value.plan
    msg = (
        f"{what} got {value!r}, which is no dataset; make one of it with "
        f"Dataset.from_tensor_slices or replax.data.as_dataset"
    )
    raise TypeError(msg)


def require_alike(what: str, plans: Sequence[Node]) -> None:
    """Refuses datasets whose elements have not the same structure and dtypes.

    Behind functions of users it is seen when elements are read.
    """
    known = [plan for plan in plans if plan.pure]
    for plan in known[1:]:
        one, other = known[0].spec(), plan.spec()
        if one.treedef != other.treedef or _kinds(one) != _kinds(other):
            msg = (
                f"{what} got datasets of {one.tree()} and of {other.tree()}; map them "
                f"to one structure and to the same dtypes first"
            )
            raise TypeError(msg)


def _kinds(spec: ElementSpec) -> list[Any]:
    # Strings of NumPy have their length in their dtype.
    dtypes = [getattr(leaf, "dtype", None) for leaf in spec.leaves]
    return [d.kind if d is not None and d.kind in "US" else d for d in dtypes]


def require_count(name: str, value: Any, least: int) -> int:
    """``value`` as a whole number of at least ``least``."""
    number = value if type(value) is int else _whole(value)
    if number is None or number < least:
        msg = f"{name} is {value!r}; give a whole number, {least} or more"
        raise (TypeError if number is None else InvalidArgumentError)(msg)
    return number


def require_function(what: str, value: Any) -> Callable[..., Any]:
    """``value``, which can be called."""
    if not callable(value):
        msg = f"{what} got {value!r}; give a function that takes an element"
        raise TypeError(msg)
    return value


def require_whole(name: str, value: Any) -> int:
    """``value`` as a whole number."""
    number = _whole(value)
    if number is None:
        msg = f"{name} got {value!r}; give a whole number"
        raise TypeError(msg)
    return number


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return value.__index__()
    except (AttributeError, TypeError):
        return None
