"""How Keras comes to know of scopes, whenever it is imported."""

from __future__ import annotations

from typing import Any

import keras
import pytest

import replax
from fresh_process import EIGHT_DEVICES, run_python
from keras_training import classifier, in_scope, mirrored, rows

_LATER = (
    EIGHT_DEVICES
    + """
import sys
import replax
strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
assert "keras" not in sys.modules
with strategy.scope():
    assert "keras" not in sys.modules
    {before}
    import keras
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile("sgd", "mse")
assert keras.distribution.distribution() is None
assert not [f for f in sys.meta_path if type(f).__module__.startswith("replax")]
assert len(model.weights[0].value.sharding.device_set) == 2
import numpy as np
model.fit(np.ones((5, 3)), np.ones((5, 2)), batch_size=3, verbose=0)
assert model.predict(np.ones((5, 3)), verbose=0).shape == (5, 2)
"""
)


@pytest.mark.parametrize(
    "before", ["with strategy.scope(): pass", "import keras.layers"]
)
def test_keras_may_be_imported_in_the_scope(before: str) -> None:
    run_python("-c", _LATER.format(before=before))


def test_keras_may_be_imported_before() -> None:
    first = "import os; import keras; import keras as k\n"
    program = _LATER.replace('assert "keras" not in sys.modules', "pass")
    run_python("-c", EIGHT_DEVICES + first + program.format(before="pass"))


def test_a_scope_that_is_left_before_keras_is_imported_leaves_nothing() -> None:
    run_python(
        "-c",
        "import sys, replax\n"
        "strategy = replax.distribute.OneDeviceStrategy('CPU:0')\n"
        "before = list(sys.meta_path)\n"
        "with strategy.scope(): pass\n"
        "assert sys.meta_path == before\n"
        "import keras\n"
        "assert not any('_src.keras.models' in name for name in sys.modules)\n",
    )


def test_keras_on_another_backend_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    run_python(
        "-c",
        "import os; os.environ['KERAS_BACKEND'] = 'numpy'\n"
        "import keras, replax\n"
        "strategy = replax.distribute.MirroredStrategy()\n"
        "keras.Sequential([keras.layers.Dense(2)])\n"
        "with strategy.scope():\n"
        "    keras.layers.Dense(2).build((None, 2))\n"
        "    try:\n"
        "        keras.Sequential([keras.layers.Dense(2)])\n"
        "    except RuntimeError as error:\n"
        "        text = str(error)\n"
        "assert 'Keras runs on' in text and 'KERAS_BACKEND=jax' in text, text\n",
    )


def test_the_distribution_of_the_user_is_there_again_after_the_scope() -> None:
    own = keras.distribution.DataParallel(devices=["cpu:0", "cpu:1"])
    keras.distribution.set_distribution(own)
    try:
        with mirrored(2).scope():
            assert keras.distribution.distribution() is not own
            with mirrored(2).scope():
                pass
            assert keras.distribution.distribution() is not own
        assert keras.distribution.distribution() is own
    finally:
        keras.distribution.set_distribution(None)


def test_a_strategy_may_be_set_for_the_thread() -> None:
    replax.distribute.experimental_set_strategy(mirrored(2))
    try:
        model = classifier()
    finally:
        replax.distribute.experimental_set_strategy(None)
    assert keras.distribution.distribution() is None
    assert len(model.weights[0].value.sharding.device_set) == 2


def test_variables_are_on_every_replica() -> None:
    model = in_scope(3, classifier)
    for variable in (*model.variables, *model.optimizer.variables):
        assert variable.value.sharding.is_fully_replicated
        assert len(variable.value.sharding.device_set) == 3


def test_a_model_trains_with_the_strategy_that_it_was_created_for() -> None:
    model = in_scope(2, classifier)
    x, y = rows(8)
    with (
        mirrored(3).scope(),
        pytest.raises(RuntimeError, match="strategies do not nest"),
    ):
        model.fit(x, y, verbose=0)


def test_a_model_of_no_strategy_trains_in_a_scope() -> None:
    model = classifier()
    x, y = rows(9)
    with mirrored(2).scope():
        model.fit(x, y, verbose=0)
    assert len(model.weights[0].value.sharding.device_set) == 2


def test_models_without_a_strategy_are_left_alone() -> None:
    model = classifier()
    x, y = rows(9)
    model.fit(x, y, verbose=0)
    weights: Any = model.weights[0].value
    assert len(weights.sharding.device_set) == 1


def test_one_device() -> None:
    strategy = replax.distribute.OneDeviceStrategy("CPU:3")
    with strategy.scope():
        model = classifier()
    x, y = rows(9)
    model.fit(x, y, verbose=0)
    (device,) = model.weights[0].value.sharding.device_set
    assert device.id == 3


_FACADE = """
import os, sys
os.environ.pop("KERAS_BACKEND")
import replax.compat.v2 as tf
import replax.compat.v1 as tf1
assert "keras" not in sys.modules
os.environ["KERAS_BACKEND"] = "torch"
try:
    tf.keras
except RuntimeError as error:
    assert "KERAS_BACKEND=torch" in str(error) and "leave it out" in str(error), error
assert "keras" not in sys.modules
del os.environ["KERAS_BACKEND"]
assert tf.keras is tf1.keras
import keras
assert keras.config.backend() == "jax"
assert tf.keras.Sequential is keras.Sequential
assert {"Dense", "StringLookup"} <= set(dir(tf.keras.layers))
for module in tf.keras, tf.keras.layers, tf.keras.utils:
    assert "_tf_keras" not in dir(module)
    try:
        module.Nothing
    except AttributeError as error:
        assert "no attribute 'Nothing', and neither has Keras" in str(error), error
    else:
        raise AssertionError(module)
"""


def test_the_facade_imports_keras_on_jax_when_it_is_asked_for_it() -> None:
    run_python("-c", _FACADE)


def test_the_facade_takes_no_keras_on_another_backend() -> None:
    run_python(
        "-c",
        "import os; os.environ['KERAS_BACKEND'] = 'numpy'\n"
        "import keras\n"
        "import replax.compat.v2 as tf\n"
        "try:\n"
        "    tf.keras\n"
        "except RuntimeError as error:\n"
        "    text = str(error)\n"
        "assert 'imported on' in text and 'KERAS_BACKEND=jax' in text, text\n",
    )
