"""``Normalization``: numbers with mean 0 and variance 1."""

from __future__ import annotations

import itertools
from typing import Any, final

import numpy as np

from replax._src.dataset.planned import Planned
from replax._src.input.distributed_dataset import DistributedDataset
from replax._src.preprocessing.arrays import module_of
from replax._src.preprocessing.layer import PreprocessingLayer
from replax._src.preprocessing.moments import Moments
from replax._src.preprocessing.reading import (
    batches_of,
    is_array,
    learned_everywhere,
)

__all__ = ["Normalization"]

# Keras's own: deviations smaller than this are taken for it.
_EPSILON = 1e-7


@final
class Normalization(PreprocessingLayer):
    """Subtracts the mean and divides by the standard deviation.

    It can be part of a model too.

    Args:
      axis: The axes that have a mean and a variance for each index; None for one of
        all data.
      mean: The mean, to be given together with the variance; ``adapt`` finds both if
        they are not given.
      variance: The variance.
      invert: Whether to do the opposite.
      base: ``name``, ``dtype`` and ``trainable``, as all layers of Keras take them.

    >>> import numpy as np, replax
    >>> scaled = replax.keras.layers.Normalization(axis=None)
    >>> scaled.adapt(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> scaled([1.0, 3.0]).tolist()
    [-1.41421..., 0.0]
    """

    def __init__(
        self,
        axis: Any = -1,
        mean: Any = None,
        variance: Any = None,
        invert: bool = False,
        **base: Any,
    ) -> None:
        super().__init__(**base)
        if axis is None:
            self.axis: tuple[int, ...] = ()
        else:
            self.axis = (axis,) if isinstance(axis, int) else tuple(axis)
        self.invert = invert
        # Along the axes that are kept, in their order.
        self.mean, self.variance = self._checked(mean, variance)

    def _checked(self, mean: Any, variance: Any) -> tuple[Any, Any]:
        if (mean is None) != (variance is None):
            msg = (
                f"Normalization got mean={mean} and variance={variance}; give both, or "
                f"none and let adapt() find both"
            )
            raise ValueError(msg)
        if mean is None:
            return None, None
        given = np.asarray(mean, np.float64), np.asarray(variance, np.float64)
        if given[0].shape != given[1].shape or given[0].ndim > len(self.axis):
            msg = (
                f"Normalization got a mean of shape {list(given[0].shape)} and a "
                f"variance of shape {list(given[1].shape)} for axis={self.axis}; give "
                f"both in one shape, which has at most one axis for each of these"
            )
            raise ValueError(msg)
        return given

    def adapt(self, data: Any, steps: int | None = None) -> None:
        """Finds the mean and the variance of data.

        Args:
          data: An array; a ``Dataset`` or any iterable of batches, of which the first
            part is taken if they are tuples; or a distributed dataset, of which each
            worker reads its share, and all get the moments of the whole. Elements of
            datasets that have one axis are rows.
          steps: How many batches to read; all if not given.
        """
        if is_array(data):
            batches = iter([data])
        else:
            batches = batches_of("Normalization", data, steps)
        rows = isinstance(data, (Planned, DistributedDataset))
        first = next(batches, None)
        if first is None:
            msg = (
                "Normalization.adapt got no data, of which it could find the mean; "
                "give at least one batch"
            )
            raise ValueError(msg)
        first = _values(first, rows=rows)
        kept = self._kept(first.ndim)
        moments = Moments(kept)
        shape = [first.shape[d] for d in kept]
        for batch in itertools.chain([first], (_values(b, rows=rows) for b in batches)):
            if batch.ndim != first.ndim or [batch.shape[d] for d in kept] != shape:
                msg = (
                    f"Normalization.adapt got a batch of shape {list(batch.shape)} "
                    f"after one of {list(first.shape)}, and axis={self.axis} has a "
                    f"mean for each index; give batches that agree there, or axis=None"
                )
                raise ValueError(msg)
            moments.add(batch)
        moments = learned_everywhere(moments, lambda: Moments(kept), data)
        self.mean, self.variance = moments.mean, moments.variance

    def _kept(self, ndim: int) -> tuple[int, ...]:
        """The axes that have a mean for each index, of an array with ``ndim`` axes."""
        if any(not -ndim <= axis < ndim for axis in self.axis):
            msg = (
                f"Normalization has axis={self.axis}, and got an array with {ndim} "
                f"axes; give axis=None for one mean of all data, or batches of rows"
            )
            raise ValueError(msg)
        return tuple(sorted(axis % ndim for axis in self.axis))

    def __call__(self, inputs: Any) -> Any:
        """The numbers scaled; as they are before there is a mean."""
        xp = module_of(inputs)
        values = xp.asarray(inputs).astype(self._dtype)
        if self.mean is None or self.variance is None:
            return values
        mean = self._along(self.mean, values.shape).astype(self._dtype)
        deviation = np.maximum(np.sqrt(self.variance.astype(np.float32)), _EPSILON)
        deviation = self._along(deviation, values.shape).astype(self._dtype)
        if self.invert:
            return values * deviation + mean
        return (values - mean) / deviation

    def _along(self, moment: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """A moment with axes of one where an array of a shape is averaged over."""
        kept = self._kept(len(shape))
        broad = [1] * len(shape)
        for axis, size in zip(reversed(kept), reversed(moment.shape), strict=False):
            if size not in (1, shape[axis]):
                msg = (
                    f"Normalization has means for {size} indices of axis {axis}, and "
                    f"got an array of shape {list(shape)}; give it arrays like those "
                    f"it has learned from"
                )
                raise ValueError(msg)
            broad[axis] = size
        return moment.reshape(broad)

    def get_config(self) -> dict[str, Any]:
        """What ``from_config`` makes the same layer of, mean and variance included."""
        return {
            **self._base_config(),
            "axis": list(self.axis),
            "invert": self.invert,
            "mean": None if self.mean is None else self.mean.tolist(),
            "variance": None if self.variance is None else self.variance.tolist(),
        }


def _values(batch: Any, *, rows: bool) -> np.ndarray:
    """The array of a batch, which may come with labels and weights."""
    values = np.asarray(batch[0] if isinstance(batch, tuple) else batch)
    return values[None] if rows and values.ndim == 1 else values
