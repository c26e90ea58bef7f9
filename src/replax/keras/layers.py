"""Layers that prepare data, in ``Dataset.map`` and in models; without TensorFlow."""

from replax._src.preprocessing.category_encoding import CategoryEncoding
from replax._src.preprocessing.discretization import Discretization
from replax._src.preprocessing.hashing import Hashing
from replax._src.preprocessing.integer_lookup import IntegerLookup
from replax._src.preprocessing.normalization import Normalization
from replax._src.preprocessing.string_lookup import StringLookup

__all__ = [
    "CategoryEncoding",
    "Discretization",
    "Hashing",
    "IntegerLookup",
    "Normalization",
    "StringLookup",
]
