"""Collectives of ragged steps: wherever they sit, whichever they are."""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from ragged_program import RaggedProgram, run_alone, run_ragged, trace
from replax._src.execution.ragged import merge
from replax._src.replica.collectives import reduce_scatter_p, replica_id_p

ROWS = [4, 1, 0, 4]
X = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)
W = np.random.default_rng(1).normal(size=(3, 2)).astype(np.float32)


def plain(f):
    return f


def with_custom_vjp(f):
    inner = jax.custom_vjp(f)
    inner.defvjp(lambda x: (f(x), x), lambda x, ct: jax.vjp(f, x)[1](ct))
    return inner


def with_custom_jvp(f):
    inner = jax.custom_jvp(f)
    inner.defjvp(lambda primals, tangents: jax.jvp(f, primals, tangents))
    return inner


def jit_of_checkpoint_of_jit(f):
    return jax.jit(jax.checkpoint(jax.jit(f)))


def each_column(f):
    return jax.vmap(f, in_axes=1, out_axes=1)


WRAPPERS = [
    plain,
    jax.jit,
    jax.checkpoint,
    with_custom_vjp,
    with_custom_jvp,
    jit_of_checkpoint_of_jit,
    each_column,
]


def assert_same(step, rows=ROWS, shared=W, local=(X,), rtol=1e-5):
    alone = run_alone(step, shared, local)
    for outs in run_ragged(step, rows, shared, local):
        for out, expected in zip(outs, alone, strict=True):
            np.testing.assert_allclose(out, expected, rtol=rtol, atol=1e-5)


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_sum_inside_a_wrapped_function(wrap):
    def step(meeting, w, x):
        @wrap
        def centred(h):
            return jnp.sin(h - meeting.sum(h.sum(0))[0] / 9)

        h = x @ w
        # Called twice: one body in the trace, two meetings.
        return meeting.sum(jnp.sum(centred(h) * centred(2 * h)))

    assert_same(step)


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_the_gradient_of_a_sum_inside_a_wrapped_function(wrap):
    def step(meeting, w, x):
        @wrap
        def centred(h):
            return jnp.sin(h - meeting.sum(h.sum(0))[0] / 9)

        grad = jax.grad(lambda w: jnp.sum(centred(x @ w) ** 2))(w)
        return meeting.sum(grad)

    assert_same(step, rtol=1e-4)


def test_the_gradient_of_a_gradient():
    def step(meeting, w, x):
        def loss_of(w):
            h = jnp.tanh(x @ w)
            mean = meeting.sum(h.sum(0))[0] / 9
            return meeting.sum(jnp.sum((h - mean) ** 3))[0]

        def steepness(w):
            if meeting.alone:
                return jnp.sum(jax.grad(loss_of)(w) ** 2)
            # The loss is the same on all replicas, and so is summed over them.
            (grad,) = meeting.sum(jax.grad(loss_of)(w) / meeting.num_replicas)
            return jnp.sum(grad**2)

        grad = jax.grad(steepness)(w)
        return meeting.sum(grad / meeting.num_replicas)

    assert_same(step, rtol=1e-3)


@pytest.mark.parametrize("axis", [0, 1])
def test_gathered_parts_lie_in_replica_order(axis):
    def step(meeting, w, x):
        part = jnp.moveaxis(x, 0, axis) * 2
        return meeting.gather(part, axis=axis), meeting.gather(x[:, 0] > 0)

    assert_same(step)


def test_parts_of_one_length_are_gathered_beside_ragged_ones():
    def step(meeting, w, x):
        (total,) = meeting.sum(x.sum(0))
        every = meeting.gather(total[None], total=meeting.num_replicas)
        return meeting.sum(every.sum(0) / meeting.num_replicas)[0] / len(ROWS)

    def alone(meeting, w, x):
        return x.sum(0)

    expected = run_alone(alone, W, (X,))[0]
    for (out,) in run_ragged(step, ROWS, W, (X,)):
        np.testing.assert_allclose(out, expected * len(ROWS) / 4, rtol=1e-5)


def test_the_gradient_of_gathering_reaches_the_rows_it_came_from():
    def step(meeting, w, x):
        weights = jnp.arange(9.0)[:, None]
        return jax.grad(lambda x: jnp.sum(meeting.gather(x) ** 2 * weights))(x)

    alone = 2 * X * np.arange(9.0)[:, None] * len(ROWS)
    ends = np.cumsum(ROWS)
    for (out,), end, n in zip(run_ragged(step, ROWS, W, (X,)), ends, ROWS, strict=True):
        np.testing.assert_allclose(out, alone[end - n : end], rtol=1e-5)


def test_a_scattered_sum_comes_padded_with_zeros():
    def step(meeting, w, x):
        return reduce_scatter_p.bind(
            w, axis=0, size=x.shape[0], total=9, num_replicas=4
        )

    whole = np.arange(18, dtype=np.float32).reshape(9, 2) + 1
    program = RaggedProgram(step, ROWS, whole, (X,))
    (out,) = program.padded(ROWS, whole, (X,))
    np.testing.assert_array_equal(out[1], [*(4 * whole[4:5]), *np.zeros((3, 2))])
    np.testing.assert_array_equal(out[3], 4 * whole[5:])


