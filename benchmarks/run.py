"""All benchmarks in one table: `make bench`, or one of them by running its file.

Arguments choose questions by a part of their names: `make bench ARGS="eager import"`.
"""

from __future__ import annotations

import sys

import table
from datasets import (
    many_files,
    mapped_numbers,
    seeking,
    shuffled_rows,
    streaming,
    worker_processes,
)
from distributed_input import (
    fed_training,
    feeding,
    long_training,
    rebatching,
    sharding,
)
from eager_step import eager
from import_time import import_time
from keras_fit import keras_fit
from lookups import hashed_strings, string_lookups
from many_workers import sums_between_workers, workers_steps
from python_calls import python_calls
from ragged_step import ragged_step
from records import examples, record_files
from run_overhead import run_overhead
from unsynchronised import unsynchronised
from warm_step import many_variables, perceptron

QUESTIONS = [
    perceptron,
    many_variables,
    eager,
    ragged_step,
    workers_steps,
    sums_between_workers,
    import_time,
    python_calls,
    run_overhead,
    unsynchronised,
    shuffled_rows,
    mapped_numbers,
    worker_processes,
    many_files,
    seeking,
    streaming,
    record_files,
    examples,
    feeding,
    fed_training,
    rebatching,
    long_training,
    sharding,
    keras_fit,
    string_lookups,
    hashed_strings,
]

if __name__ == "__main__":
    wanted = sys.argv[1:]
    table.report(
        *(q for q in QUESTIONS if not wanted or any(w in q.__name__ for w in wanted))
    )
