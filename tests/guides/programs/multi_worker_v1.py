"""The page of v1's MultiWorkerMirroredStrategy: who takes part."""

import json
import os

os.environ["TF_CONFIG"] = json.dumps(
    {
        "cluster": {"worker": ["localhost:12345"]},
        "task": {"type": "worker", "index": 0},
    }
)

import replax.compat.v1 as tf

strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
ran = None
if strategy.cluster_resolver.task_type == "worker":
    ran = "worker"
elif strategy.cluster_resolver.task_type == "ps":
    ran = "ps"
assert ran == "worker"
assert strategy.cluster_resolver.task_id == 0
with strategy.scope():
    v = tf.Variable(2.0)
assert v.numpy() == 2.0