def test_nobody_has_rows():
    def step(meeting, w, x):
        return meeting.gather(x), *meeting.sum((x @ w).sum(0))

    (all_rows, total), *_ = run_ragged(step, [0, 0], W, (X[:0],))
    assert all_rows.shape == (0, 3)
    np.testing.assert_array_equal(total, [0, 0])


def test_collectives_of_jax_over_the_replica_axis():
    def step(meeting, w, x):
        count = jnp.float32(x.shape[0])
        return (
            lax.psum(count, "replica"),
            lax.pmean(count, "replica"),
            lax.pmax(count, "replica"),
            lax.pmin(count, "replica"),
            lax.ppermute(count, "replica", [(i, (i + 1) % 4) for i in range(4)]),
            lax.all_gather(count, "replica"),
            lax.axis_index("replica"),
            replica_id_p.bind(num_replicas=4),
        )

    outs = run_ragged(step, ROWS, W, (X,))
    for i, (total, mean, most, least, moved, every, index, replica) in enumerate(outs):
        assert (total, mean, most, least) == (9, 2.25, 4, 0)
        assert moved == ROWS[i - 1]
        np.testing.assert_array_equal(every, ROWS)
        assert index == replica == i


def test_a_result_that_only_some_classes_use():
    def step(meeting, w, x):
        (total,) = meeting.sum(x.sum(0))
        return meeting.sum((x - total).sum() if x.shape[0] > 1 else x.sum())

    expected = sum(
        (part - X.sum(0)).sum() if len(part) > 1 else part.sum()
        for part in np.split(X, np.cumsum(ROWS)[:-1])
    )
    for (out,) in run_ragged(step, ROWS, W, (X,)):
        np.testing.assert_allclose(out, expected, rtol=1e-4)


def test_classes_that_keep_different_values():
    """Values of other numbers, ranks and sizes share the memory all the same."""

    def step(meeting, w, x):
        if x.shape[0] > 1:
            kept = [jnp.exp(x @ w), jnp.exp(x).T @ jnp.exp(x), jnp.cos(x[0])]
        else:
            kept = [jnp.exp(x.sum()), jnp.exp(w).sum(0)]
        (total,) = meeting.sum(x.sum(0))
        return meeting.sum(sum(jnp.sum(k * total[0]) for k in kept))

    expected = 0.0
    for part in np.split(X, np.cumsum(ROWS)[:-1]):
        if len(part) > 1:
            kept = [np.exp(part @ W), np.exp(part).T @ np.exp(part), np.cos(part[0])]
        else:
            kept = [np.exp(part.sum()), np.exp(W).sum(0)]
        expected += sum(np.sum(k * X.sum(0)[0]) for k in kept)
    for (out,) in run_ragged(step, ROWS, W, (X,)):
        np.testing.assert_allclose(out, expected, rtol=1e-4)


def test_random_keys_are_kept_over_a_collective():
    def step(meeting, key, x):
        keys = jax.random.split(key, x.shape[0])
        (total,) = meeting.sum(x.sum())
        return jax.vmap(lambda k: jax.random.normal(k, (2,)))(keys) + total * 0

    key = jax.random.key(3)
    for n, (out,) in zip(ROWS, run_ragged(step, ROWS, key, (X,)), strict=True):
        drawn = [jax.random.normal(k, (2,)) for k in jax.random.split(key, n)]
        np.testing.assert_allclose(out, np.reshape(drawn, (n, 2)), rtol=1e-6)


def test_printing_survives(capfd):
    def step(meeting, w, x):
        jax.debug.print("before {}", jnp.int32(x.shape[0]) + 0 * jnp.int32(w[0, 0]))
        (total,) = meeting.sum(jnp.float32(x.shape[0]))
        jax.debug.print("after {}", total)
        return total

    run_ragged(step, ROWS, W, (X,))
    jax.effects_barrier()
    printed = sorted(capfd.readouterr().out.split("\n"))
    assert printed == ["", *["after 9.0"] * 4, *[f"before {n}" for n in sorted(ROWS)]]


def test_a_loop_that_all_replicas_run_alike():
    def step(meeting, w, x):
        def body(h, scale):
            h = jnp.tanh(h * scale - meeting.sum(h.sum(0))[0] / 9)
            return h, meeting.sum(jnp.sum(h))[0]

        def loss_of(w):
            h, sums = lax.scan(body, x @ w, jnp.arange(1.0, 4.0))
            return jnp.sum(h**2), sums

        (_, sums), grad = jax.value_and_grad(loss_of, has_aux=True)(w)
        return meeting.sum(grad)[0], sums

    assert_same(step, rtol=1e-4)


def test_a_loop_that_stacks_rows():
    def step(meeting, w, x):
        def body(h, _):
            h = h - meeting.sum(h.sum(0))[0] / 9
            return h * 2, h

        return meeting.gather(lax.scan(body, x, length=3)[1], axis=1)

    assert_same(step)


