"""Datasets, as users see them: plans with methods."""

from __future__ import annotations

import copy
import functools
from typing import Any, Self

from replax._src.core.errors import InvalidArgumentError
from replax._src.dataset.arranging import Arranging
from replax._src.dataset.batching import Batching
from replax._src.dataset.foreign.to_grain import as_grain
from replax._src.dataset.iterator import DatasetIterator
from replax._src.dataset.node import INFINITE, UNKNOWN, Node
from replax._src.dataset.opening import Opening
from replax._src.dataset.options import Options
from replax._src.dataset.processes import executed
from replax._src.dataset.transforming import Transforming
from replax._src.dataset.writing import count_in_words, drawn, written

__all__ = ["INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset"]

INFINITE_CARDINALITY = INFINITE
UNKNOWN_CARDINALITY = UNKNOWN


class Dataset(Opening, Transforming, Batching, Arranging):
    """Elements of one structure, described by the steps that make them.

    A dataset is a plan and cannot be changed; every method makes a new one. It can be
    iterated over any number of times, and printed: ``explain()`` shows the steps.

    >>> import numpy as np, replax
    >>> x, y = np.arange(6.0).reshape(3, 2), np.array([0, 1, 0])
    >>> dataset = replax.data.Dataset.from_tensor_slices((x, y)).batch(2)
    >>> for features, labels in dataset:
    ...     print(features.shape, labels)
    (2, 2) [0 1]
    (1, 2) [0]
    """

    def __iter__(self) -> DatasetIterator:
        return DatasetIterator(self._executed, self.dialect.given, self)

    @functools.cached_property
    def _executed(self) -> Node:
        return executed(self._plan, self._options)

    def as_numpy_iterator(self) -> DatasetIterator:
        """An iterator over the elements as NumPy arrays and numbers.

        >>> import replax
        >>> list(replax.data.Dataset.range(2).as_numpy_iterator())
        [np.int64(0), np.int64(1)]
        """
        return DatasetIterator(self._executed, None, self)

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element.

        >>> import replax
        >>> int(replax.data.Dataset.range(7).batch(7).get_single_element().sum())
        21
        """
        del name
        elements = [element for _, element in zip(range(2), self, strict=False)]
        if len(elements) != 1:
            how_many = "more than one element" if elements else "no elements"
            msg = (
                f"get_single_element of {written(self._plan)}, which has {how_many}; "
                f"bring them together with batch, or take(1)"
            )
            raise InvalidArgumentError(msg)
        return elements[0]

    @property
    def element_spec(self) -> Any:
        """A nest of ``TensorSpec``: what the elements look like.

        Behind a function of users it is found by calling the function with the first
        elements.
        """
        return self._plan.spec().tree()

    def cardinality(self, name: str | None = None) -> int:
        """How many elements there are.

        It is ``INFINITE_CARDINALITY`` or ``UNKNOWN_CARDINALITY`` where that is no
        number.
        """
        del name
        return self._plan.cardinality()

    def __len__(self) -> int:
        count = self._plan.cardinality()
        if count < 0:
            msg = (
                f"{written(self._plan)} has no length: it is of an "
                f"{count_in_words(count)} of elements; use cardinality()"
                if count == UNKNOWN
                else f"{written(self._plan)} has no length: it is endless"
            )
            raise TypeError(msg)
        return count

    def __bool__(self) -> bool:
        return True

    def options(self) -> Options:
        """The options of this dataset."""
        return copy.deepcopy(self._options)

    def with_options(self, options: Options, name: str | None = None) -> Self:
        """The same elements under other options.

        Args:
          options: What it says otherwise than the defaults replaces what was said
            before.
          name: Accepted for TensorFlow's programs.
        """
        del name
        if not isinstance(options, Options):
            msg = f"with_options got {options!r}; give a replax.data.Options()"
            raise TypeError(msg)
        merged = self._options.merge(copy.deepcopy(options))
        made: Any = self.made(self._plan, merged)
        return made

    def to_grain(self) -> Any:
        """The same elements as a dataset of Grain, for programs that read such.

        It is a ``grain.MapDataset`` if all steps can be read by number, with later
        passes as its later epochs, and otherwise a ``grain.IterDataset``, whose
        iterators have positions. It needs Grain: ``pip install 'replax[grain]'``.
        """
        return as_grain(self._executed, self.as_numpy_iterator)

    def explain(self) -> str:
        """The steps in words: what they are, how many elements, how they are read.

        >>> import replax
        >>> dataset = replax.data.Dataset.range(10).filter(lambda x: x > 2).batch(4)
        >>> print(dataset.explain())
        range(10)                     10  by number
        filter(<lambda>)  unknown number  in order
        batch(4)          unknown number  in order
        """
        return drawn(self._executed)

    def __repr__(self) -> str:
        return f"<Dataset {written(self._plan)}>"


Dataset.made = Dataset
