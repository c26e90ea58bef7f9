"""``replax migrate``, run as its users do: it looks the names up in the facades."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from fresh_process import run_python

MAIN = "from replax._src.cli.main import main; main(prog_name='replax')"


def migrate(*arguments: object, code: int) -> str:
    """What the command prints, if it ends with ``code``."""
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "migrate", *map(str, arguments)],
        capture_output=True,
        check=False,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        text=True,
        timeout=240,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


OLD = b"""\
# na\xc3\xafve \xc3\xbc
import os, tensorflow as tf
import tensorflow.compat.v1 as tf1
from tensorflow import keras, data, GradientTape as Tape
from tensorflow.data import (
    Dataset,  # of rows
    AUTOTUNE,
)
from tensorflow.compat import v1
from tensorflow.python.framework import ops
import tensorflow_datasets as tfds
def f():
    import tensorflow.compat.v1.distribute as d; x = 1
    with tf.GradientTape() as tape: tf.nn.dropout(tf.constant(1.0))
    "\xc3\xbc"; data.Dataset.nothing; v1.disable_v2_behavior()
    return tf.distribute.MirroredStrategy().scope, tf.float32.name, Dataset.range
"""

NEW = b"""\
# na\xc3\xafve \xc3\xbc
import os
import replax.compat.v2 as tf
import replax.compat.v1 as tf1
import keras
from replax.compat.v2 import data
from tensorflow import GradientTape as Tape
from replax.compat.v2.data import (
    Dataset,  # of rows
    AUTOTUNE,
)
from replax.compat import v1
from tensorflow.python.framework import ops
import tensorflow_datasets as tfds
def f():
    import replax.compat.v1.distribute as d; x = 1
    with tf.GradientTape() as tape: tf.nn.dropout(tf.constant(1.0))
    "\xc3\xbc"; data.Dataset.nothing; v1.disable_v2_behavior()
    return tf.distribute.MirroredStrategy().scope, tf.float32.name, Dataset.range
"""

# Lines of the new text, and what they say.
NOTES = [
    (5, "keras is Keras 3 now: set KERAS_BACKEND=jax"),
    (5, "tensorflow.GradientTape is left to you: take gradients with jax.value_and"),
    (13, "tensorflow.python.framework.ops is left to you: it is private"),
    (14, "tensorflow_datasets is left to you: it needs TensorFlow itself"),
    (17, "tf.GradientTape is left to you: take gradients with jax.value_and_grad"),
    (17, "tf.nn.dropout is left to you: use jax.nn"),
    (18, "data.Dataset.nothing is left to you: "),
    (18, "v1.disable_v2_behavior is left to you: leave it out"),
]


def test_imports_are_rewritten_and_the_rest_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "old.py"
    file.write_bytes(OLD)
    shown = migrate("--diff", file, code=1)
    assert file.read_bytes() == OLD
    assert "-from tensorflow.data import (\n" in shown
    assert "+import replax.compat.v2 as tf\n" in shown
    notes = [f"{file}:{line}: {text}" for line, text in NOTES]
    said = [line for line in shown.splitlines() if line.startswith(f"{file}:")]
    assert len(said) == len(notes)
    assert all(a.startswith(b) for a, b in zip(said, notes, strict=True)), said
    assert ": rewritten" in migrate(tmp_path, code=1)
    assert file.read_bytes() == NEW
    again = migrate(file, code=1)
    assert ": rewritten" not in again
    assert ":17: tf.nn.dropout" in again


def test_a_program_that_needs_no_more_runs(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "import tensorflow as tf\r\n"
        "from tensorflow.distribute import ReduceOp\r\n"
        "s = tf.distribute.MirroredStrategy()\r\n"
        "x = s.run(lambda: tf.constant(2.0))\r\n"
        "print(float(s.reduce(ReduceOp.SUM, x, axis=None)))\r\n",
        newline="",
    )
    migrate(file, code=0)
    assert file.read_bytes().count(b"\r\n") == 5
    assert run_python(str(file)).strip() == "2.0"


def test_what_is_no_python_is_left_and_the_others_are_done(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print 'two'\n")
    (tmp_path / "b.py").write_text("import tensorflow as tf\n")
    said = migrate(tmp_path, code=2)
    assert "a.py: is left as it is, not being Python 3" in said
    assert (tmp_path / "b.py").read_text() == "import replax.compat.v2 as tf\n"
