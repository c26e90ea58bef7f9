"""More about datasets."""

from replax._src.compat.advice import advice_for_attribute as _advice
from replax._src.compat.dataset_transformations import (
    assert_cardinality,
    bucket_by_sequence_length,
    choose_from_datasets,
    enumerate_dataset,
    get_next_as_optional,
    get_single_element,
    group_by_window,
    ignore_errors,
    sample_from_datasets,
    scan,
    take_while,
    unbatch,
    unique,
)
from replax._src.compat.datasets import cardinality
from replax._src.core.loading import loaded_later as _loaded_later
from replax._src.dataset.dataset import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from replax._src.dataset.optional import Optional
from replax._src.dataset.options import (
    SHARD_HINT,
    AutoShardPolicy,
    AutotuneOptions,
    DistributeOptions,
    OptimizationOptions,
    ThreadingOptions,
)
from replax._src.dataset.transforming import AUTOTUNE

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "SHARD_HINT",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneOptions",
    "DistributeOptions",
    "OptimizationOptions",
    "Optional",
    "ThreadingOptions",
    "assert_cardinality",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "enumerate_dataset",
    "get_next_as_optional",
    "get_single_element",
    "group_by_window",
    "ignore_errors",
    "sample_from_datasets",
    "scan",
    "take_while",
    "unbatch",
    "unique",
]


def __getattr__(name: str) -> object:
    return _loaded_later(__name__, name, {}, _advice)
