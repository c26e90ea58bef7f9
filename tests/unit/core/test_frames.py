"""Where in the user's program something happened."""

from __future__ import annotations

import jax
import pytest

import replax
from replax._src.core.frames import user_location


def test_the_place_is_the_line_of_the_caller() -> None:
    place = user_location()
    assert place.startswith(f"{__file__}:")
    assert place.endswith("(test_the_place_is_the_line_of_the_caller)")


def test_frames_of_jax_are_passed_over() -> None:
    places: list[str] = []

    def body(x: float) -> float:
        places.append(user_location())
        return x

    jax.grad(body)(1.0)
    assert places[0].endswith("(body)")


def test_frames_of_the_library_are_not_the_users() -> None:
    strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        v = replax.Variable(0.0, name="v")

    def step() -> None:
        context = replax.distribute.get_replica_context()
        assert context is not None
        v.assign(float(context.replica_id_in_sync_group))

    with pytest.raises(ValueError, match=r"test_frames\.py:\d+ \(step\)"):
        strategy.run(step)
