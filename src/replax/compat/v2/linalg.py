"""Matrices and vectors."""

from replax._src.compat.advice import advice_for_attribute as _advice
from replax._src.compat.arithmetic import matmul
from replax._src.compat.filling import eye
from replax._src.compat.linear import (
    det,
    diag,
    diag_part,
    einsum,
    inv,
    matvec,
    norm,
    tensordot,
)
from replax._src.core.loading import loaded_later as _loaded_later

__all__ = [
    "det",
    "diag",
    "diag_part",
    "einsum",
    "eye",
    "inv",
    "matmul",
    "matvec",
    "norm",
    "tensordot",
]


def __getattr__(name: str) -> object:
    return _loaded_later(__name__, name, {}, _advice)
