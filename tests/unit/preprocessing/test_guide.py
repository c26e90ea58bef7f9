"""The programs of TensorFlow's guide to distributed input that preprocess data.

They are run in TensorFlow's names, which change the configuration of JAX, and so in
processes of their own.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from fresh_process import EIGHT_DEVICES, run_python

NAMES = "import replax.compat.v2 as tf\nfrom replax import keras\n"


def printed(program: str, folder: Path) -> list[Any]:
    """What a program prints, line by line, as values of Python."""
    output = run_python("-c", EIGHT_DEVICES + NAMES + program, folder=folder)
    return [ast.literal_eval(line) for line in output.splitlines()]


STRINGS_IN_A_CUSTOM_LOOP = """
strategy = tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(4)])
vocab = ["a", "b", "c", "d", "f"]
with strategy.scope():
  layer = keras.layers.StringLookup(vocabulary=vocab)

def dataset_fn(input_context):
  dataset = tf.data.Dataset.from_tensor_slices(["a", "c", "e"]).repeat()
  global_batch_size = 4
  batch_size = input_context.get_per_replica_batch_size(global_batch_size)
  dataset = dataset.batch(batch_size)
  dataset = dataset.shard(
      input_context.num_input_pipelines,
      input_context.input_pipeline_id)

  def preprocess_with_kpl(input):
    return layer(input)

  return dataset.map(preprocess_with_kpl)

distributed_dataset = strategy.distribute_datasets_from_function(dataset_fn)
distributed_dataset_iterator = iter(distributed_dataset)
for _ in range(3):
  batch = next(distributed_dataset_iterator)
  print([(part.tolist(), str(part.dtype)) for part in batch.values])
"""


def test_strings_are_looked_up_where_replicas_read(tmp_path: Path) -> None:
    # What the guide prints.
    wanted = [[1, 3, 0, 1], [3, 0, 1, 3], [0, 1, 3, 0]]
    assert printed(STRINGS_IN_A_CUSTOM_LOOP, tmp_path) == [
        [([number], "int64") for number in numbers] for numbers in wanted
    ]


NUMBERS_OF_A_FILE = """
FILE_PATH = "vocabulary.txt"
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
  integer_preprocessing_layer = keras.layers.IntegerLookup(vocabulary=FILE_PATH)

dataset = tf.data.Dataset.from_tensor_slices(([30, 10, 77], [1., 2., 3.])).batch(3)
dataset = dataset.map(lambda x, y: (integer_preprocessing_layer(x), y))
for x, y in strategy.experimental_distribute_dataset(dataset):
  print([part.tolist() for part in x.values + y.values])
"""


def test_numbers_are_looked_up_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "vocabulary.txt").write_text("10\n20\n30\n")
    assert printed(NUMBERS_OF_A_FILE, tmp_path) == [[[3, 1], [0], [1.0, 2.0], [3.0]]]


A_CREATOR_OF_DATASETS = """
FILE_PATH = "vocabulary.txt"
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
  preprocessing_layer = keras.layers.StringLookup(vocabulary=FILE_PATH)

def dataset_fn(input_context):
  dataset = tf.data.Dataset.from_tensor_slices(["no", "yes", "?", "yes"])
  dataset = dataset.batch(input_context.get_per_replica_batch_size(4))
  dataset = dataset.map(preprocessing_layer)
  return dataset

dataset_creator = keras.DatasetCreator(dataset_fn)
for batch in strategy.distribute_datasets_from_function(dataset_creator):
  print([part.tolist() for part in batch.values])
"""


def test_a_creator_makes_datasets_that_look_up_strings(tmp_path: Path) -> None:
    (tmp_path / "vocabulary.txt").write_text("yes\nno\n")
    assert printed(A_CREATOR_OF_DATASETS, tmp_path) == [[[2, 1], [0, 1]]]


LEARNED_AND_SCALED = """
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
rows = tf.data.Dataset.from_tensor_slices([[0., 7.], [2., 9.], [0., 7.], [2., 9.]])
rows = rows.batch(4)
with strategy.scope():
  normalization = keras.layers.Normalization()
normalization.adapt(strategy.experimental_distribute_dataset(rows))

@tf.function
def scaled(x):
  return strategy.run(lambda x: normalization(x), args=(x,))

for batch in strategy.experimental_distribute_dataset(rows):
  print([part.tolist() for part in strategy.experimental_local_results(scaled(batch))])
"""


def test_numbers_are_scaled_in_the_step(tmp_path: Path) -> None:
    both = [[-1.0, -1.0], [1.0, 1.0]]
    assert printed(LEARNED_AND_SCALED, tmp_path) == [[both, both]]
