"""Keras on JAX with Keras's own distribution, on two devices."""

import os

os.environ["KERAS_BACKEND"] = "jax"

import jax
import keras
import numpy as np

jax.config.update("jax_num_cpu_devices", 2)
keras.distribution.set_distribution(keras.distribution.DataParallel())

x = np.random.default_rng(0).normal(size=(96, 3)).astype(np.float32)
y = x @ np.array([1, 2, 3], np.float32) + np.float32(0.5)

model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, "linear")])
model.set_weights([np.zeros((3, 1)), np.zeros(1)])
model.compile(keras.optimizers.SGD(0.1), "mse")

# 96 rows in batches of 32: a last batch that does not divide would be an error.
history = model.fit(x, y, batch_size=32, epochs=3, shuffle=False, verbose=0)

kernel, bias = model.get_weights()
print("loss", f"{history.history['loss'][-1]:.3f}")
print("slope", kernel[:, 0].round(3), "offset", f"{bias[0]:.3f}")
