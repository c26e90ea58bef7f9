"""Matrices and vectors."""

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
