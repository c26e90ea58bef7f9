"""Random datasets, each with the list of its elements as plain Python makes it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np

import naive
from replax.data import Dataset

Draw = Callable[[st.SearchStrategy[Any]], Any]
Step = Callable[[Draw, "Plan"], "Plan"]

MOST = 60  # elements of a plan
_counts = st.integers(1, 7)


@dataclasses.dataclass(frozen=True)
class Plan:
    """A dataset and what it means.

    Attributes:
      build: Makes the dataset, a new one each time.
      elements: What its elements are, before anything is put into random order.
      words: The steps, for the reports of failures.
      indexed: Whether the plan can be read by number, for all that tests know.
      in_order: Whether the elements come in this order.
      ragged: Whether the elements of the source, or batches of them, have different
        lengths in an order of their own.
    """

    build: Callable[[], Dataset]
    elements: list[Any]
    words: str
    indexed: bool = True
    in_order: bool = True
    ragged: bool = False

    def __repr__(self) -> str:
        return f"Plan({self.words})"

    def then(
        self,
        words: str,
        step: Callable[[Dataset], Dataset],
        elements: list[Any],
        **changes: bool,
    ) -> Plan:
        build = self.build
        plan = dataclasses.replace(
            self,
            build=lambda: step(build()),
            elements=elements,
            words=f"{self.words}.{words}",
            **changes,
        )
        if len(elements) > MOST:
            return take(plan, MOST)
        return plan


def take(plan: Plan, count: int) -> Plan:
    kept = plan.elements if count < 0 else plan.elements[:count]
    return plan.then(f"take({count})", lambda d: d.take(count), kept)


# ---------------------------------------------------------------------------- sources


def _range(draw: Draw) -> Plan:
    start, size, step = draw(st.integers(-5, 5)), draw(st.integers(0, 30)), 3
    stop = start + step * size
    elements = [np.int64(i) for i in range(start, stop, step)]
    return Plan(lambda: Dataset.range(start, stop, step), elements, f"range({size})")


def _slices(draw: Draw) -> Plan:
    size = draw(st.integers(1, 20))
    numbers = np.arange(size, dtype=np.int32)
    rows = np.arange(size * 3, dtype=np.float32).reshape(size, 3) / 2
    strings = np.empty(size, object)
    strings[:] = [b"s" * (i % 4) for i in range(size)]
    nest: Any = draw(
        st.sampled_from(
            [
                (numbers, rows),
                {"b": rows, "a": numbers},
                (numbers, {"text": strings}),
                rows,
                strings,
                ((numbers, rows), numbers > 2),
            ]
        )
    )
    elements = naive.rows(nest)
    return Plan(lambda: Dataset.from_tensor_slices(nest), elements, "slices")


def _generator(draw: Draw) -> Plan:
    """Rows of different lengths."""
    lengths = draw(st.lists(st.integers(0, 5), min_size=1, max_size=20))
    rows = [np.full(length, i, np.int16) for i, length in enumerate(lengths)]
    return Plan(
        lambda: Dataset.from_generator(
            lambda: iter(rows), output_types="int16", output_shapes=[None]
        ),
        list(rows),
        f"generator({lengths})",
        indexed=False,
        ragged=True,
    )


_SOURCES = [_range, _slices, _generator]


# ------------------------------------------------------------------------------ steps


def _uniform(plan: Plan) -> bool:
    """Whether the elements can be put into one batch."""
    shapes = {tuple(map(np.shape, naive.leaves(e))) for e in plan.elements}
    return len(shapes) <= 1


def _map(draw: Draw, plan: Plan) -> Plan:
    function = draw(st.sampled_from([_doubled, _paired, _kept]))
    calls = draw(st.sampled_from([None, None, 1, 3]))
    made = [naive.call(function, e) for e in plan.elements]
    words = f"map({function.__name__}, {calls})"
    return plan.then(words, lambda d: d.map(function, calls), made)


def _one(element: tuple[Any, ...]) -> Any:
    return element[0] if len(element) == 1 else element


def _doubled(*element: Any) -> Any:
    return naive.over_leaves(lambda leaf: leaf + leaf, _one(element))


def _paired(*element: Any) -> Any:
    return _one(element), np.int64(naive.weight(element))


def _kept(*element: Any) -> Any:
    return _one(element)


def _odd(*element: Any) -> bool:
    return naive.weight(element) % 3 != 0


def _small(*element: Any) -> bool:
    return naive.weight(element) % 7 != 6


def _filter(draw: Draw, plan: Plan) -> Plan:
    kept = [e for e in plan.elements if naive.call(_odd, e)]
    return plan.then("filter", lambda d: d.filter(_odd), kept, indexed=False)


def _take_while(draw: Draw, plan: Plan) -> Plan:
    kept = naive.take_while(plan.elements, lambda e: naive.call(_small, e))
    return plan.then("take_while", lambda d: d.take_while(_small), kept, indexed=False)


def _times(*element: Any) -> Dataset:
    count = naive.weight(element) % 4
    return Dataset.from_tensors(_one(element)).repeat(count)


def _flat_map(draw: Draw, plan: Plan) -> Plan:
    made = [e for e in plan.elements for _ in range(naive.weight(e) % 4)]
    return plan.then("flat_map", lambda d: d.flat_map(_times), made, indexed=False)


def _interleave(draw: Draw, plan: Plan) -> Plan:
    cycle, block = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    calls = draw(st.sampled_from([None, None, None, 2]))
    made = naive.interleave(
        plan.elements, lambda e: [e] * (naive.weight(e) % 4), cycle, block
    )
    return plan.then(
        f"interleave({cycle}, {block}, {calls})",
        lambda d: d.interleave(_times, cycle, block, calls),
        made,
        indexed=False,
    )


def _batch(draw: Draw, plan: Plan) -> Plan:
    size, drop = draw(_counts), draw(st.booleans())
    if not _uniform(plan):
        made = naive.padded_batch(plan.elements, size, drop=drop)
        return plan.then(
            f"padded_batch({size}, {drop})",
            lambda d: d.padded_batch(size, drop_remainder=drop),
            made,
            indexed=False,
        )
    made = naive.batch(plan.elements, size, drop=drop)
    return plan.then(f"batch({size}, {drop})", lambda d: d.batch(size, drop), made)


def _unbatch(draw: Draw, plan: Plan) -> Plan:
    lengths = [{np.shape(x)[:1] for x in naive.leaves(e)} for e in plan.elements]
    if not all(len(found) == 1 and () not in found for found in lengths):
        return _batch(draw, plan)
    if draw(st.booleans()):
        made = naive.unbatch(plan.elements)
        return plan.then("unbatch()", lambda d: d.unbatch(), made, indexed=False)
    size = draw(_counts)
    rows = naive.unbatch(plan.elements)
    if len({tuple(map(np.shape, naive.leaves(row))) for row in rows}) > 1:
        return plan
    made = naive.batch(rows, size)
    words = f"rebatch({size})"
    return plan.then(words, lambda d: d.rebatch(size), made, indexed=False)


def _bucket(draw: Draw, plan: Plan) -> Plan:
    sizes, drop = draw(st.tuples(_counts, _counts, _counts)), draw(st.booleans())
    ranks = {tuple(map(np.ndim, naive.leaves(e))) for e in plan.elements}
    if len(ranks) != 1:
        return plan

    def length_of(*element: Any) -> int:
        return naive.weight(element) % 9

    made = naive.bucket(
        plan.elements, lambda e: naive.call(length_of, e), [3, 6], sizes, drop=drop
    )
    return plan.then(
        f"bucket({sizes}, {drop})",
        lambda d: d.bucket_by_sequence_length(
            length_of, [3, 6], sizes, drop_remainder=drop
        ),
        made,
        indexed=False,
        ragged=True,
    )


def _window(draw: Draw, plan: Plan) -> Plan:
    size, shift, stride = draw(_counts), draw(_counts), draw(st.integers(1, 3))
    drop = draw(st.booleans())
    if not _uniform(plan) or any(
        isinstance(part, (tuple, dict))
        for element in plan.elements
        for part in (element if isinstance(element, tuple) else [])
    ):
        return plan
    windows = naive.window(plan.elements, size, shift, stride, drop=drop)

    def batched(*parts: Any) -> Dataset:
        return Dataset.zip(_one(parts)).batch(size)

    return plan.then(
        f"window({size}, {shift}, {stride}, {drop})",
        lambda d: d.window(size, shift, stride, drop).flat_map(batched),
        [naive.stacked(chosen) for chosen in windows],
        indexed=False,
    )


def _scan(draw: Draw, plan: Plan) -> Plan:
    def step(state: Any, element: Any) -> Any:
        total = state + naive.weight(element)
        return total, (total, element)

    start = draw(st.sampled_from([0, np.int32(1), 0.5]))
    made = naive.scan(plan.elements, start, step)
    made = [(np.asarray(total)[()], element) for total, element in made]
    return plan.then("scan", lambda d: d.scan(start, step), made, indexed=False)


def _repeat(draw: Draw, plan: Plan) -> Plan:
    count = draw(st.sampled_from([0, 1, 2, 3, -1, None]))
    made = plan.elements * (MOST + 1) if count in (-1, None) else plan.elements * count
    return plan.then(f"repeat({count})", lambda d: d.repeat(count), made)


def _shard(draw: Draw, plan: Plan) -> Plan:
    shards = draw(st.integers(1, 4))
    shard = draw(st.integers(0, shards - 1))
    made = plan.elements[shard::shards]
    words = f"shard({shards}, {shard})"
    return plan.then(words, lambda d: d.shard(shards, shard), made)


def _take(draw: Draw, plan: Plan) -> Plan:
    return take(plan, draw(st.integers(-1, 25)))


def _skip(draw: Draw, plan: Plan) -> Plan:
    count = draw(st.integers(-1, 10))
    left = plan.elements[count:] if count >= 0 else []
    return plan.then(f"skip({count})", lambda d: d.skip(count), left)


def _enumerate(draw: Draw, plan: Plan) -> Plan:
    made = [(np.int64(i), e) for i, e in enumerate(plan.elements, 2)]
    return plan.then("enumerate(2)", lambda d: d.enumerate(2), made)


def _concatenate(draw: Draw, plan: Plan) -> Plan:
    count = draw(st.integers(0, 5))
    return plan.then(
        f"concatenate(itself.take({count}))",
        lambda d: d.concatenate(d.take(count)),
        plan.elements + plan.elements[:count],
    )


def _cache(draw: Draw, plan: Plan) -> Plan:
    return plan.then("cache()", lambda d: d.cache(), plan.elements, indexed=False)


def _prefetch(draw: Draw, plan: Plan) -> Plan:
    size = draw(_counts)
    return plan.then(f"prefetch({size})", lambda d: d.prefetch(size), plan.elements)


def _ignore_errors(draw: Draw, plan: Plan) -> Plan:
    def checked(*element: Any) -> Any:
        if naive.weight(element) % 5 == 1:
            msg = "a bad one"
            raise ValueError(msg)
        return _one(element)

    made = [e for e in plan.elements if naive.weight(e) % 5 != 1]
    calls = draw(st.sampled_from([None, 2]))
    ahead = draw(st.sampled_from([0, 1, 5]))
    return plan.then(
        f"map(checked, {calls}).prefetch({ahead}).ignore_errors()",
        lambda d: d.map(checked, calls).prefetch(ahead).ignore_errors(),
        made,
        indexed=False,
    )


def _zip(draw: Draw, plan: Plan) -> Plan:
    other = draw(plans(depth=2))
    pairs = list(zip(plan.elements, other.elements, strict=False))
    build, indexed = other.build, plan.indexed and other.indexed
    ragged = plan.ragged or other.ragged
    as_dict = draw(st.booleans())
    if as_dict:
        return plan.then(
            f"zip(a, b={other.words})",
            lambda d: Dataset.zip({"b": build(), "a": d}),
            [{"b": b, "a": a} for a, b in pairs],
            indexed=indexed,
            ragged=ragged,
        )
    return plan.then(
        f"zip({other.words})",
        lambda d: Dataset.zip(d, build()),
        pairs,
        indexed=indexed,
        ragged=ragged,
    )


def _choose(draw: Draw, plan: Plan) -> Plan:
    choices = draw(st.lists(st.integers(0, 2), max_size=30))
    stop = draw(st.booleans())
    parts = [plan.elements, plan.elements[:2], plan.elements[3:]]

    def build(dataset: Dataset) -> Dataset:
        return Dataset.choose_from_datasets(
            [dataset, dataset.take(2), dataset.skip(3)],
            Dataset.from_tensor_slices(np.array(choices, np.int64)),
            stop_on_empty_dataset=stop,
        )

    made = naive.choose(parts, choices, stop_on_empty=stop)
    return plan.then(f"choose({choices}, {stop})", build, made, indexed=False)


_STEPS: list[Step] = [
    _batch,
    _bucket,
    _cache,
    _choose,
    _concatenate,
    _enumerate,
    _filter,
    _flat_map,
    _ignore_errors,
    _interleave,
    _map,
    _prefetch,
    _repeat,
    _scan,
    _shard,
    _skip,
    _take,
    _take_while,
    _unbatch,
    _window,
    _zip,
]


# --------------------------------------------------------------------- random orders


def _shuffle(draw: Draw, plan: Plan) -> Plan:
    size = draw(st.sampled_from([1, 2, 5, 17, 100]))
    seed = draw(st.sampled_from([None, 1, 2]))
    again = draw(st.booleans())
    return plan.then(
        f"shuffle({size}, {seed}, {again})",
        lambda d: d.shuffle(size, seed, reshuffle_each_iteration=again),
        plan.elements,
        in_order=False,
    )


def _random_map(draw: Draw, plan: Plan) -> Plan:
    def keyed(*element: Any) -> Any:
        return _one(element[:-1]), element[-1]

    made = [(e, np.zeros(2, np.uint32)) for e in plan.elements]
    return plan.then(
        "random_map", lambda d: d.random_map(keyed, seed=3), made, in_order=False
    )


def _sample(draw: Draw, plan: Plan) -> Plan:
    return plan.then(
        "sample(itself, itself.take(3))",
        lambda d: Dataset.sample_from_datasets([d, d.take(3)], [0.3, 0.7]),
        plan.elements + plan.elements[:3],
        indexed=False,
        in_order=False,
    )


def _shuffled_windows(draw: Draw, plan: Plan) -> Plan:
    def several(*element: Any) -> Dataset:
        return Dataset.range(4).shuffle(3).map(lambda i: (i, _one(element)))

    made = [(np.int64(i), e) for e in plan.elements for i in range(4)]
    return plan.then(
        "flat_map(shuffled)",
        lambda d: d.flat_map(several),
        made,
        indexed=False,
        in_order=False,
    )


# These do not look at elements, so that what they count is known in any order.
_BLIND: list[Step] = [
    _cache,
    _enumerate,
    _map,
    _prefetch,
    _repeat,
    _shard,
    _skip,
    _take,
]


@st.composite
def plans(draw: Draw, depth: int = 6) -> Plan:
    """A plan whose elements come in the order of plain Python."""
    plan: Plan = draw(st.sampled_from(_SOURCES))(draw)
    for step in draw(st.lists(st.sampled_from(_STEPS), max_size=depth)):
        plan = step(draw, plan)
    return plan


@st.composite
def random_plans(draw: Draw) -> Plan:
    """A plan with something random in it; only its size is known."""
    plan: Plan = draw(plans(depth=3))
    some = st.sampled_from(
        [_shuffle, _shuffle, _random_map, _sample, _shuffled_windows]
    )
    for step in draw(st.lists(some, min_size=1, max_size=2)):
        plan = step(draw, plan)
        for other in draw(st.lists(st.sampled_from(_BLIND), max_size=2)):
            plan = other(draw, plan)
    return plan
