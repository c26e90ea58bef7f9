"""Devices by name."""

from __future__ import annotations

from typing import Any

import jax
import pytest

from replax import config
from replax._src.topology import devices


@pytest.mark.parametrize(
    "name",
    [
        "CPU:2",
        "cpu:2",
        "/cpu:2",
        "/CPU:2",
        "device:cpu:2",
        "/device:CPU:2",
        " /device:CPU:2 ",
        "/task:0/device:CPU:2",
        "/job:localhost/replica:0/task:0/device:CPU:2",
        "/job:worker/task:3/device:CPU:2",
    ],
)
def test_the_spellings_of_a_device(name: str) -> None:
    assert devices.resolve_all([name]) == [jax.devices()[2]]


@pytest.mark.parametrize("name", ["CPU", "/cpu", "/device:CPU"])
def test_a_name_without_number_is_the_first(name: str) -> None:
    assert devices.resolve_all([name]) == [jax.devices()[0]]


def test_devices_of_jax_and_of_the_configuration_are_taken() -> None:
    third = jax.devices()[3]
    logical = config.list_logical_devices("CPU")[3]
    assert devices.resolve_all([third]) == [third]
    assert devices.resolve_all([logical]) == [third]
    assert devices.resolve_all(config.list_physical_devices("CPU")) == [
        jax.devices()[0]
    ]


@pytest.mark.parametrize(
    "name", ["GPU:0", "CPU:8", "CPU:-1", "CPU:*", "cpu0", "", ":0"]
)
def test_an_unknown_name_lists_what_there_is(name: str) -> None:
    with pytest.raises(ValueError, match="there is no device") as raised:
        devices.resolve_all([name])
    assert repr(name) in str(raised.value)
    assert "CPU:0, CPU:1" in str(raised.value)


def test_too_few_cpu_devices_says_how_to_have_more() -> None:
    with pytest.raises(ValueError, match="set_logical_device_configuration"):
        devices.resolve_all(["CPU:99"])


@pytest.mark.parametrize("name", [0, None, b"CPU:0", ["CPU:0"]])
def test_another_type_is_refused(name: Any) -> None:
    with pytest.raises(TypeError, match="give a string such as 'CPU:0'"):
        devices.resolve_all([name])


def test_a_repeated_device_is_refused_in_any_spelling() -> None:
    with pytest.raises(ValueError, match=r"'/device:CPU:1' is named twice"):
        devices.resolve_all(["CPU:0", "cpu:1", "/device:CPU:1"])


def test_short_names_are_those_of_the_list() -> None:
    listed = [d.name for d in config.list_logical_devices()]
    assert [f"/device:{devices.short_name(d)}" for d in jax.devices()] == listed


def test_logical_devices_by_type() -> None:
    assert len(config.list_logical_devices("cpu")) == 8
    assert config.list_logical_devices("GPU") == []
    assert config.list_logical_devices()[7] == config.LogicalDevice(
        "/device:CPU:7", "CPU"
    )


def test_physical_devices_are_not_the_virtual_ones() -> None:
    assert config.list_physical_devices("CPU") == [
        config.PhysicalDevice("/physical_device:CPU:0", "CPU")
    ]
    assert config.list_physical_devices("GPU") == []
    assert config.list_physical_devices() == config.list_physical_devices("CPU")
