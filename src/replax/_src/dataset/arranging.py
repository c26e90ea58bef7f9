"""How elements are arranged: order, repetition, selection, keeping."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, Self

from replax._src.core.errors import InvalidArgumentError
from replax._src.dataset.options import SHARD_HINT
from replax._src.dataset.planned import (
    Planned,
    plan_of,
    require_alike,
    require_count,
    require_whole,
)
from replax._src.dataset.shuffling import Chance
from replax._src.dataset.storage import FileStore, MemoryStore
from replax._src.dataset.structure import as_leaf
from replax._src.dataset.transformations.assert_cardinality import AssertCardinality
from replax._src.dataset.transformations.cache import Cache
from replax._src.dataset.transformations.concatenate import Concatenate
from replax._src.dataset.transformations.prefetch import Prefetch
from replax._src.dataset.transformations.repeat import Repeat
from replax._src.dataset.transformations.select import Shard, Skip, Take
from replax._src.dataset.transformations.shuffle import Shuffle
from replax._src.dataset.transformations.unique import Unique
from replax._src.dataset.writing import written

__all__ = ["Arranging"]

# How many elements `prefetch(AUTOTUNE)` makes ahead.
_AUTOTUNED_PREFETCH = 2


class Arranging(Planned):
    """Methods that arrange elements and do not change them."""

    def shuffle(
        self,
        buffer_size: int | None,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """The elements in random order.

        Of arrays, numbers and other sources whose elements can be had by number only
        the numbers are shuffled; no rows are held. Other elements pass through a
        buffer.

        Args:
          buffer_size: From how many elements the next one is drawn; as many as there
            are, or None for just as many, for any order to be possible.
          seed: What the order depends on.
          reshuffle_each_iteration: Whether every pass has an order of its own, which
            is the default.
          name: Accepted for TensorFlow's programs.

        >>> from replax.data import Dataset
        >>> data = Dataset.range(4).shuffle(4, seed=1)
        >>> sorted(int(x) for x in data)
        [0, 1, 2, 3]
        """
        del name
        return self._then(
            Shuffle(
                child=self._plan,
                buffer_size=self._buffer_size(buffer_size),
                chance=Chance(seed),
                reshuffle=reshuffle_each_iteration is not False,
            )
        )

    def _buffer_size(self, buffer_size: int | None) -> int:
        size = self._plan.cardinality()
        if buffer_size is None and size > 0:
            return size
        return require_count("buffer_size", buffer_size, 1)

    def repeat(self, count: int | None = None, name: str | None = None) -> Self:
        """The elements several times over; without end if ``count`` is None or below 0.

        >>> from replax.data import Dataset
        >>> [int(x) for x in Dataset.range(2).repeat(2)]
        [0, 1, 0, 1]
        """
        del name
        rounds = -1 if count is None else require_whole("count", count)
        return self._then(
            Repeat(child=self._plan, count=None if rounds < 0 else rounds)
        )

    def take(self, count: int, name: str | None = None) -> Self:
        """The first elements; all of them if ``count`` is below 0.

        >>> from replax.data import Dataset
        >>> [int(x) for x in Dataset.range(5).take(2)]
        [0, 1]
        """
        del name
        return self._then(
            Take(child=self._plan, count=max(require_whole("count", count), -1))
        )

    def skip(self, count: int, name: str | None = None) -> Self:
        """All elements but the first; none of them if ``count`` is below 0.

        >>> from replax.data import Dataset
        >>> [int(x) for x in Dataset.range(5).skip(3)]
        [3, 4]
        """
        del name
        return self._then(
            Skip(child=self._plan, count=max(require_whole("count", count), -1))
        )

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Self:
        """Every ``num_shards``-th element, from number ``index`` on.

        Args:
          num_shards: How many shards there are. ``SHARD_HINT``, here and as the index,
            leaves both to a strategy that shares the dataset under the policy HINT;
            elsewhere such a dataset cannot be read.
          index: Which shard.
          name: Accepted for TensorFlow's programs.

        >>> from replax.data import Dataset
        >>> [int(x) for x in Dataset.range(7).shard(3, 1)]
        [1, 4]
        """
        del name
        if num_shards == index == SHARD_HINT:
            return self._then(Shard(child=self._plan, shards=SHARD_HINT, shard=0))
        shards = require_count("num_shards", num_shards, 1)
        shard = require_count("index", index, 0)
        if shard >= shards:
            msg = (
                f"shard got the index {shard} of {shards} shards; they are numbered "
                f"from 0 to {shards - 1}"
            )
            raise InvalidArgumentError(msg)
        return self._then(Shard(child=self._plan, shards=shards, shard=shard))

    def unique(self, name: str | None = None) -> Self:
        """The elements, whole numbers or strings, each of them once.

        >>> from replax.data import Dataset
        >>> [int(x) for x in Dataset.from_tensor_slices([1, 2, 1]).unique()]
        [1, 2]
        """
        del name
        return self._then(Unique(child=self._plan))

    def assert_cardinality(self, expected_cardinality: int) -> Self:
        """The same elements, which are as many as is said; else an error.

        It tells ``cardinality()`` and ``len()`` what they cannot know, as behind a
        ``filter``.

        >>> from replax.data import Dataset
        >>> evens = Dataset.range(6).filter(lambda x: x % 2 == 0)
        >>> len(evens.assert_cardinality(3))
        3
        """
        expected = require_count("expected_cardinality", expected_cardinality, 0)
        return self._then(AssertCardinality(child=self._plan, expected=expected))

    def concatenate(self, dataset: Any, name: str | None = None) -> Self:
        """The elements of this dataset, and then those of another.

        >>> from replax.data import Dataset
        >>> [int(x) for x in Dataset.range(2).concatenate(Dataset.range(8, 9))]
        [0, 1, 8]
        """
        del name
        second = plan_of(dataset, "concatenate")
        require_alike("concatenate", [self._plan, second])
        return self._then(Concatenate(first=self._plan, second=second))

    def cache(self, filename: Any = "", name: str | None = None) -> Self:
        """The elements of the first pass, kept for those that follow.

        Args:
          filename: A file to keep them in, which later runs of the program find again;
            in memory if not given.
          name: Accepted for TensorFlow's programs.

        >>> from replax.data import Dataset
        >>> data = Dataset.range(3).map(lambda x: x + 1).cache()
        >>> [int(x) for x in data] == [int(x) for x in data]
        True
        """
        del name
        path = str(as_leaf(filename)) if not isinstance(filename, Path) else filename
        store = FileStore(path) if path else MemoryStore()
        return self._then(Cache(child=self._plan, store=store))

    def snapshot(
        self, path: str, compression: str | None = "AUTO", name: str | None = None
    ) -> Self:
        """The elements, kept in a folder for this and for later runs.

        Other than a ``cache`` file, the folder keeps what several datasets have made:
        a dataset that is built in another way gets a file of its own.

        Args:
          path: The folder.
          compression: Accepted; elements are kept as they are.
          name: Accepted for TensorFlow's programs.

        >>> import tempfile
        >>> from replax.data import Dataset
        >>> folder = tempfile.mkdtemp()
        >>> [int(x) for x in Dataset.range(3).snapshot(folder)]
        [0, 1, 2]
        """
        del compression, name
        file = Path(path) / f"{zlib.crc32(written(self._plan).encode()):08x}.elements"
        return self._then(
            Cache(child=self._plan, store=FileStore(file), name="snapshot")
        )

    def prefetch(self, buffer_size: int, name: str | None = None) -> Self:
        """The same elements, some of which a thread makes while others are used.

        Args:
          buffer_size: How many; ``AUTOTUNE`` for a number that suits most.
          name: Accepted for TensorFlow's programs.

        >>> from replax.data import Dataset
        >>> [int(x) for x in Dataset.range(3).prefetch(2)]
        [0, 1, 2]
        """
        del name
        size = require_count("buffer_size", buffer_size, -1)
        if size == 0:
            return self._then(self._plan)
        ahead = _AUTOTUNED_PREFETCH if size == -1 else size
        return self._then(Prefetch(child=self._plan, buffer_size=ahead))
