"""Trains a Keras model on every device: the model is made in a strategy's scope.

Nothing else is different from a program for one device. The last batch has fewer rows
than there are devices, and counts for what it is.
"""

import os

os.environ["KERAS_BACKEND"] = "jax"  # before Keras is imported

import keras
import numpy as np
from sklearn.datasets import load_digits

import replax

strategy = replax.distribute.MirroredStrategy()  # every device of this machine

digits = load_digits()
images = (digits.images / 16).astype(np.float32)[..., None]
labels = digits.target.astype(np.int32)
train = replax.data.Dataset.from_tensor_slices((images[:1409], labels[:1409]))
train = train.shuffle(1409, seed=0).batch(128)  # eleven batches, and one with one image
test = replax.data.Dataset.from_tensor_slices((images[1409:], labels[1409:])).batch(128)

keras.utils.set_random_seed(0)
with strategy.scope():
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            keras.layers.Conv2D(16, 3, activation="relu"),
            keras.layers.BatchNormalization(),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dropout(0.2),
            keras.layers.Dense(10),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(0.01),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )

model.fit(train, validation_data=test, epochs=5, verbose=2)
scores = model.evaluate(test, return_dict=True, verbose=0)
print(f"{strategy.num_replicas_in_sync} replicas, accuracy {scores['accuracy']:.3f}")

guesses = np.argmax(model.predict(test, verbose=0), 1)  # in the order of the images
assert len(guesses) == len(images) - 1409
print(f"the first digits are {labels[1409:1419]}, guessed as {guesses[:10]}")
