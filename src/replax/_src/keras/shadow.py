"""Variables of Keras as variables of Replax, which compiled functions can lift."""

from __future__ import annotations

from typing import Any, final

import jax

from replax._src.keras import internals
from replax._src.keras.distribution import distributed
from replax._src.keras.functions import local_copy
from replax._src.topology.placement import replicated
from replax._src.topology.topology import Topology
from replax._src.values.create import Recipe
from replax._src.values.from_first import from_first_process
from replax._src.values.mirrored import MirroredVariable
from replax._src.values.plain import PlainVariable
from replax._src.values.storage import Leaves, Store
from replax._src.values.variable import Variable
from replax._src.values.vocabulary import (
    VariableAggregation,
    VariableSynchronization,
)

__all__ = ["shadow_of"]

_ATTRIBUTE = "_replax_shadow"


@final
class KerasStore(Store):
    """The array of a Keras variable: it stays where Keras looks for it.

    Args:
      variable: The Keras variable.
      topology: The replicas.
    """

    __slots__ = ("_given", "_seen", "variable")

    def __init__(self, variable: Any, topology: Topology) -> None:
        self.variable = variable
        # What Keras has, and what that is on all replicas.
        self._given: Any = None
        self._seen: Leaves = ()
        super().__init__(topology, parts_differ=False)

    # Keras hands its arrays out without telling anybody.
    exposed: Any = property(lambda self: True, lambda self, value: None)

    def _whole(self) -> Leaves:
        value = internals.raw_value(self.variable)
        if value is not self._given:
            self._put((self._on_replicas(value),))
        return self._seen

    def _put(self, leaves: Leaves | None) -> None:
        if leaves is not None:
            self._seen = leaves
            self._given = local_copy(leaves[0])
            internals.set_raw_value(self.variable, self._given)

    whole: Any = property(_whole, _put)

    def _on_replicas(self, value: jax.Array) -> jax.Array:
        wanted = self.topology.replicated
        if value.committed and value.sharding.is_equivalent_to(wanted, value.ndim):
            return value
        return replicated(value, self.topology)

    def set_part(self, index: int, leaves: Any) -> None:
        """Replaces what one replica has; Keras sees it at once."""
        super().set_part(index, leaves)
        self.whole = self._joined()


def shadow_of(variable: Any, topology: Topology) -> Variable:
    """The variable of Replax that has the array of a Keras variable.

    Args:
      variable: The Keras variable; if it has no array yet it is made now.
      topology: The replicas.
    """
    if internals.raw_value(variable) is None:
        with (
            internals.stateful(),
            jax.ensure_compile_time_eval(),
            distributed(topology),
        ):
            internals.initialize_all_variables()
    known: Variable | None = getattr(variable, _ATTRIBUTE, None)
    if known is not None and _is_of(known, variable) and known.topology is topology:
        return known
    shadow = _made(variable, topology)
    setattr(variable, _ATTRIBUTE, shadow)
    return shadow


def _is_of(shadow: Variable, variable: Any) -> bool:
    """Whether a shadow is not that of a variable from which this one was copied."""
    store = shadow.store
    return isinstance(store, KerasStore) and store.variable is variable


def _made(variable: Any, topology: Topology) -> Variable:
    value = internals.raw_value(variable)
    if topology.agreement is not None:
        with jax.ensure_compile_time_eval():
            (value,) = from_first_process([value], topology, variable.path)
        internals.set_raw_value(variable, value)
    like: Any = jax.ShapeDtypeStruct(value.shape, value.dtype)
    recipe = Recipe(
        treedef=jax.tree_util.tree_structure(0),
        leaves=(like,),
        name=variable.path,
        trainable=variable.trainable,
        synchronization=VariableSynchronization.ON_WRITE,
        aggregation=VariableAggregation.NONE,
        owned=False,
    )
    kind = PlainVariable if topology.is_single else MirroredVariable
    return kind.from_recipe(recipe, topology, KerasStore(variable, topology))
