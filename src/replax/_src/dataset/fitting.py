"""Elements of users, checked against what they were said to look like."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from replax._src.core.errors import InvalidArgumentError
from replax._src.core.specs import TensorSpec
from replax._src.dataset.structure import ElementSpec, as_leaf, leaf_names

__all__ = ["fitted"]


def fitted(
    element: Any,
    signature: ElementSpec,
    number: int,
    source: str,
    argument: str = "output_signature",
) -> Any:
    """The element in the dtypes of its signature.

    Args:
      element: The element.
      signature: What it has to look like.
      number: Which element of the source it is.
      source: What gave it, for the errors,
      argument: and where the signature was said.

    Raises:
      InvalidArgumentError: It has another structure, or an array has another shape, or
        a dtype that cannot be converted without a loss.
    """
    try:
        leaves = signature.treedef.flatten_up_to(element)
    except (ValueError, TypeError):
        msg = (
            f"element {number} of {source} is {element!r}, and its {argument} says "
            f"{signature.tree()}; yield what the signature says, or change it"
        )
        raise InvalidArgumentError(msg) from None
    made: list[Any] = []
    for position, value in enumerate(leaves):
        spec: TensorSpec = signature.leaves[position]
        leaf = as_leaf(value)
        fitting = _converted(leaf, value, spec)
        if fitting is None or not spec.shape.is_compatible_with(np.shape(fitting)):
            name = leaf_names(signature.treedef)[position]
            where = f" in {name}" if name else ""
            kind = getattr(leaf, "dtype", type(leaf).__name__)
            shown = f" {leaf}" if np.shape(leaf) == () else ""
            msg = (
                f"element {number} of {source} has {kind}{list(np.shape(leaf))}{shown}"
                f"{where}, and its {argument} says {spec}; yield what the signature "
                f"says, or change it"
            )
            raise InvalidArgumentError(msg)
        made.append(fitting)
    return signature.treedef.unflatten(made)


def _converted(leaf: Any, value: Any, spec: TensorSpec) -> Any:
    """The leaf in the dtype of the spec; None if that would change its value."""
    if isinstance(leaf, (bytes, str)) or leaf.dtype.kind in "USO":
        return leaf if spec.dtype.kind in "USO" else None
    if leaf.dtype == spec.dtype:
        return leaf
    if isinstance(value, (np.ndarray, np.generic)) and not np.can_cast(
        leaf.dtype, spec.dtype, "same_kind"
    ):
        return None
    if spec.dtype.kind in "USO":
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        fitting = np.asarray(leaf).astype(spec.dtype)
    if leaf.dtype.kind in "iufb" and spec.dtype.kind in "iub":
        return fitting[()] if np.array_equal(fitting, leaf) else None
    if math.prod(fitting.shape) == 1 and leaf.dtype.kind == "c":
        return None
    return fitting[()]
