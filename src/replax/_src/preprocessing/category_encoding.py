"""``CategoryEncoding``: categories as vectors."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from replax._src.core.errors import InvalidArgumentError
from replax._src.preprocessing.arrays import is_on_device, module_of, with_dtype
from replax._src.preprocessing.encoding import encoded, require_mode
from replax._src.preprocessing.layer import PreprocessingLayer

__all__ = ["CategoryEncoding"]

_MODES = ("one_hot", "multi_hot", "count")


@final
class CategoryEncoding(PreprocessingLayer):
    """Makes vectors of whole numbers below a known one.

    It can be part of a model too. Numbers that are too great are an error; on devices,
    where there are no errors, they give zeros.

    Args:
      num_tokens: How many categories there are, and how long the vectors.
      output_mode: ``"one_hot"`` for a vector in place of each number;
        ``"multi_hot"`` or ``"count"`` for one in place of all along the last axis.
      sparse: Is False: all results are dense.
      base: ``name``, ``dtype`` and ``trainable``, as all layers of Keras take them.

    >>> import replax
    >>> encoding = replax.keras.layers.CategoryEncoding(4, output_mode="count")
    >>> encoding([[0, 1], [3, 3]]).tolist()
    [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0]]
    """

    def __init__(
        self,
        num_tokens: int | None = None,
        output_mode: str = "multi_hot",
        sparse: bool = False,
        **base: Any,
    ) -> None:
        super().__init__(**base)
        self.output_mode = require_mode("CategoryEncoding", output_mode, _MODES)
        if type(num_tokens) is not int or num_tokens < 1:
            msg = (
                f"num_tokens of CategoryEncoding is {num_tokens!r}; give how many "
                f"categories there are, or use IntegerLookup, which finds them"
            )
            raise ValueError(msg)
        if sparse:
            msg = (
                "CategoryEncoding got sparse=True, and gives dense arrays; leave it out"
            )
            raise ValueError(msg)
        self.num_tokens = num_tokens

    def __call__(self, inputs: Any, count_weights: Any = None) -> Any:
        """The vectors.

        Args:
          inputs: The numbers.
          count_weights: How much each number counts, for ``"count"``.
        """
        xp = module_of(inputs)
        numbers = with_dtype(xp.asarray(inputs), np.dtype(np.int64))
        if count_weights is not None:
            if self.output_mode != "count":
                msg = (
                    f'CategoryEncoding got count_weights with output_mode="'
                    f'{self.output_mode}", which counts nothing; give '
                    f'output_mode="count"'
                )
                raise ValueError(msg)
            count_weights = xp.asarray(count_weights).astype(self._dtype)
        if not is_on_device(numbers):
            self._require_known(numbers)
        return encoded(
            numbers, self.output_mode, self.num_tokens, self._dtype, count_weights
        )

    def _require_known(self, numbers: np.ndarray) -> None:
        wrong = numbers[(numbers < 0) | (numbers >= self.num_tokens)]
        if wrong.size:
            msg = (
                f"CategoryEncoding got {wrong.flat[0]}, and has {self.num_tokens} "
                f"categories, 0 to {self.num_tokens - 1}; give a greater num_tokens, "
                f"or number them with IntegerLookup"
            )
            raise InvalidArgumentError(msg)

    def get_config(self) -> dict[str, Any]:
        """What ``from_config`` makes the same layer of."""
        return {
            **self._base_config(),
            "num_tokens": self.num_tokens,
            "output_mode": self.output_mode,
        }
