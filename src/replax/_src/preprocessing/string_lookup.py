"""``StringLookup``: strings as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from replax._src.preprocessing.buckets import buckets_of_strings
from replax._src.preprocessing.index_lookup import IndexLookup, LookupOptions
from replax._src.preprocessing.strings import as_array_of_bytes, as_bytes, flat_bytes
from replax._src.preprocessing.vocabulary import StringTable

__all__ = ["StringLookup"]


@final
class StringLookup(IndexLookup):
    """Numbers strings by their place in a vocabulary.

    For use in ``Dataset.map``: there are no strings on devices. Strings may be ``str``
    or ``bytes``; those that it returns are ``bytes``, in arrays of objects.

    Args:
      max_tokens: How many numbers there may be at most, with those of special tokens.
      num_oov_indices: How many numbers unknown strings share, by their hash. With 0
        they are an error.
      mask_token: A string for what is missing: number 0, or no number in vectors.
      oov_token: What stands for unknown strings, in vocabularies and if inverted.
      vocabulary: The strings, or the name of a file with one a line. ``adapt`` finds
        them if it is not given.
      idf_weights: How much each string weighs, for ``tf_idf``.
      invert: Whether to give the strings of numbers.
      output_mode: ``"int"``, ``"one_hot"``, ``"multi_hot"``, ``"count"`` or
        ``"tf_idf"``.
      pad_to_max_tokens: Whether vectors have the length ``max_tokens`` in any case.
      sparse: Is False: all results are dense.
      encoding: Of ``str`` as ``bytes``.
      name: The name of the layer.
      salt: Two numbers, or one, that the hash of unknown strings depends on.
      base: ``dtype`` and ``trainable``, as all layers of Keras take them.

    >>> import replax
    >>> lookup = replax.keras.layers.StringLookup(vocabulary=["a", "b"])
    >>> data = replax.data.Dataset.from_tensor_slices(["b", "z", "a"]).batch(3)
    >>> [x.tolist() for x in data.map(lookup)]
    [[2, 0, 1]]
    """

    kind_of_inputs = "strings"

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: Any = None,
        oov_token: Any = "[UNK]",
        vocabulary: Any = None,
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        pad_to_max_tokens: bool = False,
        sparse: bool = False,
        encoding: str = "utf-8",
        name: str | None = None,
        salt: Any = None,
        **base: Any,
    ) -> None:
        self.encoding = encoding
        options = LookupOptions(
            max_tokens=max_tokens,
            num_oov_indices=num_oov_indices,
            mask_token=mask_token,
            oov_token=oov_token,
            invert=invert,
            output_mode=output_mode,
            pad_to_max_tokens=pad_to_max_tokens,
            salt=salt,
            oov_method=base.pop("oov_method", "floormod"),
        )
        base.update(name=name, sparse=sparse)
        super().__init__(options, vocabulary, idf_weights, base)

    def _as_token(self, value: Any) -> bytes:
        return as_bytes(value, self.encoding)

    def _shown(self, token: bytes) -> str:
        return token.decode(self.encoding)

    def _tokens_of_lines(self, lines: Sequence[bytes]) -> list[bytes]:
        return list(lines)

    def _flat(self, inputs: Any) -> tuple[list[bytes], tuple[int, ...]]:
        return flat_bytes(type(self).__name__, inputs, self.encoding)

    def _listed(self, tokens: list[bytes]) -> list[bytes]:
        return tokens

    def _new_table(self, numbers: dict[bytes, int], default: int) -> StringTable:
        return StringTable(numbers, default)

    def _buckets(self, tokens: list[bytes], count: int) -> np.ndarray:
        return buckets_of_strings(tokens, count, self.options.salt)

    def _array_of(self, tokens: list[bytes]) -> np.ndarray:
        return as_array_of_bytes(tokens, (len(tokens),))

    def get_config(self) -> dict[str, Any]:
        """What ``from_config`` makes the same layer of, vocabulary included."""
        return {**super().get_config(), "encoding": self.encoding}
