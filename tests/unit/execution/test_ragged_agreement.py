"""Replicas with other numbers of rows agree on what they have to agree on."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import replax
from replax.distribute import MirroredStrategy
from running import compiled, context, eagerly, parts

ROWS = [4, 2, 0]
DATA = np.arange(18, dtype=np.float32).reshape(6, 3)
SUM = DATA.sum(0)

CONSTANT = np.arange(3, dtype=np.float32)


@pytest.fixture(scope="module")
def strategy() -> MirroredStrategy:
    return MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])


@pytest.fixture
def uneven(strategy: MirroredStrategy) -> Any:
    rows = np.split(DATA, np.cumsum(ROWS)[:-1])
    return strategy.experimental_distribute_values_from_function(
        lambda c: rows[c.replica_id_in_sync_group]
    )


def total(x: Any) -> Any:
    return context().all_reduce("SUM", jnp.sum(x, 0))


def line_of(text: str) -> str:
    source = pathlib.Path(__file__).read_text(encoding="utf-8").splitlines()
    (number,) = [i for i, line in enumerate(source, 1) if line.endswith(text)]
    return f"test_ragged_agreement.py:{number}"


UNEQUAL: dict[str, Callable[[Any], Any]] = {
    "divided by the own rows": lambda x: total(x) / max(x.shape[0], 1),
    "the number of rows": lambda x: jnp.full(3, x.shape[0], jnp.float32),
    "chosen by the rows": lambda x: total(x) * (2 if x.shape[0] > 2 else 1),
    "in a jitted function": lambda x: jax.jit(lambda t: t + x.shape[0])(total(x)),
    "in an array": lambda x: total(x) + np.full(3, x.shape[0], np.float32),
    "as often as there are rows": lambda x: lax.fori_loop(
        0, x.shape[0], lambda _, t: t * 2, total(x)
    ),
}


@pytest.mark.parametrize("what", UNEQUAL)
@pytest.mark.parametrize("run", [eagerly, compiled])
def test_a_value_that_depends_on_the_number_of_rows_is_refused(
    strategy: MirroredStrategy, uneven: Any, run: Any, what: str
) -> None:
    with strategy.scope():
        v = replax.Variable(jnp.zeros(3), name="weights")

    def step(x: Any) -> None:
        v.assign(UNEQUAL[what](x))  # here

    with pytest.raises(ValueError, match="'weights' has no aggregation") as caught:
        run(strategy, step, uneven)
    message = str(caught.value)
    assert line_of("# here") in message
    assert "all_reduce('MEAN', value)" in message
    if run is compiled:
        assert "it depends on how many rows a replica has" in message
    assert parts(strategy, v) == [[0, 0, 0]] * 3


# Made anew by each trace, though nothing in them depends on the rows.
EQUAL: dict[str, Callable[[Any], Any]] = {
    "a custom gradient": jax.nn.relu,
    "its gradient": jax.grad(lambda t: jnp.sum(jax.nn.softplus(t) ** 2)),
    "an array of NumPy": lambda t: t + CONSTANT + np.ones(3, np.float32),
    "two equal arrays": lambda t: t + np.ones(3, "f") * t + np.ones(3, "f"),
    "a number that is none": lambda t: t + jnp.var(t),
    "jit of a lambda": lambda t: jax.jit(lambda u: u * jnp.arange(3.0) + t)(t),
    "random numbers": lambda t: t + jax.random.normal(jax.random.key(1), (3,)),
    "a loop": lambda t: lax.fori_loop(0, 3, lambda i, u: u * i + 1, t),
    "a branch": lambda t: lax.cond(t[0] > 0, lambda: t, lambda: -t),
    "constants alone": lambda t: jnp.full(3, 2.0),
}


@pytest.mark.parametrize("what", EQUAL)
def test_what_does_not_depend_on_it_may_be_assigned(
    strategy: MirroredStrategy, uneven: Any, what: str
) -> None:
    with strategy.scope():
        v = replax.Variable(jnp.zeros(3))
    compiled(strategy, lambda x: v.assign(EQUAL[what](total(x))), uneven)
    found = np.asarray(parts(strategy, v))
    np.testing.assert_allclose(found, [EQUAL[what](SUM)] * 3, rtol=1e-5)


UNDECIDED: dict[str, Callable[[Any], Any]] = {
    "while": lambda x: lax.while_loop(
        lambda c: c[0] < x.shape[0], lambda c: (c[0] + 1, total(x)), (0, jnp.zeros(3))
    ),
    "fori": lambda x: lax.fori_loop(
        0, jnp.int32(x.shape[0]), lambda i, c: c + total(x), jnp.zeros(3)
    ),
    "cond": lambda x: lax.cond(
        (total(x)[0] > 0) == (x.shape[0] > 2), lambda: total(x), lambda: jnp.zeros(3)
    ),
    "switch": lambda x: lax.switch(
        jnp.int32(x.shape[0]), [lambda: total(x), lambda: -total(x)]
    ),
}


@pytest.mark.parametrize("what", UNDECIDED)
def test_the_number_of_rows_may_not_decide_who_meets(
    strategy: MirroredStrategy, uneven: Any, what: str
) -> None:
    with pytest.raises(
        ValueError,
        match=r"under a condition that may differ between them \(.*test_ragged_agree"
        r"ment\.py:\d+.*some would wait for ever; bring the condition together first",
    ):
        compiled(strategy, UNDECIDED[what], uneven)


def test_a_loop_that_counts_is_decided_alike(
    strategy: MirroredStrategy, uneven: Any
) -> None:
    def step(x: Any) -> Any:
        counted = lax.while_loop(
            lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + total(x)), (0, jnp.zeros(3))
        )
        return counted[1] + x.shape[0]

    found = np.asarray(parts(strategy, compiled(strategy, step, uneven)))
    np.testing.assert_allclose(found, [3 * SUM + n for n in ROWS])
