"""How datasets are made: of arrays, numbers, generators, files, and of each other."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import jax
import numpy as np

from replax._src.core.errors import InvalidArgumentError, NotFoundError
from replax._src.core.specs import TensorSpec
from replax._src.dataset.node import Node
from replax._src.dataset.options import Options
from replax._src.dataset.planned import Planned, plan_of, require_alike, require_whole
from replax._src.dataset.shuffling import Chance
from replax._src.dataset.sources.generator import Generated
from replax._src.dataset.sources.names import file_names
from replax._src.dataset.sources.numbers import Numbers
from replax._src.dataset.sources.random import RandomNumbers
from replax._src.dataset.sources.slices import Slices
from replax._src.dataset.structure import ElementSpec
from replax._src.dataset.transformations.choose import Choose, Sample
from replax._src.dataset.transformations.shuffle import Shuffle
from replax._src.dataset.transformations.zip import Zip

__all__ = ["Opening"]


class Opening(Planned):
    """The ways to make a dataset."""

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Self:
        """A dataset of the rows of arrays.

        The rows are read from the arrays when they are needed, and not copied before:
        a ``numpy.memmap`` stays on the disk.

        Args:
          tensors: An array, or a nest of arrays of one length: tuples, dicts, named
            tuples. Lists are arrays. JAX arrays and columns of pandas are taken too.
          name: Accepted for TensorFlow's programs.

        >>> import replax
        >>> data = replax.data.Dataset.from_tensor_slices({"x": [1, 2], "y": [3, 4]})
        >>> [(int(e["x"]), int(e["y"])) for e in data]
        [(1, 3), (2, 4)]
        """
        del name
        return cls(Slices.of(cls.dialect.taken(tensors)))

    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> Self:
        """A dataset of one element: the value given.

        >>> import replax
        >>> replax.data.Dataset.from_tensors([1, 2]).element_spec
        TensorSpec(shape=(2,), dtype=int64)
        """
        del name
        return cls(Slices.of_one(cls.dialect.taken(tensors)))

    @classmethod
    def range(
        cls,
        *args: int,
        output_type: Any = np.int64,
        name: str | None = None,
    ) -> Self:
        """A dataset of consecutive numbers, with the arguments of Python's ``range``.

        >>> import replax
        >>> [int(x) for x in replax.data.Dataset.range(1, 10, 4)]
        [1, 5, 9]
        """
        del name
        if not 1 <= len(args) <= 3:
            msg = f"range takes a stop, or a start, a stop and a step; it got {args}"
            raise ValueError(msg)
        whole = [require_whole("range", arg) for arg in args]
        if whole[2:] == [0]:
            msg = f"range got {args}, and with a step of 0 nothing moves; give another"
            raise InvalidArgumentError(msg)
        numbers = builtins.range(*whole)
        return cls(
            Numbers(
                start=numbers.start,
                stop=numbers.stop,
                step=numbers.step,
                dtype=np.dtype(output_type),
            )
        )

    @classmethod
    def counter(
        cls,
        start: int = 0,
        step: int = 1,
        dtype: Any = np.int64,
        name: str | None = None,
    ) -> Self:
        """An endless dataset of numbers: ``start``, ``start + step``, and so on.

        >>> import replax
        >>> [int(x) for x in replax.data.Dataset.counter(10, 5).take(3)]
        [10, 15, 20]
        """
        del name
        return cls(
            Numbers(
                start=require_whole("counter", start),
                stop=None,
                step=require_whole("counter", step),
                dtype=np.dtype(dtype),
            )
        )

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Iterable[Any]],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Sequence[Any] | None = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Self:
        """A dataset of what a generator yields; it is started anew for each pass.

        Args:
          generator: A function that returns a generator, or anything to iterate over.
          output_types: The older way to say what it yields: a nest of dtypes,
          output_shapes: and of shapes.
          args: Arguments of the function.
          output_signature: A nest of ``TensorSpec``: what it yields. Each element is
            checked against it. Without one elements are taken as they come.
          name: Accepted for TensorFlow's programs.

        >>> import replax
        >>> def squares():
        ...     for i in range(4):
        ...         yield i * i
        >>> spec = replax.TensorSpec((), "int32")
        >>> data = replax.data.Dataset.from_generator(squares, output_signature=spec)
        >>> [int(x) for x in data]
        [0, 1, 4, 9]
        """
        del name
        if not callable(generator):
            msg = (
                f"from_generator got {generator!r}; give the function that makes the "
                f"generator, without calling it, because every pass starts a new one"
            )
            raise TypeError(msg)
        if output_signature is not None and output_types is not None:
            msg = (
                "from_generator got output_signature and output_types; the signature "
                "says both, so leave output_types and output_shapes out"
            )
            raise TypeError(msg)
        if output_types is not None:
            output_signature = _signature(output_types, output_shapes)
        signature = None
        if output_signature is not None:
            signature = ElementSpec.from_tree(output_signature)
            _require_specs(signature)
        return cls(Generated(make=_bound(generator, args), signature=signature))

    @classmethod
    def list_files(
        cls,
        file_pattern: Any,
        shuffle: bool | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Self:
        """A dataset of the names of the files that match patterns.

        Args:
          file_pattern: A pattern such as ``"data/*.tfrecord"``, or several.
          shuffle: Whether each pass has an order of its own (the default); without,
            they come in alphabetical order.
          seed: What the order depends on.
          name: Accepted for TensorFlow's programs.

        Raises:
          InvalidArgumentError: No file matches.

        >>> import pathlib, tempfile, replax
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> (folder / "a.txt").touch()
        >>> files = replax.data.Dataset.list_files(str(folder / "*.txt"))
        >>> [name.decode().endswith("a.txt") for name in files.as_numpy_iterator()]
        [True]
        """
        del name
        try:
            names = np.sort(file_names(file_pattern))
        except NotFoundError as error:
            raise InvalidArgumentError(str(error)) from None
        plan: Node = Slices.of(names)
        if shuffle is None or shuffle:
            plan = Shuffle(
                child=plan, buffer_size=len(names), chance=Chance(seed), reshuffle=True
            )
        return cls(plan)

    @classmethod
    def random(
        cls,
        seed: int | None = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """An endless dataset of random numbers from 0 to 2**32 - 1.

        >>> import replax
        >>> numbers = replax.data.Dataset.random(seed=1).take(2)
        >>> [int(x) for x in numbers] == [int(x) for x in numbers]
        True
        """
        del name
        return cls(
            RandomNumbers(
                chance=Chance(seed), reshuffle=bool(rerandomize_each_iteration)
            )
        )

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> Self:
        """A dataset whose elements are those of several datasets side by side.

        It is as long as the shortest of them.

        Args:
          *args: The datasets, or one nest of datasets.
          datasets: The same nest by name.
          name: Accepted for TensorFlow's programs.

        >>> import replax
        >>> numbers = replax.data.Dataset.range(3)
        >>> letters = replax.data.Dataset.from_tensor_slices(["a", "b"])
        >>> pairs = replax.data.Dataset.zip({"n": numbers, "l": letters})
        >>> [(int(e["n"]), str(e["l"])) for e in pairs]
        [(0, 'a'), (1, 'b')]
        """
        del name
        nest = args if len(args) > 1 else (*args, datasets)[0]
        leaves, treedef = jax.tree_util.tree_flatten(nest, is_leaf=_is_list)
        if any(map(_is_list, leaves)):
            msg = (
                f"zip got {nest!r}, and a list in an element of a dataset is an array; "
                f"give a tuple or a dict of datasets: Dataset.zip((first, second))"
            )
            raise TypeError(msg)
        if not leaves:
            msg = "zip got no datasets; give some: Dataset.zip((first, second))"
            raise TypeError(msg)
        parts = tuple(plan_of(leaf, "zip") for leaf in leaves)
        return cls(Zip(parts=parts, nest=treedef), _common_options(leaves))

    @classmethod
    def choose_from_datasets(
        cls,
        datasets: Sequence[Any],
        choice_dataset: Planned,
        stop_on_empty_dataset: bool = True,
    ) -> Self:
        """A dataset that takes each element from the dataset whose number comes next.

        Args:
          datasets: The datasets.
          choice_dataset: A dataset of their numbers.
          stop_on_empty_dataset: Whether it ends with the first of them that ends;
            otherwise the others go on.

        >>> import replax
        >>> from replax.data import Dataset
        >>> parts = [Dataset.from_tensors(i).repeat() for i in (10, 20)]
        >>> chosen = Dataset.choose_from_datasets(parts, Dataset.range(2).repeat(2))
        >>> [int(x) for x in chosen]
        [10, 20, 10, 20]
        """
        parts = _parts(datasets, "choose_from_datasets")
        return cls(
            Choose(
                parts=parts,
                choices=plan_of(choice_dataset, "choose_from_datasets"),
                stop_on_empty=stop_on_empty_dataset,
            ),
            _common_options(datasets),
        )

    @classmethod
    def sample_from_datasets(
        cls,
        datasets: Sequence[Any],
        weights: Sequence[float] | None = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Self:
        """A dataset that takes each element from one of several, drawn at random.

        Args:
          datasets: The datasets.
          weights: How often each is drawn, relative to the others; equal if not given.
          seed: What the draws depend on.
          stop_on_empty_dataset: Whether it ends with the first of them that ends;
            otherwise the others go on.
          rerandomize_each_iteration: Whether each pass has draws of its own; the
            default is that all have the same.

        >>> import replax
        >>> from replax.data import Dataset
        >>> parts = [Dataset.range(3), Dataset.range(10, 13)]
        >>> sorted(int(x) for x in Dataset.sample_from_datasets(parts, seed=1))
        [0, 1, 2, 10, 11, 12]
        """
        parts = _parts(datasets, "sample_from_datasets")
        shares = [1.0] * len(parts) if weights is None else [float(w) for w in weights]
        if len(shares) != len(parts) or min(shares) < 0 or not sum(shares):
            msg = (
                f"sample_from_datasets got {len(parts)} datasets and the weights "
                f"{weights}; give each a weight of 0 or more, and not all of them 0"
            )
            raise ValueError(msg)
        return cls(
            Sample(
                parts=parts,
                weights=shares,
                chance=Chance(seed),
                reshuffle=bool(rerandomize_each_iteration),
                stop_on_empty=stop_on_empty_dataset,
            ),
            _common_options(datasets),
        )


def _bound(
    generator: Callable[..., Iterable[Any]], args: Sequence[Any] | None
) -> Callable[[], Iterable[Any]]:
    if not args:
        return generator
    arguments = [arg if isinstance(arg, bytes) else np.asarray(arg)[()] for arg in args]

    def bound() -> Iterable[Any]:
        return generator(*arguments)

    bound.__name__ = getattr(generator, "__name__", "function")
    return bound


def _require_specs(signature: ElementSpec) -> None:
    for leaf in signature.leaves:
        if not isinstance(leaf, TensorSpec):
            msg = (
                f"output_signature has {leaf!r} in it; give a nest of "
                f"replax.TensorSpec(shape, dtype)"
            )
            raise TypeError(msg)


def _signature(types: Any, shapes: Any) -> Any:
    """A nest of specs, of a nest of dtypes and one of shapes."""
    if isinstance(types, tuple):
        parts = [None] * len(types) if shapes is None else shapes
        return tuple(
            _signature(t, s) for t, s in builtins.zip(types, parts, strict=True)
        )
    if isinstance(types, dict):
        return {
            key: _signature(value, None if shapes is None else shapes[key])
            for key, value in types.items()
        }
    return TensorSpec(shapes, types)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _parts(datasets: Sequence[Any], what: str) -> tuple[Node, ...]:
    if not datasets:
        msg = f"{what} got no datasets; give at least one"
        raise ValueError(msg)
    plans = tuple(plan_of(dataset, what) for dataset in datasets)
    require_alike(what, plans)
    return plans


def _common_options(datasets: Iterable[Planned]) -> Options:
    options = Options()
    for dataset in datasets:
        options = options.merge(dataset.chosen_options)
    return options
