"""The facade changes JAX, so what is tested runs in processes of its own."""

from __future__ import annotations

import textwrap

from fresh_process import EIGHT_DEVICES, run_python

_BEGINNING = """
import sys
import jax, jax.numpy as jnp, numpy as np
import replax
import replax.compat.v2 as tf

def error(f):
    try:
        value = f()
    except Exception as e:
        return type(e), str(e)
    raise AssertionError(f"no error, but {value!r}")

def check(f, kind, *parts):
    found, message = error(f)
    assert issubclass(found, kind), (found, message)
    for part in parts:
        assert part in message, message
"""


def _run(program: str) -> str:
    return run_python("-c", EIGHT_DEVICES + _BEGINNING + textwrap.dedent(program))


def test_what_cannot_be_converted_is_refused() -> None:
    _run("""
    one = tf.constant(1)
    check(lambda: tf.constant(one, tf.float32), TypeError, "int32", "tf.cast")
    check(lambda: tf.convert_to_tensor(one, tf.float32), ValueError, "tf.float32")
    check(lambda: tf.constant(1.5, tf.int32), TypeError, "1.5", "tf.cast")
    check(lambda: tf.constant([[1, 2], [3]]), ValueError, "not rectangular")
    check(lambda: tf.constant([1, "a"]), ValueError, "mixes")
    check(lambda: tf.constant(None), ValueError, "None", "numbers")
    check(lambda: tf.constant([1, 2], shape=[3]), TypeError, "(3,)", "one number")
    check(lambda: tf.cast("1", tf.int32), TypeError, "string", "int32")
    check(lambda: tf.as_dtype(int), TypeError, "tf.int32")
    check(lambda: tf.add(1, 2.5), TypeError, "2.5", "int32")
    check(lambda: tf.matmul([1.0], [1.0]), ValueError, "matrices", "tf.reshape")
    check(lambda: tf.reduce_sum([True]), TypeError, "booleans", "tf.cast")
    check(lambda: tf.reduce_any([1, 0]), TypeError, "int32", "!= 0")
    check(lambda: tf.gather([1, 2], [2]), tf.errors.InvalidArgumentError, "2", "from 0")
    check(lambda: tf.split([1, 2, 3], [1, 1]), ValueError, "[1, 1]", "-1")
    check(lambda: tf.add_n([]), ValueError, "at least one")
    check(lambda: tf.debugging.assert_equal(1, 2), ValueError, "1 and 2")
    s = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    x = s.experimental_distribute_values_from_function(lambda context: tf.ones([2]))
    check(lambda: tf.reduce_sum(x), ValueError, "PerReplica", "strategy.run")
    """)


def test_names_that_are_not_there_say_what_is() -> None:
    _run("""
    import replax.compat.v1 as tf1
    distribute = tf.distribute
    check(lambda: distribute.TPUStrategy, AttributeError, "'TPUStrategy'", "Mirrored")
    check(lambda: distribute.experimental.ParameterServerStrategy, AttributeError,
          "'ParameterServerStrategy'", "synchronously", "MultiWorkerMirroredStrategy")
    check(lambda: distribute.experimental.coordinator, AttributeError, "synchronously")
    check(lambda: tf.GradientTape, AttributeError, "'GradientTape'", "value_and_grad")
    check(lambda: tf.train.AdamOptimizer, AttributeError, "optax")
    check(lambda: tf.math.bessel_j0, AttributeError, "jax.numpy")
    check(lambda: tf1.placeholder, AttributeError, "'placeholder'", "argument")
    check(lambda: tf1.distribute.NoStrategy, AttributeError, "'NoStrategy'")
    assert not hasattr(tf, "_private") and not hasattr(tf.nn, "no_such_loss")
    """)


def test_the_older_name_of_datasets_from_functions_warns() -> None:
    _run("""
    import pytest
    s = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    def make(context):
        return tf.data.Dataset.range(4).batch(context.get_per_replica_batch_size(2))
    with pytest.warns(DeprecationWarning, match="distribute_datasets_from_function"):
        data = s.experimental_distribute_datasets_from_function(make)
    seen = [[int(p[0]) for p in s.experimental_local_results(x)] for x in data]
    assert seen == [[0, 1], [2, 3]], seen
    """)


def test_values_of_all_kinds_are_operands() -> None:
    _run("""
    v = tf.Variable([1.0, 2.0])
    assert tf.stack([v, [3, 4]]).dtype == tf.float32
    assert tf.constant([v[0], 5]).tolist() == [1.0, 5.0]
    assert tf.add(v, np.ones(2)).dtype == tf.float32
    assert tf.concat([v, np.array([7.0])], 0).tolist() == [1.0, 2.0, 7.0]
    assert tf.reduce_sum([v, v]).item() == 6.0
    assert tf.constant("é").item() == "é".encode()
    assert tf.equal(["a", "b"], "a").tolist() == [True, False]
    assert tf.zeros(tf.constant([2, 3])).shape == (2, 3)
    assert tf.zeros(tf.TensorShape([2])).shape == (2,)
    assert tf.reduce_mean(tf.constant([], tf.int32)).item() == 0
    assert tf.constant(1.5, tf.bfloat16).dtype == tf.bfloat16
    assert tf.convert_to_tensor(1, dtype_hint=tf.float32).dtype == tf.float32
    assert tf.convert_to_tensor(1.5, dtype_hint=tf.int32).dtype == tf.float32
    assert isinstance(tf.constant(3).numpy(), np.int32)
    assert isinstance(tf.constant([3]).numpy(), np.ndarray)

    @jax.jit
    def traced(x):
        n = tf.shape(x)[0]
        assert tf.executing_eagerly() is False
        total = tf.reduce_sum(tf.stack([x, x]))
        return tf.zeros([n, 2]), total / tf.cast(n, tf.float32)

    zeros, mean = traced(jnp.ones(3, jnp.float32))
    assert zeros.shape == (3, 2) and mean.item() == 2.0 and mean.dtype == tf.float32
    """)


