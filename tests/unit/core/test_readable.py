"""Variables stand for the values that they have."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

import replax
from replax._src.core.readable import read


def test_a_nest_is_read_where_variables_are_in_it() -> None:
    v = replax.Variable(2.0)
    tree = replax.Variable({"w": jnp.ones(2)})
    found = read({"v": v, "list": [tree, 3], "none": None})
    assert float(found["v"]) == 2
    np.testing.assert_array_equal(found["list"][0]["w"], [1, 1])
    assert found["list"][1] == 3
    assert found["none"] is None


def test_what_holds_no_variable_is_returned_as_it_is() -> None:
    nest = {"a": [1, "text", None]}
    assert read(nest) is nest
