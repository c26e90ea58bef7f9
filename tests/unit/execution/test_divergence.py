"""What differs between replicas is followed through a step."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import io_callback

from replax._src.core.jax_compat import axis_bound
from replax._src.execution.divergence import (
    diverging_meeting,
    varying_outputs,
    varying_sources,
)
from replax._src.replica.collectives import (
    all_gather_p,
    all_reduce_p,
    reduce_scatter_p,
    replica_id_p,
)

AXIS = "replica"


def summed(*operands):
    return tuple(all_reduce_p.bind(*operands, num_replicas=2))


def traced(step):
    """A step of a value of each replica's own and of a common one."""
    with axis_bound(AXIS, 2):
        return jax.make_jaxpr(step)(np.ones(4, np.float32), np.ones(4, np.float32))


def varying(step):
    return varying_outputs(traced(step), [True, False])


def test_what_is_computed_from_inputs_is_like_them():
    assert varying(lambda x, w: (x + w, w * 2, x, 3.0, x.shape[0] * w)) == [
        True,
        False,
        True,
        False,
        False,
    ]


def test_what_no_output_needs_does_not_matter():
    assert varying(lambda x, w: (jnp.zeros_like(x), jnp.ones(x.shape) + w)) == [
        False,
        False,
    ]


COMMON = {
    "all_reduce": lambda x: summed(x)[0],
    "all_gather": lambda x: all_gather_p.bind(
        x, axis=0, size=4, total=8, num_replicas=2
    ),
    "psum": lambda x: lax.psum(x, AXIS),
    "pmean": lambda x: lax.pmean(x, AXIS),
    "pmax": lambda x: lax.pmax(x, AXIS),
    "pmin": lambda x: lax.pmin(x, AXIS),
    "lax.all_gather": lambda x: lax.all_gather(x, AXIS),
}
VARYING = {
    "reduce_scatter": lambda x: reduce_scatter_p.bind(
        x, axis=0, size=2, total=4, num_replicas=2
    ),
    "ppermute": lambda x: lax.ppermute(x, AXIS, [(0, 1), (1, 0)]),
    "psum_scatter": lambda x: lax.psum_scatter(x, AXIS, tiled=True),
    "all_to_all": lambda x: lax.all_to_all(x, AXIS, 0, 0, tiled=True),
    "replica_id": lambda x: replica_id_p.bind(num_replicas=2),
    "axis_index": lambda x: lax.axis_index(AXIS),
}


@pytest.mark.parametrize("name", COMMON)
def test_a_collective_makes_values_common(name):
    collective = COMMON[name]
    assert varying(lambda x, w: (collective(x), collective(x).sum() + x)) == [
        False,
        True,
    ]


@pytest.mark.parametrize("name", VARYING)
def test_other_collectives_make_even_common_values_differ(name):
    assert varying(lambda x, w: VARYING[name](w)) == [True]


def with_custom_vjp(f):
    inner = jax.custom_vjp(f)
    inner.defvjp(lambda x, w: (f(x, w), None), lambda residual, ct: ct)
    return inner


def with_custom_jvp(f):
    inner = jax.custom_jvp(f)
    inner.defjvp(lambda primals, tangents: (f(*primals), tangents))
    return inner


@pytest.mark.parametrize(
    "wrap", [jax.jit, jax.checkpoint, with_custom_vjp, with_custom_jvp, jax.vmap]
)
def test_wrapped_functions_are_looked_into(wrap):
    def step(x, w):
        return wrap(lambda x, w: (w * 2, x * 2))(x, w)

    assert varying(step) == [False, True]


@pytest.mark.parametrize("wrap", [jax.jit, jax.checkpoint])
def test_collectives_are_found_in_wrapped_functions(wrap):
    assert varying(lambda x, w: wrap(lambda x: (summed(x)[0], x))(x)) == [False, True]


