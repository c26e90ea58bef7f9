"""What functions of users do with the elements of a dataset."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, Self, TypeVar

from replax._src.dataset.calling import Caller, Threads
from replax._src.dataset.node import Node
from replax._src.dataset.planned import (
    Planned,
    plan_of,
    require_count,
    require_function,
    require_whole,
)
from replax._src.dataset.shuffling import Chance
from replax._src.dataset.sources.numbers import Numbers
from replax._src.dataset.sources.random import Keys, WithKey
from replax._src.dataset.structure import pair
from replax._src.dataset.transformations.filter import Filter
from replax._src.dataset.transformations.flat_map import Interleave
from replax._src.dataset.transformations.ignore_errors import IgnoreErrors
from replax._src.dataset.transformations.map import Map
from replax._src.dataset.transformations.prefetch import Prefetch
from replax._src.dataset.transformations.scan import Scan
from replax._src.dataset.transformations.zip import Zip

__all__ = ["AUTOTUNE", "READ_AHEAD", "Transforming", "workers_of"]

# As a number of parallel calls or of elements: choose one that suits the machine.
AUTOTUNE = -1

# How many elements of each open dataset an interleave with parallel calls reads ahead.
READ_AHEAD = 64

T = TypeVar("T")


class Transforming(Planned):
    """Methods that take functions, which get elements: tuples as their arguments."""

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """What a function makes of each element.

        The function gets NumPy arrays and numbers, and gives any nest of arrays.

        Args:
          map_func: The function.
          num_parallel_calls: How many calls to make at the same time, in threads;
            ``AUTOTUNE`` for as many as there are processors. Threads help functions
            that wait, or compute outside of Python; for others there are worker
            processes, see ``Options.worker_processes``.
          deterministic: Accepted; the order of elements is always kept.
          name: Accepted for TensorFlow's programs.

        >>> import replax
        >>> [int(x) for x in replax.data.Dataset.range(3).map(lambda x: x * 2)]
        [0, 2, 4]
        """
        del deterministic, name
        return self._then(
            Map(
                child=self._plan,
                function=require_function("map", map_func),
                caller=_threads(num_parallel_calls),
            )
        )

    def random_map(
        self,
        map_func: Callable[..., Any],
        seed: int | None = None,
        num_parallel_calls: int | None = None,
    ) -> Self:
        """What a function makes of each element and a key of random numbers.

        The key depends on the seed, the pass and the number of the element, and not on
        who makes it: the same picture is cropped in the same way whether one worker
        trains or eight do.

        Args:
          map_func: The function; the key is its last argument. It is an array of two
            numbers, such as ``jax.random.PRNGKey`` makes, which ``jax.random`` and
            ``numpy.random.default_rng`` take.
          seed: What the keys depend on. In the first pass the key of element ``i`` is
            ``jax.random.fold_in(jax.random.PRNGKey(seed), i)``.
          num_parallel_calls: As for ``map``.

        >>> import numpy as np, replax
        >>> def noisy(x, key):
        ...     return x + np.random.default_rng(key).normal()
        >>> data = replax.data.Dataset.range(3).random_map(noisy, seed=1)
        >>> data.element_spec
        TensorSpec(shape=(), dtype=float64)
        """
        keys = Keys(chance=Chance(seed))
        plan = Zip(parts=(self._plan, keys), nest=pair(), name="with_keys")
        return self._then(
            Map(
                child=plan,
                function=WithKey(require_function("random_map", map_func)),
                caller=_threads(num_parallel_calls),
                name="random_map",
            )
        )

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Self:
        """The elements for which a function is true.

        >>> import replax
        >>> [int(x) for x in replax.data.Dataset.range(5).filter(lambda x: x % 2 == 0)]
        [0, 2, 4]
        """
        del name
        return self._then(
            Filter(child=self._plan, predicate=require_function("filter", predicate))
        )

    def take_while(
        self, predicate: Callable[..., Any], name: str | None = None
    ) -> Self:
        """The elements before the first one for which a function is not true.

        >>> import replax
        >>> [int(x) for x in replax.data.Dataset.range(9).take_while(lambda x: x < 2)]
        [0, 1]
        """
        del name
        return self._then(
            Filter(
                child=self._plan,
                predicate=require_function("take_while", predicate),
                until_false=True,
            )
        )

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Self:
        """The elements of the datasets that a function makes, one after the other.

        >>> from replax.data import Dataset
        >>> rows = Dataset.range(1, 4).flat_map(lambda n: Dataset.range(n))
        >>> [int(x) for x in rows]
        [0, 0, 1, 0, 1, 2]
        """
        del name
        return self._then(
            Interleave(
                child=self._plan,
                make=_maker(map_func, "flat_map"),
                chance=Chance(None),
            )
        )

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """The elements of the datasets that a function makes, by turns.

        Args:
          map_func: The function.
          cycle_length: How many datasets are open at a time; as many as there are
            processors if not given.
          block_length: How many elements each gives when it is its turn; 1 if not
            given.
          num_parallel_calls: How many of the open datasets are read ahead in threads.
          deterministic: Accepted; the order of elements is always kept.
          name: Accepted for TensorFlow's programs.

        >>> from replax.data import Dataset
        >>> def thrice(n):
        ...     return Dataset.from_tensors(n).repeat(3)
        >>> mixed = Dataset.range(3).interleave(thrice, cycle_length=2)
        >>> [int(x) for x in mixed]
        [0, 1, 0, 1, 0, 1, 2, 2, 2]
        """
        del deterministic, name
        if cycle_length in (None, AUTOTUNE):
            cycle_length = os.cpu_count() or 1
        parallel = workers_of(num_parallel_calls, "num_parallel_calls")
        return self._then(
            Interleave(
                child=self._plan,
                make=_maker(map_func, "interleave", read_ahead=parallel is not None),
                chance=Chance(None),
                cycle_length=require_count("cycle_length", cycle_length, 1),
                block_length=require_count(
                    "block_length", 1 if block_length is None else block_length, 1
                ),
                name="interleave",
                parallel=parallel or 0,
            )
        )

    def scan(
        self,
        initial_state: Any,
        scan_func: Callable[..., Any],
        name: str | None = None,
    ) -> Self:
        """What a function makes of each element and the state it gave before.

        Args:
          initial_state: The state for the first element.
          scan_func: Takes the state and an element, and gives the next state and an
            element.
          name: Accepted for TensorFlow's programs.

        >>> from replax.data import Dataset
        >>> sums = Dataset.range(1, 5).scan(0, lambda total, x: (total + x, total + x))
        >>> [int(x) for x in sums]
        [1, 3, 6, 10]
        """
        del name
        return self._then(
            Scan(
                child=self._plan,
                initial=initial_state,
                function=require_function("scan", scan_func),
            )
        )

    def reduce(
        self,
        initial_state: Any,
        reduce_func: Callable[[Any, Any], Any],
        name: str | None = None,
    ) -> Any:
        """What a function makes of all elements, one after the other.

        >>> from replax.data import Dataset
        >>> int(Dataset.range(5).reduce(0, lambda total, x: total + x))
        10
        """
        del name
        require_function("reduce", reduce_func)
        state = initial_state
        for element in self:  # type: ignore[attr-defined]
            state = reduce_func(state, element)
        return state

    def enumerate(self, start: int = 0, name: str | None = None) -> Self:
        """Pairs of a number and an element.

        >>> from replax.data import Dataset
        >>> [(int(i), int(x)) for i, x in Dataset.range(7, 9).enumerate(start=1)]
        [(1, 7), (2, 8)]
        """
        del name
        numbers = Numbers(start=require_whole("enumerate", start), stop=None)
        return self._then(
            Zip(parts=(numbers, self._plan), nest=pair(), name=f"enumerate({start})")
        )

    def apply(self, transformation_func: Callable[[Self], T]) -> T:
        """What a function makes of the dataset as a whole.

        >>> from replax.data import Dataset
        >>> def halves(dataset):
        ...     return dataset.batch(2)
        >>> Dataset.range(4).apply(halves)
        <Dataset range(4).batch(2)>
        """
        return transformation_func(self)

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Self:
        """The elements that can be made; those that raise an error are left out.

        How many were left out is logged at the end.

        Args:
          log_warning: Whether to log each of them.
          name: Accepted for TensorFlow's programs.

        >>> from replax.data import Dataset
        >>> def checked(x):
        ...     if x == 1:
        ...         raise ValueError("a bad one")
        ...     return x
        >>> [int(x) for x in Dataset.range(3).map(checked).ignore_errors()]
        [0, 2]
        """
        del name
        return self._then(IgnoreErrors(child=self._plan, log_warning=log_warning))


def workers_of(count: int | None, name: str) -> int | None:
    """How many threads an argument asks for; None if for none."""
    if count is None:
        return None
    if count == AUTOTUNE:
        return os.cpu_count() or 1
    return require_count(name, count, 1)


def _threads(num_parallel_calls: int | None) -> Caller | None:
    workers = workers_of(num_parallel_calls, "num_parallel_calls")
    return None if workers is None else Threads(workers)


def _maker(
    function: Callable[..., Any], what: str, *, read_ahead: bool = False
) -> Callable[..., Node]:
    """The function of users, giving the plans of the datasets that it makes."""
    checked = require_function(what, function)

    @functools.wraps(checked, updated=())
    def make(*element: Any) -> Node:
        made = plan_of(checked(*element), f"the function of {what}")
        return Prefetch(child=made, buffer_size=READ_AHEAD) if read_ahead else made

    return make
