"""Datasets of ``tf.data``."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import jax
import numpy as np

from replax._src.core.specs import TensorSpec
from replax._src.dataset.foreign.host import is_of
from replax._src.dataset.foreign.reading import InOrder, Reader
from replax._src.dataset.node import Node
from replax._src.dataset.structure import ElementSpec

__all__ = ["taken"]


def taken(source: Any, signature: ElementSpec | None) -> Node | None:
    """The plan of a ``tf.data.Dataset``; None if the source is none."""
    # Where the class is: tf.data is loaded lazily by TensorFlow, and not by Replax.
    module = "tensorflow.python.data.ops.dataset_ops"
    if not is_of(source, module, "DatasetV2"):
        return None
    if signature is not None:
        msg = "a tf.data.Dataset says what its elements are; leave element_spec out"
        raise TypeError(msg)
    size = int(source.cardinality().numpy())
    return _TfData(source=source, size=size, signature=_spec_of(source.element_spec))


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _TfData(InOrder):
    """The elements of a ``tf.data.Dataset``; its position is their number."""

    def label(self) -> str:
        return "as_dataset(tf.data.Dataset)"

    def begin(self) -> Reader:
        return _TfReader(self.source)


class _TfReader(Reader):
    def __init__(self, source: Any) -> None:
        super().__init__(source.as_numpy_iterator())
        self._source = source

    def skip(self, count: int) -> int:
        # TensorFlow skips without handing anything to Python.
        self.iterator = self._source.skip(count).as_numpy_iterator()
        return count


def _spec_of(nest: Any) -> ElementSpec:
    tf: Any = sys.modules["tensorflow"]
    leaves, treedef = jax.tree_util.tree_flatten_with_path(
        nest, is_leaf=lambda value: isinstance(value, tf.TypeSpec)
    )
    specs = [_leaf_spec(spec, jax.tree_util.keystr(path), tf) for path, spec in leaves]
    return ElementSpec(treedef, tuple(specs))


_REMEDIES = {
    "RaggedTensorSpec": "is ragged; map it to .to_tensor()",
    "SparseTensorSpec": "is sparse; map it with tf.sparse.to_dense",
    "DatasetSpec": "is a dataset; use flat_map(lambda window: window.batch(n))",
}


def _leaf_spec(spec: Any, name: str, tf: Any) -> TensorSpec:
    kind = type(spec).__name__
    if not isinstance(spec, tf.TensorSpec) or spec.dtype in (tf.variant, tf.resource):
        what = _REMEDIES.get(kind, f"is of {spec}; map it to tensors")
        msg = (
            f"the elements of a tf.data.Dataset have to be tensors, and "
            f"{f'{name} of them' if name else 'each of them'} {what} in tf.data, "
            f"before as_dataset"
        )
        raise TypeError(msg)
    shape = None if spec.shape.rank is None else spec.shape.as_list()
    return TensorSpec(shape, np.dtype(spec.dtype.as_numpy_dtype))