def test_gradients_differ_until_they_are_reduced():
    def step(x, w):
        grad = jax.grad(lambda w: jnp.sum(jnp.tanh(x * w)))(w)
        return w - 0.1 * grad, w - 0.1 * summed(grad)[0]

    assert varying(step) == [True, False]


def test_a_barrier_mixes_nothing():
    assert varying(lambda x, w: lax.optimization_barrier((x, w))) == [True, False]


def test_what_a_scan_carries_is_followed_to_the_end():
    def step(x, w):
        def body(carry, row):
            # In each turn, what differs comes one place further.
            a, b, c, d = carry
            return (row, a, b, d + 1), (c, d)

        start = (0.0, 0.0, 0.0, 0.0)
        carry, stacked = lax.scan(body, start, x)
        return (*carry, *stacked)

    assert varying(step) == [True, True, True, False, True, False]


def test_a_scan_that_reduces_carries_something_common():
    def step(x, w):
        def body(carry, row):
            return carry + summed(row)[0], row

        return lax.scan(body, w[0], x)

    assert varying(step) == [False, True]


def test_a_while_loop_that_replicas_leave_at_different_times():
    def step(x, w):
        def turns(limit):
            return lax.while_loop(
                lambda state: state[0] < limit, lambda s: (s[0] + 1, s[1] * 2), (0.0, w)
            )

        return turns(x[0]), turns(w[0])

    assert varying(step) == [True, True, False, False]


def test_a_while_loop_with_a_body_that_makes_its_decision_differ():
    def step(x, w):
        return lax.while_loop(
            lambda state: state[0] < 5, lambda s: (s[0] + x[0], s[1] * 2), (0.0, w)
        )

    assert varying(step) == [True, True]


def test_branches_that_replicas_take_differently():
    def step(x, w):
        def choose(decision):
            return lax.cond(decision, lambda: (w, w), lambda: (w * 2, x))

        return choose(x[0] > 0), choose(w[0] > 0)

    assert varying(step) == [True, True, False, True]


def test_random_numbers_are_as_common_as_their_key():
    def step(x, w):
        key = jax.random.key(0)
        own = jax.random.fold_in(key, lax.axis_index(AXIS))
        return jax.random.normal(key), jax.random.normal(own)

    assert varying(step) == [False, True]


def test_what_the_host_returns_may_differ():
    def step(x, w):
        shape = jax.ShapeDtypeStruct((), np.float32)
        return io_callback(lambda: np.float32(0), shape)

    assert varying(step) == [True]


def test_an_operation_that_is_not_understood_mixes_what_it_gets():
    def solve(x, w):
        return lax.custom_linear_solve(
            lambda v: v * 2, x, lambda apply, b: b / 2, symmetric=True
        )

    assert varying(solve) == [True]
    assert varying(lambda x, w: solve(w, w)) == [False]
    assert varying(lambda x, w: solve(w + lax.axis_index(AXIS), w)) == [True]


def test_the_source_is_the_first_cause():
    def step(x, w):
        own = w * replica_id_p.bind(num_replicas=2)  # Here.
        return w, x * own, own

    common, of_input, of_id = varying_sources(traced(step), [True, False])
    assert common is None
    assert of_input is not None
    assert of_id is not None
    assert of_input.input == 0
    assert of_id.input is None
    assert of_id.operation == "replica_id"
    assert "test_divergence.py" in of_id.location


def test_a_meeting_that_not_all_replicas_may_reach():
    def step(decide):
        def run(x, w):
            return lax.cond(decide(x, w)[0] > 0, lambda: summed(w)[0], lambda: w)

        return traced(run)

    own, common = step(lambda x, w: x), step(lambda x, w: w)
    assert "test_divergence.py" in (diverging_meeting(own, [True, False]) or "")
    assert diverging_meeting(common, [True, False]) is None


def test_a_branch_without_collectives_may_be_taken_differently():
    step = traced(lambda x, w: lax.cond(x[0] > 0, lambda: w, lambda: -w))
    assert diverging_meeting(step, [True, False]) is None
