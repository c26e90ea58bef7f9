"""``IntegerLookup``: whole numbers, such as ids, as numbers without gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from replax._src.core.errors import InvalidArgumentError
from replax._src.preprocessing.arrays import is_on_device
from replax._src.preprocessing.buckets import buckets_of_numbers
from replax._src.preprocessing.index_lookup import IndexLookup, LookupOptions
from replax._src.preprocessing.vocabulary import NumberTable

__all__ = ["IntegerLookup"]


@final
class IntegerLookup(IndexLookup):
    """Numbers whole numbers by their place in a vocabulary.

    It can be part of a model too, with whole numbers on devices.

    Args:
      max_tokens: How many numbers there may be at most, with those of special tokens.
      num_oov_indices: How many numbers unknown tokens share. With 0 they are an error;
        on devices, where there are no errors, they are -1, or zeros in vectors.
      mask_token: A token for what is missing: number 0, or no number in vectors.
      oov_token: What stands for unknown tokens, in vocabularies and if inverted.
      vocabulary: The tokens, or the name of a file with one a line. ``adapt`` finds
        them if it is not given.
      vocabulary_dtype: Is ``"int64"``.
      idf_weights: How much each token weighs, for ``tf_idf``.
      invert: Whether to give the tokens of numbers.
      output_mode: ``"int"``, ``"one_hot"``, ``"multi_hot"``, ``"count"`` or
        ``"tf_idf"``.
      sparse: Is False: all results are dense.
      pad_to_max_tokens: Whether vectors have the length ``max_tokens`` in any case.
      oov_method: Which of several numbers an unknown token gets: ``"floormod"`` for
        the remainder, ``"farmhash"`` by its hash.
      salt: Two numbers, or one, that the hash depends on.
      name: The name of the layer.
      base: ``dtype`` and ``trainable``, as all layers of Keras take them.

    >>> import replax
    >>> lookup = replax.keras.layers.IntegerLookup(vocabulary=[900, 700])
    >>> lookup([700, 900, 5]).tolist()
    [2, 1, 0]
    """

    kind_of_inputs = "numbers"

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: int | None = None,
        oov_token: int | None = -1,
        vocabulary: Any = None,
        vocabulary_dtype: str = "int64",
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        sparse: bool = False,
        pad_to_max_tokens: bool = False,
        oov_method: str = "floormod",
        salt: Any = None,
        name: str | None = None,
        **base: Any,
    ) -> None:
        if vocabulary_dtype != "int64":
            msg = (
                f"vocabulary_dtype of IntegerLookup is {vocabulary_dtype!r}; tokens of "
                f'any integer dtype are looked up as "int64", so leave it out'
            )
            raise ValueError(msg)
        if salt is not None and oov_method != "farmhash":
            msg = (
                f"IntegerLookup got salt={salt!r}, and unknown tokens are not hashed; "
                f'give oov_method="farmhash" with it'
            )
            raise ValueError(msg)
        options = LookupOptions(
            max_tokens=max_tokens,
            num_oov_indices=num_oov_indices,
            mask_token=mask_token,
            oov_token=oov_token,
            invert=invert,
            output_mode=output_mode,
            pad_to_max_tokens=pad_to_max_tokens,
            salt=salt,
            oov_method=oov_method,
        )
        base.update(name=name, sparse=sparse)
        super().__init__(options, vocabulary, idf_weights, base)

    def _as_token(self, value: Any) -> int:
        number = int(value)
        if number != value:
            msg = f"IntegerLookup got the token {value!r}, which is no whole number"
            raise ValueError(f"{msg}; round it, or use Discretization")
        return number

    def _shown(self, token: int) -> int:
        return token

    def _tokens_of_lines(self, lines: Sequence[bytes]) -> list[int]:
        try:
            return [int(line) for line in lines]
        except ValueError as error:
            msg = (
                f"a line of the vocabulary file of IntegerLookup is no whole number: "
                f"{error}; for strings use StringLookup"
            )
            raise InvalidArgumentError(msg) from None

    def _flat(self, inputs: Any) -> tuple[Any, tuple[int, ...]]:
        array = inputs if is_on_device(inputs) else np.asarray(inputs)
        if array.dtype.kind not in "iubf" and array.size:
            msg = (
                f"IntegerLookup got an array of {array.dtype.name}, and takes whole "
                f"numbers; for strings use StringLookup"
            )
            raise TypeError(msg)
        shape = array.shape
        if is_on_device(array):
            integers = array if array.dtype.kind == "i" else array.astype(np.int32)
            return integers.reshape(-1), shape
        return array.reshape(-1).astype(np.int64, copy=False), shape

    def _listed(self, tokens: Any) -> list[int]:
        return np.asarray(tokens).tolist()

    def _new_table(self, numbers: dict[int, int], default: int) -> NumberTable:
        return NumberTable(numbers, default)

    def _buckets(self, tokens: Any, count: int) -> Any:
        if self.options.oov_method == "farmhash":
            return buckets_of_numbers(tokens, count, self.options.salt)
        return tokens % count

    def _array_of(self, tokens: list[int]) -> np.ndarray:
        return np.array(tokens, np.int64)

    def get_config(self) -> dict[str, Any]:
        """What ``from_config`` makes the same layer of, vocabulary included."""
        return {**super().get_config(), "vocabulary_dtype": "int64"}
