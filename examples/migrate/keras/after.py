"""The same model under a strategy's scope, which takes any number of rows."""

import os

os.environ["KERAS_BACKEND"] = "jax"

import jax
import keras
import numpy as np

import replax

jax.config.update("jax_num_cpu_devices", 2)
strategy = replax.distribute.MirroredStrategy()

x = np.random.default_rng(0).normal(size=(96, 3)).astype(np.float32)
y = x @ np.array([1, 2, 3], np.float32) + np.float32(0.5)

with strategy.scope():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, "linear")])
    model.set_weights([np.zeros((3, 1)), np.zeros(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse")

history = model.fit(x, y, batch_size=32, epochs=3, shuffle=False, verbose=0)

kernel, bias = model.get_weights()
print("loss", f"{history.history['loss'][-1]:.3f}")
print("slope", kernel[:, 0].round(3), "offset", f"{bias[0]:.3f}")
