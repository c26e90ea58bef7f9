"""Variables of one value on one device."""

from __future__ import annotations

from typing import final

from replax._src.core import jax_compat
from replax._src.replica import scope
from replax._src.values.variable import Variable

__all__ = ["PlainVariable"]


@final
class PlainVariable(Variable):
    """A variable of one value on one device."""

    def __repr__(self) -> str:
        if scope.current_frame() is not None or jax_compat.is_staging():
            return f"<Variable {self._summary()}>"
        return self._shown(self._store.parts()[0])
