"""A ragged step computes what one device computes on all rows."""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from ragged_program import Meeting, RaggedProgram, run_alone, run_ragged, trace
from replax._src.execution.ragged import merge

WIDTHS = (784, 256, 128, 10)


def parameters(widths=WIDTHS, dtype: type = np.float32):
    rng = np.random.default_rng(0)
    return [
        ((rng.normal(size=(a, b)) / np.sqrt(a)).astype(dtype), np.zeros(b, dtype))
        for a, b in itertools.pairwise(widths)
    ]


def examples(count, widths=WIDTHS, dtype: type = np.float32):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(count, widths[0])).astype(dtype)
    return x, rng.integers(0, widths[-1], count).astype(np.int32)


def normalized(meeting, h, count):
    """Normalizes by the mean and variance of all replicas' rows."""
    first, second = meeting.sum(h.sum(0), (h * h).sum(0))
    mean = first / count
    return (h - mean) * lax.rsqrt(second / count - mean * mean + 1e-3)


def mlp_step(meeting, params, x, y):
    """Loss, gradients and updated weights of a network with batch normalization."""

    def loss_of(params):
        (count,) = meeting.sum(jnp.asarray(float(x.shape[0]), x.dtype))
        h = x
        for w, b in params[:-1]:
            h = jax.nn.relu(normalized(meeting, h @ w + b, count))
        w, b = params[-1]
        right = jax.nn.one_hot(y, w.shape[1], dtype=x.dtype)
        return -jnp.sum(jax.nn.log_softmax(h @ w + b) * right) / count

    loss, grads = jax.value_and_grad(loss_of)(params)
    (loss,) = meeting.sum(loss)
    leaves, tree = jax.tree.flatten(grads)
    grads = jax.tree.unflatten(tree, meeting.sum(*leaves))
    updated = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return loss, grads, updated


def assert_all_equal(replicas, alone, rtol=1e-5, atol=1e-6):
    for outs in replicas:
        for out, expected in zip(outs, alone, strict=True):
            np.testing.assert_allclose(out, expected, rtol=rtol, atol=atol)


def test_an_mlp_step_is_the_same_as_on_one_device():
    rows, params, data = [64, 17, 0], parameters(), examples(81)
    replicas = run_ragged(mlp_step, rows, params, data)
    assert_all_equal(replicas, run_alone(mlp_step, params, data))


def test_an_mlp_step_is_the_same_to_the_last_digits_in_float64():
    with jax.enable_x64(True):
        rows, widths = [9, 4, 0, 9], (6, 5, 4, 3)
        params = parameters(widths, np.float64)
        data = examples(22, widths, np.float64)
        replicas = run_ragged(mlp_step, rows, params, data)
        alone = run_alone(mlp_step, params, data)
    assert alone[0].dtype == np.float64
    assert_all_equal(replicas, alone, rtol=1e-12, atol=1e-12)


def test_one_program_serves_every_arrangement_of_the_same_rows():
    def step(meeting, w, x):
        h = jnp.tanh(x @ w)
        (mean,) = meeting.sum(h.sum(0))
        return meeting.gather(h - mean), mean

    rng = np.random.default_rng(0)
    w = rng.normal(size=(3, 2)).astype(np.float32)
    data = (rng.normal(size=(8, 3)).astype(np.float32),)
    program = RaggedProgram(step, [5, 3, 0], w, data)
    alone = run_alone(step, w, data)
    for rows in itertools.permutations([5, 3, 0]):
        assert_all_equal(program(list(rows), w, data), alone)
    cached: Any = program.program
    assert cached._cache_size() == 1


@settings(max_examples=12)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=4))
def test_any_rows_give_what_one_device_gives(rows):
    def step(meeting, w, x):
        def loss_of(w):
            count = meeting.sum(jnp.float32(x.shape[0]))[0] + 1
            h = normalized(meeting, x @ w, count)
            return jnp.sum(meeting.gather(h) ** 3) + jnp.sum(h)

        grad = jax.grad(loss_of)(w)
        # Each replica has the whole of the gathered part, and its own of the other.
        (grad,) = meeting.sum(grad)
        return meeting.gather(x), grad

    def alone(w, x):
        meeting = Meeting([1])
        replicas = len(rows)

        def loss_of(w):
            h = normalized(meeting, x @ w, x.shape[0] + 1.0)
            return replicas * jnp.sum(h**3) + jnp.sum(h)

        return x, jax.grad(loss_of)(w)

    rng = np.random.default_rng(2)
    w = rng.normal(size=(3, 2)).astype(np.float32)
    x = rng.normal(size=(sum(rows), 3)).astype(np.float32)
    replicas = run_ragged(step, rows, w, (x,))
    assert_all_equal(replicas, alone(w, x), rtol=1e-4, atol=1e-4)


