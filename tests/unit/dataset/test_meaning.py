"""What random plans give, against plain Python."""

from __future__ import annotations

import hypothesis
import jax

import naive
import plans
from replax import TensorSpec


@hypothesis.settings(max_examples=150)
@hypothesis.given(plans.plans())
def test_elements_are_those_of_plain_python(plan: plans.Plan) -> None:
    dataset = plan.build()
    for _ in range(2):
        given = list(dataset)
        assert naive.all_same(given, plan.elements), (given, plan.elements)


@hypothesis.settings(max_examples=75)
@hypothesis.given(plans.plans())
def test_cardinality_is_the_number_of_elements_where_it_is_one(
    plan: plans.Plan,
) -> None:
    dataset = plan.build()
    count = dataset.cardinality()
    if count >= 0:
        assert count == len(plan.elements) == len(dataset)


@hypothesis.settings(max_examples=75)
@hypothesis.given(plans.plans())
def test_every_element_fits_the_element_spec(plan: plans.Plan) -> None:
    hypothesis.assume(plan.elements)
    dataset = plan.build()
    spec = dataset.element_spec
    for element in dataset:
        specs, structure = jax.tree.flatten(spec)
        leaves = structure.flatten_up_to(element)
        for part, leaf in zip(specs, leaves, strict=True):
            assert isinstance(part, TensorSpec)
            if isinstance(leaf, bytes):
                assert part == TensorSpec((), object)
            elif plan.ragged:
                # What a function makes of ragged rows is known from the first few.
                assert (part.shape.rank, part.dtype) == (leaf.ndim, leaf.dtype)
            else:
                assert part.is_compatible_with(leaf), (part, leaf)
