"""``Hashing``: strings and whole numbers by their hash."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from replax._src.preprocessing.arrays import (
    is_on_device,
    module_of,
    with_dtype,
)
from replax._src.preprocessing.buckets import (
    as_salt,
    buckets_of_numbers,
    buckets_of_strings,
)
from replax._src.preprocessing.encoding import encoded, require_mode
from replax._src.preprocessing.layer import PreprocessingLayer
from replax._src.preprocessing.strings import as_bytes, flat_bytes, is_text

__all__ = ["Hashing"]

_MODES = ("int", "one_hot", "multi_hot", "count")
_ENCODING = "utf-8"
_WIDE = np.dtype(np.int64)


@final
class Hashing(PreprocessingLayer):
    """Gives each string or whole number one of a few numbers, by its hash.

    The numbers are TensorFlow's: FarmHash's ``Fingerprint64``, or SipHash with a salt,
    of strings, and of whole numbers as they are written in decimal. Of real numbers the
    whole part is hashed. It can be part of a model too, with numbers on devices.

    Args:
      num_bins: How many numbers there are.
      mask_value: What is missing: it alone gets the number 0.
      salt: Two numbers, or one, that the hash depends on.
      output_mode: ``"int"``, ``"one_hot"``, ``"multi_hot"`` or ``"count"``.
      sparse: Is False: all results are dense.
      base: ``name``, ``dtype`` and ``trainable``, as all layers of Keras take them.

    >>> import replax
    >>> hashing = replax.keras.layers.Hashing(num_bins=3)
    >>> hashing(["A", "B", "C", "D", "E"]).tolist()
    [1, 0, 1, 1, 2]
    """

    def __init__(
        self,
        num_bins: int,
        mask_value: Any = None,
        salt: Any = None,
        output_mode: str = "int",
        sparse: bool = False,
        **base: Any,
    ) -> None:
        self.output_mode = require_mode("Hashing", output_mode, _MODES)
        if base.get("dtype") is None:
            base["dtype"] = "int64" if self.output_mode == "int" else "float32"
        super().__init__(**base)
        if type(num_bins) is not int or num_bins < 1:
            msg = f"num_bins of Hashing is {num_bins!r}; give how many, 1 or more"
            raise ValueError(msg)
        if self.output_mode == "int" and self._dtype.kind not in "iu":
            msg = (
                f'dtype of Hashing is {self.dtype!r}, and with output_mode="int" it '
                f'gives whole numbers; give "int32" or "int64"'
            )
            raise ValueError(msg)
        if sparse:
            msg = "Hashing got sparse=True, and gives dense arrays; leave it out"
            raise ValueError(msg)
        self.num_bins = num_bins
        self.mask_value = mask_value
        self.salt = as_salt("Hashing", salt)

    def __call__(self, inputs: Any) -> Any:
        """The number of each string or number, encoded as ``output_mode`` says."""
        bins = self._bins(inputs)
        found = encoded(bins, self.output_mode, self.num_bins, self._dtype)
        return found[()] if isinstance(found, np.ndarray) else found

    def _bins(self, inputs: Any) -> Any:
        masked = self.mask_value is not None and self.num_bins > 1
        count = self.num_bins - masked
        if is_text(inputs):
            strings, shape = flat_bytes("Hashing", inputs, _ENCODING)
            bins = buckets_of_strings(strings, count, self.salt)
            if masked:
                mask = as_bytes(self.mask_value, _ENCODING)
                is_mask = np.array([string == mask for string in strings], bool)
                bins = np.where(is_mask, 0, bins + 1)
            return bins.reshape(shape)
        numbers = inputs if is_on_device(inputs) else np.asarray(inputs)
        xp = module_of(numbers)
        if numbers.dtype.kind == "b":
            # That is how TensorFlow writes them.
            both = buckets_of_strings([b"false", b"true"], count, self.salt)
            bins = with_dtype(xp.asarray(both)[numbers.astype(np.int32)], _WIDE)
        else:
            whole = xp.trunc(numbers) if numbers.dtype.kind == "f" else numbers
            bins = buckets_of_numbers(with_dtype(whole, _WIDE), count, self.salt)
        return xp.where(numbers == self.mask_value, 0, bins + 1) if masked else bins

    def get_config(self) -> dict[str, Any]:
        """What ``from_config`` makes the same layer of."""
        return {
            **self._base_config(),
            "num_bins": self.num_bins,
            "mask_value": self.mask_value,
            "salt": None if self.salt is None else list(self.salt),
            "output_mode": self.output_mode,
            "sparse": False,
        }
