"""``Discretization``: real numbers by the range they are in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, final

import numpy as np

from replax._src.preprocessing.arrays import module_of
from replax._src.preprocessing.encoding import encoded, require_mode
from replax._src.preprocessing.layer import PreprocessingLayer
from replax._src.preprocessing.quantiles import Quantiles
from replax._src.preprocessing.reading import (
    batches_of,
    is_array,
    learned_everywhere,
)

__all__ = ["Discretization"]

_MODES = ("int", "one_hot", "multi_hot", "count")


@final
class Discretization(PreprocessingLayer):
    """Numbers the ranges that real numbers are in.

    It can be part of a model too.

    Args:
      bin_boundaries: Where a range ends and the next one begins, which has the
        boundary itself. The first range begins, and the last one ends, nowhere.
      num_bins: How many ranges of about equally many data ``adapt`` is to find.
      epsilon: How far, as a part of all data, these may be from being equal.
      output_mode: ``"int"``, ``"one_hot"``, ``"multi_hot"`` or ``"count"``.
      sparse: Is False: all results are dense.
      dtype: Of vectors; ranges have 32-bit numbers.
      name: The name of the layer.
      trainable: Taken as by all layers of Keras; there is nothing to train.

    >>> import replax
    >>> ranges = replax.keras.layers.Discretization(bin_boundaries=[0.0, 1.0])
    >>> ranges([-0.5, 0.0, 7.0]).tolist()
    [0, 1, 2]
    """

    def __init__(
        self,
        bin_boundaries: Any = None,
        num_bins: int | None = None,
        epsilon: float = 0.01,
        output_mode: str = "int",
        sparse: bool = False,
        dtype: Any = None,
        name: str | None = None,
        trainable: bool = True,
    ) -> None:
        super().__init__(name=name, dtype=dtype, trainable=trainable)
        self.output_mode = require_mode("Discretization", output_mode, _MODES)
        if (num_bins is None) == (bin_boundaries is None):
            msg = (
                f"Discretization got num_bins={num_bins} and bin_boundaries="
                f"{bin_boundaries}; give boundaries, or how many ranges adapt() is to "
                f"find"
            )
            raise ValueError(msg)
        if num_bins is not None and num_bins < 1:
            msg = f"num_bins of Discretization is {num_bins}; give 1 or more"
            raise ValueError(msg)
        if sparse:
            msg = "Discretization got sparse=True, and gives dense arrays; leave it out"
            raise ValueError(msg)
        self.num_bins = num_bins
        self.epsilon = epsilon
        self.bin_boundaries = (
            None if bin_boundaries is None else np.asarray(bin_boundaries).tolist()
        )

    def adapt(self, data: Any, steps: int | None = None) -> None:
        """Finds boundaries that part data into ``num_bins`` ranges.

        Args:
          data: An array; a ``Dataset`` or any iterable of batches; or a distributed
            dataset, of which each worker reads its share, and all get the boundaries
            of the whole.
          steps: How many batches to read; all if not given.
        """
        if self.num_bins is None:
            msg = (
                f"{self!r} was made with boundaries, and adapt() would replace them; "
                f"give num_bins in place of bin_boundaries"
            )
            raise ValueError(msg)
        quantiles = Quantiles(self.epsilon)
        batches = (
            [data] if is_array(data) else batches_of("Discretization", data, steps)
        )
        for batch in batches:
            quantiles.add(np.asarray(batch))
        quantiles = learned_everywhere(quantiles, lambda: Quantiles(self.epsilon), data)
        if quantiles.is_empty:
            msg = (
                "Discretization.adapt got no data, of which it could find boundaries; "
                "give at least one batch"
            )
            raise ValueError(msg)
        self._use(quantiles.boundaries(self.num_bins))

    def _use(self, boundaries: list[float]) -> None:
        self.bin_boundaries = boundaries

    def __call__(self, inputs: Any) -> Any:
        """The range of each number, encoded as ``output_mode`` says."""
        if self.bin_boundaries is None:
            msg = (
                f"{self!r} has no boundaries yet; give bin_boundaries=..., or call "
                f"adapt() first"
            )
            raise RuntimeError(msg)
        xp = module_of(inputs)
        # Data and boundaries are compared as numbers of 32 bits, as in TensorFlow.
        numbers = xp.asarray(inputs).astype(np.float32)
        ranges = xp.searchsorted(
            xp.asarray(self.bin_boundaries, np.float32), numbers, side="right"
        )
        mode = self.output_mode
        dtype = np.dtype(np.int32) if mode == "int" else self._dtype
        found = encoded(ranges, mode, len(self.bin_boundaries) + 1, dtype)
        return found[()] if isinstance(found, np.ndarray) else found

    def get_config(self) -> dict[str, Any]:
        """What ``from_config`` makes the same layer of, boundaries included."""
        return {
            **self._base_config(),
            "bin_boundaries": self.bin_boundaries,
            "num_bins": self.num_bins,
            "epsilon": self.epsilon,
            "output_mode": self.output_mode,
            "sparse": False,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """A layer of what ``get_config`` has returned.

        Args:
          config: It; that of Keras's layer of the same name is taken too.
        """
        boundaries = config["bin_boundaries"]
        if config["num_bins"] is None or boundaries is None:
            return cls(**config)
        # It has been adapted, and can be again.
        arguments: dict[str, Any] = {**config, "bin_boundaries": None}
        layer = cls(**arguments)
        layer._use(list(boundaries))
        return layer