def test_outputs_that_differ_in_shape_come_padded_with_zeros():
    def step(meeting, w, x):
        (total,) = meeting.sum(jnp.sum(x))
        return x + w, total, jnp.float32(x.shape[0]), x.T + 1

    rows, w = [3, 1, 0], np.float32(1)
    data = (np.arange(8, dtype=np.float32).reshape(4, 2),)
    program = RaggedProgram(step, rows, w, data)
    assert program.merged.in_shapes == ((), (3, 2))
    assert program.merged.out_shapes == (
        ((3, 2), (1, 2), (0, 2)),
        ((), (), ()),
        ((), (), ()),
        ((2, 3), (2, 1), (2, 0)),
    )
    whole, total, count, turned = program.padded(rows, w, data)
    np.testing.assert_array_equal(
        whole,
        [[[1, 2], [3, 4], [5, 6]], [[7, 8], [0, 0], [0, 0]], np.zeros((3, 2))],
    )
    np.testing.assert_array_equal(total, [28, 28, 28])
    np.testing.assert_array_equal(count, [3, 1, 0])
    np.testing.assert_array_equal(turned[1], [[7, 0, 0], [8, 0, 0]])


def test_no_operation_ever_sees_padding():
    """These have the same parameters and results for all shapes."""

    def step(meeting, w, x):
        own = jnp.min(x), jnp.prod(x), jnp.argmax(-x[:, 0])
        (total,) = meeting.sum(x.sum(0))
        return *own, jnp.min(x + total), jnp.prod(x)

    rows, data = [4, 2, 1], (np.arange(7, dtype=np.float32)[:, None] / 4 + 1,)
    outs = run_ragged(step, rows, np.float32(0), data)
    for part, out in zip(np.split(data[0], [4, 6]), outs, strict=True):
        expected = part.min(), part.prod(), 0, (part + data[0].sum()).min()
        np.testing.assert_allclose(out, (*expected, part.prod()), rtol=1e-6)


def test_a_step_without_collectives_is_one_switch():
    def step(meeting, w, x):
        return jnp.sum(x @ w)

    w, data = np.ones((2, 2), np.float32), (np.ones((5, 2), np.float32),)
    steps, counts = trace(step, [4, 1], w, data)
    merged = merge(steps, counts, 2)
    ids = np.zeros(2, np.int32)
    traced = jax.make_jaxpr(merged)(ids[0], ids, w, np.ones((4, 2), np.float32))
    assert [e.primitive.name for e in traced.eqns].count("cond") == 1
    assert [float(outs[0]) for outs in run_ragged(step, [4, 1], w, data)] == [16, 4]


def test_what_follows_the_reduced_gradients_is_compiled_once_for_all_shapes():
    rows, widths = [3, 2, 0], (4, 3, 2)
    params, data = parameters(widths), examples(5, widths)
    steps, counts = trace(mlp_step, rows, params, data)
    merged = merge(steps, counts, 3)
    ids = np.zeros(3, np.int32)
    padded = [np.zeros((3, *x.shape[1:]), x.dtype) for x in data]

    def last_equations(ids, *inputs):
        return merged(ids[0], ids, *inputs)

    with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), ())):
        traced = jax.make_jaxpr(last_equations, axis_env=[("replica", 3)])(
            ids, *jax.tree.leaves(params), *padded
        )
    names = [e.primitive.name for e in traced.eqns]
    update = names[len(names) - 1 - names[::-1].index("replica_all_reduce") + 1 :]
    assert "cond" not in update
    assert update.count("sub") == len(jax.tree.leaves(params))


def temporaries(compiled):
    return compiled.memory_analysis().temp_size_in_bytes


@pytest.mark.parametrize(("rows", "limit"), [([64, 17, 0], 1.35), ([640, 170, 0], 1.4)])
def test_temporaries_stay_near_those_of_the_full_step(rows, limit):
    """Three classes, with a collective in the forward pass that cuts every layer."""
    compiled = []
    for own in (rows, [rows[0]] * 3):
        params, data = parameters(), examples(sum(own))
        program = RaggedProgram(mlp_step, own, params, data)
        arguments = program.arguments(own, params, data)
        compiled.append(program.program.lower(*arguments).compile())
    ragged, full = compiled
    assert temporaries(ragged) <= limit * temporaries(full)
