"""Checkpoints of variables and other values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from replax._src.checkpoint import contents, folders, foreign, restoring
from replax._src.checkpoint.restoring import Restoration
from replax._src.checkpoint.saved import Leaf, Path, nested
from replax._src.checkpoint.status import RestoreStatus
from replax._src.core import host
from replax._src.replica import scope
from replax._src.topology.topology import Topology
from replax._src.values.create import Recipe
from replax._src.values.plain import PlainVariable
from replax._src.values.variable import Variable
from replax._src.values.vocabulary import (
    VariableAggregation,
    VariableSynchronization,
)

__all__ = ["Checkpoint"]

_COUNTER = "save_counter"


class Checkpoint(contents.Tracked):
    """Saves variables and other values by their names, and restores them.

    What is saved are the attributes: variables of every kind, numbers, texts, arrays,
    trees of these, dicts with texts as keys, lists, other checkpoints, and objects that
    have variables as attributes, which models of Keras and Flax NNX are too. A class of
    your own may derive from this one.

    A variable is saved as the one value that it has between steps, so it can be
    restored under another strategy and with another number of replicas. Variables,
    dicts, lists and objects are restored in place; a number, an array or a tuple cannot
    be changed in place, and is found in the checkpoint afterwards: ``checkpoint.step``.

    With several workers each saves and restores by itself, and all do both, because
    variables that are synchronized on read are read together. Workers of which all see
    the same folder may give the same path.

    Args:
      root: An object whose own attributes are saved as if they were the checkpoint's.
      **kwargs: The first attributes.

    >>> import tempfile
    >>> import replax
    >>> weight = replax.Variable([1.0, 2.0])
    >>> checkpoint = replax.train.Checkpoint(weight=weight, epoch=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = checkpoint.save(f"{folder}/ck")
    ...     _ = weight.assign([0.0, 0.0])
    ...     _ = checkpoint.restore(path)
    >>> weight.numpy()
    array([1., 2.], dtype=float32)
    """

    # Of the class too: a subclass need not call `__init__`.
    _waiting: Mapping[str, tuple[Restoration, Path]] = MappingProxyType({})
    _counter: Variable | None = None
    _root: Any = None

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._root = root
        if root is not None and contents.children(root) is None:
            msg = (
                f"Checkpoint got {root!r} as its root; give an object, a dict, a list "
                f"or a checkpoint, or name it: Checkpoint(value=...)"
            )
            raise TypeError(msg)
        for name, value in kwargs.items():
            setattr(self, name, value)

    if TYPE_CHECKING:
        # Attributes have the names that the user gives them.
        def __getattr__(self, name: str) -> Any: ...

    # --- attributes -------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        if name == _COUNTER:
            msg = (
                f"save_counter of a checkpoint was to be set to {value!r}, but it is "
                f"the checkpoint's own; use another name, or save_counter.assign"
            )
            raise ValueError(msg)
        contents.check_savable(value, (name,))
        if name in self._waiting:
            restoration, path = self._waiting[name]
            value = restoration.give(value, path)
            self._waiting = {k: v for k, v in self._waiting.items() if k != name}
        object.__setattr__(self, name, value)

    def tracked(self) -> dict[str, Any]:
        """The attributes that are saved, by name."""
        own = {k: v for k, v in vars(self).items() if not k.startswith("_")}
        if self._root is None:
            return own
        return {**(contents.children(self._root) or {}), **own}

    def expect(self, name: str, restoration: Restoration, path: Path) -> None:
        """Notes that an attribute, once set, gets its value of a restore."""
        self._waiting = {**self._waiting, name: (restoration, path)}

    def replace(self, name: str, value: Any) -> None:
        """Sets an attribute to what was restored."""
        if self._root is None or name in vars(self):
            object.__setattr__(self, name, value)
        else:
            restoring.setter(self._root, name)(value)

    @property
    def save_counter(self) -> Variable:
        """How often ``save`` was called, restores included: a variable."""
        if self._counter is None:
            self._counter = _new_counter()
        return self._counter

    # --- saving -----------------------------------------------------------------

    def save(self, file_prefix: str | os.PathLike[str], options: Any = None) -> str:
        """Saves under the next number.

        Args:
          file_prefix: The path without the number: ``"/tmp/run/ck"``.
          options: Accepted; what they choose in TensorFlow does not exist here.

        Returns:
          The path to restore from: ``"/tmp/run/ck-1"``.
        """
        _refuse_step("save")
        counter = self.save_counter
        number = int(counter.numpy()) + 1
        path = self._write(f"{os.fspath(file_prefix)}-{number}", number)
        counter.assign(number)
        del options
        return path

    def write(self, file_prefix: str | os.PathLike[str], options: Any = None) -> str:
        """Saves under exactly this path, and does not count it.

        A checkpoint that is there already is replaced when the new one is complete.

        Args:
          file_prefix: The path.
          options: Accepted; what they choose in TensorFlow does not exist here.

        Returns:
          The path.
        """
        del options
        _refuse_step("write")
        return self._write(os.fspath(file_prefix), None)

    def _write(self, path: str, number: int | None) -> str:
        from replax._src.checkpoint import storage  # noqa: PLC0415  # loads orbax

        folder = folders.replaceable(path)
        contents.check_not_empty(self, ())
        leaves, same = _collected(self)
        if number is not None:
            leaves[_COUNTER,] = Leaf(number)
        storage.write(folder, leaves, same)
        return path

    # --- restoring --------------------------------------------------------------

    def restore(
        self, save_path: str | os.PathLike[str] | None, options: Any = None
    ) -> RestoreStatus:
        """Restores what ``save`` saved.

        Attributes that are set later get their values then. Of an object, a dict or a
        list, later variables get theirs when the status is asked whether all is
        restored.

        Args:
          save_path: What ``save`` or ``latest_checkpoint`` returned. With None nothing
            is done.
          options: Accepted; what they choose in TensorFlow does not exist here.

        Returns:
          What says whether program and checkpoint have the same values.

        Raises:
          NotFoundError: There is no such checkpoint.
          InvalidArgumentError: A value has another shape or dtype than the one that it
            is to replace. Nothing has been restored then.
        """
        del options
        _refuse_step("restore")
        if save_path is None:
            return RestoreStatus(self, None)
        from replax._src.checkpoint import storage  # noqa: PLC0415  # loads orbax

        folder = folders.existing(save_path)
        names = nested(storage.read(folder))
        number = names.pop(_COUNTER, None)
        restoration = Restoration(names, f"checkpoint {str(folder)!r}")
        self._waiting = {}
        restoration.give(self)
        if isinstance(number, Leaf):
            self.save_counter.assign(number.value)
        return RestoreStatus(self, restoration)

    def read(
        self, save_path: str | os.PathLike[str], options: Any = None
    ) -> RestoreStatus:
        """Restores what ``write`` wrote; see :meth:`restore`."""
        return self.restore(save_path, options)


def _new_counter() -> Variable:
    """Belongs to no strategy, so that it can be counted in every scope."""
    zero = jnp.zeros((), jax.dtypes.canonicalize_dtype("int64"))
    leaves, treedef = jax.tree_util.tree_flatten(zero)
    recipe = Recipe(
        treedef=treedef,
        leaves=tuple(leaves),
        name=_COUNTER,
        trainable=False,
        synchronization=VariableSynchronization.ON_WRITE,
        aggregation=VariableAggregation.NONE,
        owned=False,
    )
    return PlainVariable.from_recipe(recipe, Topology.of_default_device())


def _collected(checkpoint: Checkpoint) -> tuple[dict[Path, Leaf], dict[Path, Path]]:
    """The values by their paths, and further paths of the same variables."""
    leaves: dict[Path, Leaf] = {}
    same: dict[Path, Path] = {}
    first: dict[int, Path] = {}
    for where, value in contents.gathered(checkpoint):
        if foreign.is_foreign_variable(value):
            array = foreign.value_of(value)
            leaves[where] = contents.array_leaf(array, of_variable=True)
        elif not isinstance(value, Variable):
            leaves[where] = contents.as_leaf(value)
        else:
            names = contents.parts_of_variable(value)
            before = first.setdefault(id(value), where)
            if before != where:
                same |= {(*where, *name): (*before, *name) for name in names}
                continue
            for name, leaf in zip(names, _read(value), strict=True):
                leaves[*where, *name] = contents.array_leaf(leaf, of_variable=True)
    return leaves, same


def _read(variable: Variable) -> list[Any]:
    """The leaves of the value between steps."""
    if any(host.is_key(spec.dtype) for spec in variable.specs):
        return variable.treedef.flatten_up_to(variable.read_value())
    return variable.treedef.flatten_up_to(variable.numpy())


def _refuse_step(verb: str) -> None:
    here = scope.current()
    in_step = here is not None and here.replica is not None
    if in_step or scope.current_frame() is not None:
        msg = (
            f"{verb} of a checkpoint inside of a step or of a function that is being "
            f"compiled; {verb} between the calls of strategy.run and replax.function"
        )
        raise RuntimeError(msg)