# What TensorFlow 2.21 prints.
_PRINTED = """\
1.0 2 True a b'b' None
1 3.14159274 0.1 1e+10 1e-07 nan inf
0.1 0.33333333333333331 0.333333343
[1 2 3] [0 1 2 ... 7 8 9] [0 1 2 3 4 5]
[0 1 ... 8 9]
[[1 2]
 [3.5 4]] "s" ["s" "t"] 1 [1 0]
[[[0 0]
  [0 0]]

 [[0 0]
  [0 0]]]
{'a': 1, 'b': ["x", 'y', 2]} (1,) [1, 2.5]
3 [1 2]
[] 1.5 1.09960938 1
a, b!
TensorShape([None, 3]) array([1., 2.])
"""


def test_print_has_the_notation_of_tensorflow() -> None:
    printed = _run("""
    def p(*values, **options):
        tf.print(*values, output_stream=sys.stdout, **options)
    c = tf.constant
    p(1.0, 2, True, "a", b"b", None)
    p(c(1.0), c(3.14159265), c(0.1), c(1e10), c(1e-7), c(float("nan")), c(float("inf")))
    p(c(0.1, tf.float64), c(1 / 3, tf.float64), c(1 / 3))
    p(c([1, 2, 3]), tf.range(10), tf.range(6))
    p(tf.range(10), summarize=2)
    p(c([[1.0, 2.0], [3.5, 4.0]]), c("s"), c(["s", "t"]), c(True), c([True, False]))
    p(tf.zeros([2, 2, 2]))
    p({"a": c(1), "b": [c("x"), "y", 2]}, (c(1),), [1, 2.5])
    p(tf.Variable(3.0), tf.Variable([1, 2]))
    p(tf.zeros([0]), c(1.5, tf.bfloat16), c(1.1, tf.float16), c(1, tf.uint8))
    p("a", "b", sep=", ", end="!\\n")
    p(tf.TensorShape([None, 3]), np.array([1.0, 2.0]))
    check(lambda: tf.print(1, output_stream="file"), ValueError, "'file'", "write")
    """)
    assert printed == _PRINTED


def test_print_in_a_compiled_step_prints_at_every_call() -> None:
    printed = _run("""
    s = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    x = s.experimental_distribute_values_from_function(
        lambda context: tf.range(context.replica_id_in_sync_group + 1))

    @tf.function
    def step(x):
        s.run(lambda y: tf.print("has", y, output_stream=sys.stdout), args=(x,))

    step(x)
    jax.effects_barrier()
    step(x)
    jax.effects_barrier()
    """)
    lines = printed.splitlines()
    assert sorted(lines[:2]) == sorted(lines[2:]) == ["has [0 1]", "has [0]"]


def test_variables_are_made_with_the_arguments_of_tensorflow() -> None:
    _run("""
    v = tf.Variable(1, True, True, None, "n", None, tf.float32, shape=[])
    assert v.name == "n:0" and v.dtype == tf.float32 and v.trainable
    assert isinstance(v, tf.Variable) and isinstance(replax.Variable(1.0), tf.Variable)
    assert not isinstance(1.0, tf.Variable)
    assert issubclass(type(v), tf.Variable)
    assert tf.Variable((1, 2)).shape == (2,)
    assert tf.Variable(v).numpy() == 1.0
    tree = tf.Variable({"w": [1.0], "b": 2}).read_value()
    assert tree["b"].dtype == tf.int32
    v.assign(np.float64(2.5))
    assert v.numpy() == 2.5
    check(lambda: tf.Variable(), ValueError, "initial value")
    check(lambda: tf.Variable(tf.constant(1), dtype=tf.float32), ValueError, "int32")
    check(lambda: tf.Variable([1], shape=[2]), ValueError, "(1,)")
    check(lambda: tf.Variable(1.0, shape=[None]), NotImplementedError, "shape")
    check(lambda: tf.Variable(1.0, constraint=abs), NotImplementedError, "constraint")
    check(lambda: tf.Variable("a"), TypeError, "strings")
    """)


def test_random_numbers_follow_the_seed() -> None:
    _run("""
    @tf.function
    def compiled():
        return tf.random.normal([2]), tf.random.uniform([2], seed=1)

    def draw():
        tf.random.set_seed(3)
        eager = [tf.random.normal([2]).tolist() for _ in range(2)]
        return eager, [x.tolist() for _ in range(2) for x in compiled()]

    eager, drawn = draw()
    assert (eager, drawn) == draw()
    assert len({tuple(x) for x in eager + drawn}) == 6
    whole = tf.random.uniform([100], 2, 5, tf.int32)
    assert set(whole.tolist()) == {2, 3, 4}
    check(lambda: tf.random.uniform([1], dtype=tf.int32), ValueError, "maxval")

    s = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    step = tf.function(lambda: s.run(lambda: tf.random.normal([])))
    found = [float(x) for _ in range(2) for x in s.experimental_local_results(step())]
    assert len(set(found)) == 4
    """)
