"""What a call of a function is, apart from the numbers in it."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.core
import numpy as np

from replax._src.core import host
from replax._src.core.jax_compat import ArrayClass, KeyArrayClass
from replax._src.core.specs import TensorSpec
from replax._src.replica.scope import HostValueError
from replax._src.values.distributed import PerReplica
from replax._src.values.variable import Variable

__all__ = ["ON_HOST", "Static", "check_against", "in_order", "kind_of_leaf"]

# The kind of what stays on the host and is handed on unseen.
ON_HOST = "on the host"


class Static:
    """An argument that is part of the program: equal values share one program."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Static)
            and type(other.value) is type(self.value)
            and bool(other.value == self.value)
        )

    def __hash__(self) -> int:
        try:
            return hash((type(self.value), self.value))
        except TypeError:
            return id(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


def kind_of_leaf(leaf: Any, *, static_numbers: bool, static_host: bool) -> Any:
    """A hashable description of an argument.

    Args:
      leaf: One leaf of the arguments.
      static_numbers: Whether Python numbers are part of the program.
      static_host: Whether arrays of strings and objects are part of it.

    Returns:
      A tuple that begins with ``"array"``, ``"number"`` or ``"per replica"`` for what
      varies from call to call, ON_HOST for what passes through, a Static for what is
      part of the program, and the variable itself for a variable.
    """
    if isinstance(leaf, (ArrayClass, jax.core.Tracer, KeyArrayClass)):
        return ("array", leaf.shape, leaf.dtype, getattr(leaf, "weak_type", False))
    if isinstance(leaf, PerReplica):
        if leaf.on_host:
            return Static(leaf) if static_host else ON_HOST
        return ("per replica",)
    if isinstance(leaf, Variable):
        return leaf
    if host.is_array(leaf):
        dtype = jax.dtypes.canonicalize_dtype(leaf.dtype)
        return ("array", leaf.shape, dtype, False)
    if type(leaf) in (int, float, complex):
        return Static(leaf) if static_numbers else ("number", type(leaf))
    if isinstance(leaf, (str, bytes, bool, enum.Enum, np.dtype, type)) or leaf is None:
        return Static(leaf)
    if isinstance(leaf, functools.partial) or callable(leaf):
        return Static(leaf)
    if isinstance(leaf, np.ndarray):
        return Static(_Whole(leaf)) if static_host else ON_HOST
    msg = f"it is given a {type(leaf).__name__}"
    raise HostValueError(msg)


class _Whole:
    """A host value that is compared by identity."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Whole) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)

    def __repr__(self) -> str:
        return f"an array of {self.value.size} host values"


def in_order(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with those given by name where they stand."""
    if not kwargs:
        return args, kwargs
    bound = inspect.signature(function).bind(*args, **kwargs)
    return bound.args, bound.kwargs


def check_against(
    signature: Sequence[Any], args: tuple[Any, ...], name: str
) -> tuple[Any, ...]:
    """The arguments, if they fit an ``input_signature``; numbers become arrays."""
    if len(args) != len(signature):
        msg = (
            f"{name} takes {len(signature)} arguments by its input_signature and was "
            f"given {len(args)}"
        )
        raise TypeError(msg)
    return tuple(
        _fit(spec, arg, f"argument {i} of {name}")
        for i, (spec, arg) in enumerate(zip(signature, args, strict=True))
    )


def _fit(spec: Any, arg: Any, what: str) -> Any:
    specs, wanted = jax.tree_util.tree_flatten(
        spec, is_leaf=lambda s: not isinstance(s, (dict, list, tuple))
    )
    try:
        leaves = wanted.flatten_up_to(arg)
    except ValueError as error:
        msg = (
            f"{what} has the structure {jax.tree_util.tree_structure(arg)}, but its "
            f"input_signature has {wanted}"
        )
        raise TypeError(msg) from error
    return wanted.unflatten(
        [_fit_leaf(s, leaf, what) for s, leaf in zip(specs, leaves, strict=True)]
    )


def _fit_leaf(spec: Any, leaf: Any, what: str) -> Any:
    if isinstance(leaf, Variable) or not hasattr(spec, "is_compatible_with"):
        return leaf
    if isinstance(leaf, PerReplica) == isinstance(spec, TensorSpec):
        has = "one value for each replica" if isinstance(leaf, PerReplica) else "one"
        msg = (
            f"{what} is {has}, which does not fit its input_signature {spec}; take the "
            f"element_spec of the distributed dataset for what comes from it, and a "
            f"TensorSpec for single arrays"
        )
        raise TypeError(msg)
    if isinstance(leaf, PerReplica):
        values = leaf.values
    else:
        if host.is_number(leaf) or isinstance(leaf, (list, tuple)):
            leaf = np.asarray(leaf)
            if isinstance(spec, TensorSpec) and np.can_cast(
                leaf.dtype, spec.dtype, "same_kind"
            ):
                leaf = leaf.astype(spec.dtype)
        values = (leaf,)
    for value in values:
        if not _fits(spec, value):
            found = (
                f"{np.dtype(value.dtype).name}{list(value.shape)}"
                if host.is_array(value)
                else repr(value)
            )
            msg = f"{what} is {found}, which does not fit its input_signature {spec}"
            raise TypeError(msg)
    return leaf


def _fits(spec: Any, value: Any) -> bool:
    if isinstance(value, (str, bytes)):
        value = np.array(value, object)
    if not host.is_array(value) and not isinstance(value, np.ndarray):
        return False
    return spec.is_compatible_with(value)
