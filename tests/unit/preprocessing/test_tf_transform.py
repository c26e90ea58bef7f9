"""What TF Transform has learned, in the datasets that a strategy hands out.

``make transform`` installs TensorFlow, Beam and TF Transform, which are large, where
nothing else is installed, and runs this. Elsewhere it is skipped.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from fresh_process import EIGHT_DEVICES, run_python

pytestmark = [
    pytest.mark.skipif(
        find_spec("tensorflow_transform") is None,
        reason="TF Transform is not installed; `make transform` installs it",
    ),
    # Beam takes its time to start, once.
    pytest.mark.timeout(600),
]

# The second half of it is the guide's.
PROGRAM = """
import json, tempfile
import tensorflow as tf
import tensorflow_transform as tft
import tensorflow_transform.beam as tft_beam
from tensorflow_transform.tf_metadata import dataset_metadata, schema_utils

def preprocessing_fn(inputs):
  return {
      "x": tft.scale_to_z_score(inputs["x"]),
      "word": tft.compute_and_apply_vocabulary(inputs["word"]),
  }

spec = {
    "x": tf.io.FixedLenFeature([], tf.float32),
    "word": tf.io.FixedLenFeature([], tf.string),
}
metadata = dataset_metadata.DatasetMetadata(schema_utils.schema_from_feature_spec(spec))
raw = [{"x": float(i), "word": "aab"[i % 3]} for i in range(9)]
working_dir = tempfile.mkdtemp(dir=".")
with tft_beam.Context(temp_dir=tempfile.mkdtemp(dir=".")):
  transform_fn = (raw, metadata) | tft_beam.AnalyzeDataset(preprocessing_fn)
  transform_fn | tft_beam.WriteTransformFn(working_dir)

import jax.numpy as jnp
import replax

strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
  tf_transform_output = tft.TFTransformOutput(working_dir)
  tft_layer = tf_transform_output.transform_features_layer()

def dataset_fn(input_context):
  batch_size = input_context.get_per_replica_batch_size(4)
  dataset = tf.data.Dataset.from_tensor_slices(
      {"x": [4., 0., 8., 4.], "word": ["a", "b", "?", "a"]})
  dataset = dataset.batch(batch_size)
  dataset = dataset.map(tft_layer, num_parallel_calls=tf.data.AUTOTUNE)
  return dataset

distributed_dataset = strategy.distribute_datasets_from_function(
    dataset_fn)

@replax.function
def total(batch):
  per_replica = strategy.run(lambda batch: jnp.sum(batch["x"] ** 2), args=(batch,))
  return strategy.reduce("SUM", per_replica, axis=None)

for batch in distributed_dataset:
  print(json.dumps({
      "x": [part.tolist() for part in batch["x"].values],
      "word": [part.tolist() for part in batch["word"].values],
      "total": float(total(batch)),
  }))
"""


def test_its_layer_is_mapped_where_replicas_read(tmp_path: Path) -> None:
    printed = run_python("-c", EIGHT_DEVICES + PROGRAM, folder=tmp_path)
    (batch,) = [json.loads(line) for line in printed.splitlines() if line[0] == "{"]
    # Of 0 ... 8 the mean is 4 and the variance 20/3; "a" is the most frequent word.
    far = 4 / (20 / 3) ** 0.5
    wanted: Any = [[0.0, -far], [far, 0.0]]
    assert batch["x"] == [pytest.approx(part, abs=1e-6) for part in wanted]
    assert batch["word"] == [[0, 1], [-1, 0]]
    assert batch["total"] == pytest.approx(2 * far**2)
