"""``tf.Variable``: a variable of Replax, made as TensorFlow's is."""

from __future__ import annotations

from typing import Any, NoReturn

import jax
import numpy as np

from replax._src.compat.conversion import convert_to_tensor
from replax._src.compat.dtypes import as_dtype
from replax._src.core.specs import TensorShape
from replax._src.values import create, variable
from replax._src.values.vocabulary import (
    VariableAggregation,
    VariableSynchronization,
)

__all__ = ["Variable"]


class _EveryVariable(type):
    """Makes all of Replax's variables instances of the class."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, variable.Variable)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, variable.Variable)


class Variable(metaclass=_EveryVariable):
    """A variable; ``replax.Variable`` with TensorFlow's names and default dtypes.

    Args:
      initial_value: A number, an array, or a list of these; or a callable that returns
        one. A dict, a named tuple, or a tuple that is not all numbers stays what it
        is, with an array at each leaf.
      trainable: Whether optimizers should change it.
      validate_shape: Taken for TensorFlow's sake.
      caching_device: Taken for TensorFlow's sake.
      name: For messages; the variable's name has ``":0"`` after it.
      variable_def: Not supported.
      dtype: The dtype; numbers are converted to it.
      import_scope: Taken for TensorFlow's sake.
      constraint: Not supported.
      synchronization: When the copies are made equal.
      aggregation: How values that replicas assign become one.
      shape: The shape, which has to be that of the initial value.
      experimental_enable_variable_lifting: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> v = tf.Variable([1, 2], name="v")
    >>> v.name, v.dtype == tf.int32, isinstance(v, tf.Variable)
    ('v:0', True, True)
    """

    def __new__(
        cls,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> variable.Variable:
        """Makes the kind of variable that the current scope calls for."""
        del validate_shape, caching_device, import_scope
        del experimental_enable_variable_lifting
        if variable_def is not None:
            _refuse("variable_def", variable_def, "pass an initial value")
        if constraint is not None:
            _refuse("constraint", constraint, "apply it to what you assign")
        if initial_value is None:
            msg = f"variable {name!r} was given no initial value; pass one"
            raise ValueError(msg)
        dtype = None if dtype is None else as_dtype(dtype)
        checked = None if shape is None else _whole_shape(shape)

        def value() -> Any:
            given = initial_value() if callable(initial_value) else initial_value
            return _with_shape(_initial(given, dtype), checked)

        return create.create(
            value,
            trainable=None if trainable is None else bool(trainable),
            name=f"{name or 'Variable'}:0",
            synchronization=synchronization,
            aggregation=aggregation,
        )


def _initial(value: Any, dtype: Any) -> Any:
    """The initial value, its numbers in TensorFlow's default dtypes."""
    if not isinstance(value, list) and _is_tree(value):
        return jax.tree.map(lambda leaf: convert_to_tensor(leaf, dtype), value)
    return convert_to_tensor(value, dtype)


def _is_tree(value: Any) -> bool:
    if isinstance(value, variable.Variable):
        return False
    leaves, treedef = jax.tree.flatten(value)
    if jax.tree_util.treedef_is_leaf(treedef):
        return False
    numbers = all(isinstance(x, (bool, int, float, np.generic)) for x in leaves)
    return not (type(value) is tuple and numbers)


def _whole_shape(shape: Any) -> TensorShape:
    wanted = TensorShape([shape] if isinstance(shape, int) else shape)
    if not wanted.is_fully_defined():
        _refuse("shape", wanted, "a variable keeps its shape; give all of it")
    return wanted


def _with_shape(value: Any, shape: TensorShape | None) -> Any:
    if shape is not None and not shape.is_compatible_with(value.shape):
        msg = (
            f"shape={shape} and an initial value of shape {value.shape}; leave `shape` "
            f"out, or give an initial value of this shape"
        )
        raise ValueError(msg)
    return value


def _refuse(argument: str, value: Any, instead: str) -> NoReturn:
    msg = f"tf.Variable({argument}={value!r}) is not supported: {instead}"
    raise NotImplementedError(msg)