def test_a_while_loop_and_a_branch_decided_in_common():
    def step(meeting, w, x):
        def go_on(state):
            h, turns = state
            return jnp.logical_and(meeting.sum(jnp.sum(h**2))[0] > 0.5, turns < 20)

        def turn(state):
            h, turns = state
            return (h - meeting.sum(h.sum(0))[0] / 9) * 0.7, turns + 1

        h, turns = lax.while_loop(go_on, turn, (x, 0))
        (size,) = meeting.sum(jnp.sum(h**2))
        h = lax.cond(
            size < 0.5, lambda h: h + meeting.sum(h.sum(0))[0], lambda h: h, h + 1
        )
        return meeting.gather(h), turns

    assert_same(step)


def error_of(step, rows=(4, 1)):
    steps, counts = trace(step, list(rows), W, (X[: sum(rows)],))
    with pytest.raises(ValueError, match=r"\S") as caught:
        merge(steps, counts, sum(counts))
    return str(caught.value)


def line_of(text):
    """Where this file says something, as JAX names places."""
    source = pathlib.Path(__file__).read_text(encoding="utf-8").splitlines()
    (number,) = [i for i, line in enumerate(source, 1) if line.endswith(text)]
    return f"{__file__}:{number}"


def test_other_collectives_for_other_rows_are_refused_where_they_differ():
    def step(meeting, w, x):
        (total,) = meeting.sum(x.sum())
        if x.shape[0] > 1:
            (total,) = meeting.sum(total * 2)  # The second.
        return total

    message = error_of(step)
    assert "collective number 2 differs" in message
    assert "a replica with float32[4,3]: all_reduce of float32[]" in message
    assert "a replica with float32[1,3] meets the others no more" in message
    assert line_of("# The second.") in message


def test_collectives_in_another_order_are_refused():
    def step(meeting, w, x):
        if x.shape[0] > 1:
            (total,) = meeting.sum(x.sum())  # First here.
            return meeting.gather(x).sum() + total
        every = meeting.gather(x)  # First there.
        return meeting.sum(every.sum())[0]

    message = error_of(step)
    assert "collective number 1 differs" in message
    assert line_of("# First here.") in message
    assert line_of("# First there.") in message


def test_summing_rows_of_other_numbers_is_refused():
    def step(meeting, w, x):
        return meeting.sum(x)[0].sum()  # Too early.

    message = error_of(step)
    assert "all_reduce needs the same shape on all replicas" in message
    assert "float32[4,3]" in message
    assert "float32[1,3]" in message
    assert line_of("# Too early.") in message
    assert "Reduce over the rows first" in message


def test_gathering_what_differs_in_two_axes_is_refused():
    def step(meeting, w, x):
        return meeting.gather(x @ x.T).sum()  # Square.

    message = error_of(step)
    assert "may differ in length along one axis only" in message
    assert line_of("# Square.") in message


def test_gathering_with_jax_is_refused_for_other_numbers_of_rows():
    def step(meeting, w, x):
        return lax.all_gather(x, "replica", tiled=True).sum()  # Theirs.

    message = error_of(step)
    assert line_of("# Theirs.") in message
    assert "all_gather, which takes parts of different lengths" in message


def test_a_wrong_total_is_refused():
    def step(meeting, w, x):
        return meeting.gather(x, total=7).sum()

    assert "make 5" in error_of(step)


def test_a_loop_over_rows_with_a_collective_is_refused():
    def step(meeting, w, x):
        def body(carry, row):
            return carry + meeting.sum(row.sum())[0], None

        return lax.scan(body, jnp.float32(0), x)[0]  # Over rows.

    message = error_of(step)
    assert "it must have the same length" in message
    assert "[4, 1]" in message
    assert line_of("# Over rows.") in message


def test_a_collective_where_a_step_cannot_be_cut_is_refused():
    def step(meeting, w, x):
        def apply(v):
            return v * 2 + meeting.sum(v)[0] * 0

        return lax.custom_linear_solve(  # A solver.
            apply, x.sum(0), lambda apply, b: apply(b) / 4, symmetric=True
        )

    message = error_of(step)
    assert "inside custom_linear_solve" in message
    assert line_of("# A solver.") in message


def test_a_ref_used_on_both_sides_of_a_collective_is_refused():
    def step(meeting, w, x):
        ref = jax.new_ref(x.sum(0))
        (total,) = meeting.sum(x.sum())
        ref[...] += total
        return jax.freeze(ref)

    assert "only arrays can be" in error_of(step)


def test_outputs_of_other_types_are_refused():
    def step(meeting, w, x):
        return x.sum() if x.shape[0] > 1 else x

    assert "outputs of the same number, dtypes and ranks" in error_of(step)


def test_a_wrong_number_of_replicas_is_refused():
    def step(meeting, w, x):
        return x.sum()

    steps, _ = trace(step, [4, 1], W, (X[:5],))
    with pytest.raises(ValueError, match=r"do not make 3 replicas"):
        merge(steps, [1, 1], 3)
