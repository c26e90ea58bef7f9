from __future__ import annotations

import json

import numpy as np

from fresh_process import run_python

PROGRAM = """
import json
import replax.compat.v2 as tf
from replax.config import LogicalDeviceConfiguration as Device

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [Device(), Device()])
strategy = tf.distribute.MirroredStrategy()
rows = tf.data.Dataset.from_tensor_slices([1., 2., 3., 4., 6.]).batch(5)

def step(x):
    loss = tf.nn.compute_average_loss(x, global_batch_size=5)
    weighted = tf.nn.compute_average_loss(x[:, None], 0.5 * x, global_batch_size=5)
    return loss, weighted, tf.nn.scale_regularization_loss([2., 3.])

(batch,) = strategy.experimental_distribute_dataset(rows)
parts = strategy.run(step, (batch,))
sums = [strategy.reduce("SUM", part, axis=None) for part in parts]
logits = [[1., 2., 0.5], [-3., 0., 100.]]
assumed = strategy.run(lambda: tf.nn.compute_average_loss(tf.constant([1., 2.])))
record = tf.train.Example(features=tf.train.Features(feature={
    "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 4])),
    "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x"])),
    "c": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5])),
})).SerializeToString()
parsed = tf.io.parse_single_example(record, {
    "a": tf.io.FixedLenFeature([2], tf.int64),
    "c": tf.io.FixedLenFeature([], tf.float32),
})
try:
    tf.nn.compute_average_loss(1.0)
    refused = ""
except ValueError as error:
    refused = str(error)
print(json.dumps({
    "sums": [float(x) for x in sums],
    "assumed": [float(x) for x in strategy.experimental_local_results(assumed)],
    "sparse": tf.nn.sparse_softmax_cross_entropy_with_logits([1, 2], logits).tolist(),
    "dense": tf.nn.softmax_cross_entropy_with_logits(
        [[0., 1., 0.], [0., 0., 1.]], logits).tolist(),
    "sigmoid": tf.nn.sigmoid_cross_entropy_with_logits([1., 0.], [2., -100.]).tolist(),
    "parsed": [parsed["a"].tolist(), float(parsed["c"])],
    "read": tf.train.Example.FromString(record).features.feature["b"].bytes_list
        .value[0].decode(),
    "refused": refused,
}))
"""


def test_losses_of_steps_and_messages_of_files() -> None:
    found = json.loads(run_python("-c", PROGRAM).splitlines()[-1])
    # 16 / 5; (1 + 4 + 9 + 16 + 36) / 2 / 5; 5 on two replicas by halves
    np.testing.assert_allclose(found["sums"], [3.2, 6.6, 5.0], rtol=1e-6)
    assert found["assumed"] == [0.75, 0.75]
    entropy = -np.log(np.exp(2.0) / np.exp([1.0, 2.0, 0.5]).sum())
    np.testing.assert_allclose(found["sparse"], [entropy, 0.0], rtol=1e-5)
    np.testing.assert_allclose(found["dense"], [entropy, 0.0], rtol=1e-5)
    np.testing.assert_allclose(found["sigmoid"], [np.log1p(np.exp(-2.0)), 0.0], 1e-5)
    assert found["parsed"] == [[3, 4], 0.5]
    assert found["read"] == "x"
    assert "the single number" in found["refused"]
    assert "reduction='none'" in found["refused"]
