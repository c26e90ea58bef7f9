"""``scan``: a function of users with a state that it hands on."""

from __future__ import annotations

import base64
import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from replax._src.dataset.block import Block
from replax._src.dataset.node import Cursor, Node, Pass, State
from replax._src.dataset.probing import probed_spec
from replax._src.dataset.structure import ElementSpec, TreeDef, flatten

__all__ = ["Scan"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Scan(Node):
    """What ``function`` makes of each element and the state that it gave before.

    Attributes:
      initial: The first state.
      function: Takes the state and an element; gives the next state and an element.
    """

    child: Node
    initial: Any
    function: Callable[..., Any]

    def label(self) -> str:
        return f"scan({getattr(self.function, '__name__', 'function')})"

    def spec(self) -> ElementSpec:
        return self._spec

    @functools.cached_property
    def _spec(self) -> ElementSpec:
        return probed_spec(self.child, lambda *e: self.step(self.initial, _one(e))[1])

    def step(self, state: Any, element: Any) -> tuple[Any, Any]:
        """The next state, and the element that comes out."""
        result = self.function(state, element)
        if not (isinstance(result, tuple) and len(result) == 2):
            msg = (
                f"the function of scan gave {result!r}; it has to give two values, the "
                f"next state and the element that comes out: return state, element"
            )
            raise TypeError(msg)
        return result

    def cardinality(self) -> int:
        return self.child.cardinality()

    @property
    def pure(self) -> bool:
        return False

    def open(self, pass_: Pass) -> Cursor:
        return _ScanCursor(self.child.open(pass_), self)


def _one(arguments: tuple[Any, ...]) -> Any:
    return arguments[0] if len(arguments) == 1 else arguments


class _ScanCursor(Cursor):
    def __init__(self, child: Cursor, node: Scan) -> None:
        self._child = child
        self._node = node
        self._carry = node.initial
        self._number = 0

    def take(self, count: int) -> Block | None:
        block = self._child.take(count)
        if block is None:
            return None
        made: list[Any] = []
        for element in block.elements():
            try:
                self._carry, out = self._node.step(self._carry, element)
            except Exception as error:
                error.add_note(
                    f"(raised by the function of scan, for element {self._number})"
                )
                raise
            self._number += 1
            made.append(out)
        return Block.of_elements(made)

    def state(self) -> State:
        return [self._number, _written(self._carry), self._child.state()]

    def restore(self, state: State) -> None:
        self._number, carry, child_state = state
        self._carry = _read(carry, flatten(self._node.initial)[1])
        self._child.restore(child_state)

    def close(self) -> None:
        self._child.close()


def _written(tree: Any) -> State:
    # Python's numbers stay what they are: NumPy computes otherwise with its own.
    leaves = jax.tree_util.tree_leaves(tree, is_leaf=lambda x: type(x) is list)
    return [
        leaf if type(leaf) in (bool, int, float) else _written_array(leaf, tree)
        for leaf in leaves
    ]


def _written_array(leaf: Any, tree: Any) -> State:
    array = np.asarray(leaf)
    if array.dtype.hasobject:
        msg = (
            f"the position of a dataset with a scan cannot be saved while its state "
            f"is {tree!r}; states of scan have to be numbers for that"
        )
        raise TypeError(msg)
    data = base64.b64encode(array.tobytes()).decode()
    return [array.dtype.str, list(array.shape), data]


def _read(written: State, treedef: TreeDef) -> Any:
    return treedef.unflatten(
        [_read_array(*leaf) if isinstance(leaf, list) else leaf for leaf in written]
    )


def _read_array(dtype: str, shape: list[int], data: str) -> Any:
    array = np.frombuffer(base64.b64decode(data), dtype).reshape(shape)
    return array.copy()[()]
