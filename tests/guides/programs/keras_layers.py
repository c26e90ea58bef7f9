"""The guide to distributed input: Keras's layers that prepare data, with Model.fit."""

import pathlib
import sys
import tempfile

import numpy as np

import replax.compat.v2 as tf

assert "keras" not in sys.modules
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0],
    [tf.config.LogicalDeviceConfiguration() for _ in range(4)],
)
folder = pathlib.Path(tempfile.mkdtemp())


def local(value):
    return [v.numpy().tolist() for v in strategy.experimental_local_results(value)]


def small_model(tokens):
    return tf.keras.Sequential(
        [
            tf.keras.Input((), dtype="int64"),
            tf.keras.layers.Embedding(tokens, 4),
            tf.keras.layers.Dense(1),
        ]
    )


# Numbers of a file, looked up in the pipeline of fit.
FILE_PATH = str(folder / "numbers.txt")
pathlib.Path(FILE_PATH).write_text("10\n20\n30\n")
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    integer_preprocessing_layer = tf.keras.layers.IntegerLookup(vocabulary=FILE_PATH)
    model = small_model(4)
    model.compile(optimizer="adam", loss="mse")
dataset = tf.data.Dataset.from_tensor_slices(([30, 10, 77], [1.0, 2.0, 3.0])).batch(3)
dataset = dataset.map(lambda x, y: (integer_preprocessing_layer(x), y))
history = model.fit(dataset, epochs=2, verbose=0).history
assert history["loss"][1] < history["loss"][0]
parts = [local(x) for x, _ in strategy.experimental_distribute_dataset(dataset)]
assert parts == [[[3, 1], [0]]]
# The facade computes with 64 bits where it is asked to; models do not.
assert {str(v.dtype) for v in model.variables} == {"float32"}
assert {str(v.dtype) for v in model.optimizer.variables} == {"int32", "float32"}
assert model.predict(np.array([1, 2, 3]), verbose=0).dtype == np.float32

# Strings of a file, looked up by what the function of a creator makes.
FILE_PATH = str(folder / "words.txt")
pathlib.Path(FILE_PATH).write_text("yes\nno\n")
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    preprocessing_layer = tf.keras.layers.StringLookup(vocabulary=FILE_PATH)
    model = small_model(3)
    model.compile("sgd", "mse", metrics=[tf.keras.metrics.MeanAbsoluteError()])
dataset = tf.data.Dataset.from_tensor_slices(["no", "yes", "?", "yes"]).repeat()
words = dataset


def dataset_fn(input_context):
    dataset = words.batch(input_context.get_per_replica_batch_size(4))
    dataset = dataset.map(preprocessing_layer)
    return dataset.map(lambda x: (x, np.ones(len(x), np.float32)))


for made_by in tf.keras.utils.experimental, tf.keras.utils:
    dataset_creator = made_by.DatasetCreator(dataset_fn)
callbacks = [tf.keras.callbacks.EarlyStopping(monitor="loss", patience=5)]
history = model.fit(
    dataset_creator, epochs=5, steps_per_epoch=20, callbacks=callbacks, verbose=0
).history
assert len(history["loss"]) == 5
assert history["mean_absolute_error"][-1] < history["mean_absolute_error"][0]
assert int(model.optimizer.iterations.numpy()) == 100
steps = iter(strategy.distribute_datasets_from_function(dataset_creator))
assert local(next(steps)[0]) == [[2, 1], [0, 1]]

# Strings in a loop of one's own; what the page prints.
strategy = tf.distribute.MirroredStrategy()
vocab = ["a", "b", "c", "d", "f"]
with strategy.scope():
    # Create the layer(s) under scope.
    layer = tf.keras.layers.StringLookup(vocabulary=vocab)


def dataset_fn(input_context):
    # a tf.data.Dataset
    dataset = tf.data.Dataset.from_tensor_slices(["a", "c", "e"]).repeat()

    # Custom your batching, sharding, prefetching, etc.
    global_batch_size = 4
    batch_size = input_context.get_per_replica_batch_size(global_batch_size)
    dataset = dataset.batch(batch_size)
    dataset = dataset.shard(
        input_context.num_input_pipelines, input_context.input_pipeline_id
    )

    # Apply the preprocessing layer(s) to the tf.data.Dataset
    def preprocess_with_kpl(input):
        return layer(input)

    processed_ds = dataset.map(preprocess_with_kpl)
    return processed_ds


distributed_dataset = strategy.distribute_datasets_from_function(dataset_fn)
distributed_dataset_iterator = iter(distributed_dataset)
wanted = [[[1], [3], [0], [1]], [[3], [0], [1], [3]], [[0], [1], [3], [0]]]
for numbers in wanted:
    batch = next(distributed_dataset_iterator)
    assert local(batch) == numbers
    assert {v.dtype for v in batch.values} == {np.dtype("int64")}

# A layer that has learned, in a step.
rows = tf.data.Dataset.from_tensor_slices([[0.0, 7.0], [2.0, 9.0]] * 4).batch(8)
with strategy.scope():
    normalization = tf.keras.layers.Normalization()
normalization.adapt(strategy.experimental_distribute_dataset(rows))


@tf.function
def scaled(x):
    return strategy.run(lambda x: normalization(x), args=(x,))


for batch in strategy.experimental_distribute_dataset(rows):
    assert local(scaled(batch)) == [[[-1.0, -1.0], [1.0, 1.0]]] * 4

# What is not ours is Keras's, also names that Keras has for TensorFlow only.
assert tf.keras.layers.Rescaling is sys.modules["keras"].layers.Rescaling
assert tf.keras.losses.Reduction.NONE == "none"
assert tf.keras.config.backend() == "jax"
