"""Host values on their way through a function that is compiled.

There are no strings on devices. What a program does with most of them is to hand them
on, so a trace gets stand-ins, and one program serves whatever strings come. A function
that looks at them all the same has to be traced with the strings themselves, and anew
for others; a stand-in says so by raising.
"""

from __future__ import annotations

from typing import Any, NoReturn

import jax

from replax._src.values.distributed import PerReplica

__all__ = ["LookedAtError", "Passing", "PassingPerReplica"]


class LookedAtError(Exception):
    """A traced function looks at a host value, and so depends on it."""


def _look(self: Any, *args: Any) -> NoReturn:
    del self, args
    raise LookedAtError


class Passing:
    """Stands for an array of strings or objects.

    Attributes:
      position: Which leaf of the arguments it stands for.
    """

    __slots__ = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position

    __getattr__ = _look
    __array__ = __len__ = __iter__ = __getitem__ = __contains__ = __bool__ = _look
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _look
    __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _look
    __sub__ = __rsub__ = __str__ = __repr__ = __format__ = _look
    __hash__ = object.__hash__


class PassingPerReplica(PerReplica):
    """Stands for a per-replica value whose components stay on the host.

    Attributes:
      position: Which leaf of the arguments it stands for.
    """

    __slots__ = ("position",)

    def __init__(self, position: int) -> None:
        super().__init__(())
        self.on_host = True
        self.position = position

    @property
    def values(self) -> NoReturn:
        """The components, which nobody knows while a function is traced."""
        raise LookedAtError


jax.tree_util.register_pytree_node(PassingPerReplica, _look, _look)
