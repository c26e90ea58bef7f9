"""Which library a dataset is of.

A library is looked at only if its users have imported it, for then only can there be a
dataset of it.
"""

from __future__ import annotations

from typing import Any

from replax._src.dataset.foreign import (
    grain,
    hugging_face,
    iterable,
    tf_data,
    torch,
)
from replax._src.dataset.node import Node
from replax._src.dataset.structure import ElementSpec

__all__ = ["foreign_plan"]

# Hugging Face's before torch's, one of which they become when torch is imported.
_LIBRARIES = (tf_data.taken, grain.taken, hugging_face.taken, torch.taken)


def foreign_plan(source: Any, element_spec: Any = None) -> Node:
    """The plan that reads a dataset of another library, or an iterable.

    Args:
      source: It.
      element_spec: A nest of ``TensorSpec``: what its elements look like.
    """
    signature = None if element_spec is None else ElementSpec.from_tree(element_spec)
    for taken in _LIBRARIES:
        plan = taken(source, signature)
        if plan is not None:
            return plan
    return iterable.taken(source, signature)
