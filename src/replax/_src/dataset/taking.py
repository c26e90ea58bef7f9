"""Datasets of other libraries, taken as they are, and of files that they read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from replax._src.dataset.dataset import Dataset
from replax._src.dataset.foreign.array_record import array_records
from replax._src.dataset.foreign.parquet import parquet_rows
from replax._src.dataset.foreign.recognise import foreign_plan
from replax._src.dataset.planned import Planned
from replax._src.dataset.sources.names import file_names, path_of

__all__ = ["ArrayRecordDataset", "ParquetDataset", "as_dataset"]


def as_dataset(source: Any, *, element_spec: Any = None) -> Dataset:
    """A dataset of the elements of a dataset of another library, or of an iterable.

    What is taken, and what a saved position in it is:

    - ``tf.data.Dataset``: read in order. Going on from a position skips elements in
      TensorFlow, so the dataset has to give them in the same order again: shuffle here
      rather than there, or with a seed and ``reshuffle_each_iteration=False``.
    - ``grain.MapDataset``: read by number; a ``repeat`` has Grain's epochs as rounds.
    - ``grain.IterDataset``, ``DataLoader``: read in order, with Grain's positions.
    - ``torch.utils.data.Dataset`` with a length: read by number.
    - ``torch.utils.data.IterableDataset``, ``DataLoader``: read in order; going on
      skips elements, so the order has to be the same again. Tensors become arrays
      without a copy, and the lists that torch collates become tuples. Workers that
      torch forks from a process in which JAX computes may hang, of which JAX warns:
      give such a loader ``multiprocessing_context="forkserver"``.
    - ``datasets.Dataset`` of Hugging Face: read by number, many rows with one call.
    - ``datasets.IterableDataset``: read in order, with its own positions where they are
      exact; behind its ``shuffle`` elements are skipped.
    - An object with a length, ``[number]``, and no ``iter``, or with ``__getitems__``,
      such as a data source of Grain: read by number.
    - Any other iterable, or a function that returns one: each pass begins anew, and
      going on skips elements. An iterator, such as a generator, serves one pass.

    Args:
      source: One of these. A ``Dataset`` is returned as it is.
      element_spec: A nest of ``TensorSpec``: what the elements look like; each is
        checked. Where a source does not say it, and this is not given, the first
        element is looked at when it has to be known.

    Raises:
      TypeError: It is something else, or an array or a list: their rows are
        ``Dataset.from_tensor_slices``.

    >>> import replax
    >>> def squares():
    ...     for i in range(5):
    ...         yield {"x": i, "y": i * i}
    >>> for batch in replax.data.as_dataset(squares).batch(3):
    ...     print(batch["y"])
    [0 1 4]
    [ 9 16]
    """
    if isinstance(source, Dataset):
        if element_spec is not None:
            msg = f"{source!r} says what its elements are; leave element_spec out"
            raise TypeError(msg)
        return source
    if isinstance(source, Planned):
        return Dataset(source.plan, source.chosen_options)
    return Dataset(foreign_plan(source, element_spec))


class ParquetDataset(Dataset):
    """The rows of Parquet files, as dicts of their columns.

    They are read in order, row group by row group; ``shuffle`` with a buffer brings
    them out of order. Lists of numbers are arrays, structs are dicts. A value that is
    missing is NaN in columns of floats, and an error in others. It reads with pyarrow:
    ``pip install 'replax[parquet]'``.

    Args:
      paths: The name of a file, a pattern such as ``"data/*.parquet"``, or several.
      columns: The names of the columns to read; all if not given.

    Raises:
      NotFoundError: There is no such file.

    >>> import replax
    >>> rows = replax.data.ParquetDataset("train/*.parquet")
    Traceback (most recent call last):
        ...
    replax._src.core.errors.NotFoundError: no file matches 'train/*.parquet' ...
    """

    def __init__(self, paths: Any, columns: Sequence[str] | None = None) -> None:
        if isinstance(columns, str):
            msg = f"columns is {columns!r}; give a list of names: [{columns!r}]"
            raise TypeError(msg)
        super().__init__(parquet_rows(_names(paths), columns))


class ArrayRecordDataset(Dataset):
    """The records of ArrayRecord files, as ``bytes``, read by number.

    Shuffling, sharding and skipping read nothing. It reads with the package
    array_record: ``pip install array_record``.

    Args:
      paths: The name of a file, a pattern such as ``"data/*.array_record"``, or
        several.

    Raises:
      NotFoundError: There is no such file.

    >>> import replax
    >>> records = replax.data.ArrayRecordDataset("train/*.array_record")
    Traceback (most recent call last):
        ...
    replax._src.core.errors.NotFoundError: no file matches 'train/*.array_record' ...
    """

    def __init__(self, paths: Any) -> None:
        super().__init__(array_records(_names(paths)))


def _names(paths: Any) -> list[str]:
    return [path_of(name) for name in file_names(paths)]
