"""Virtual CPU devices, which are set up before anything is computed."""

from __future__ import annotations

from typing import Any

import pytest

from fresh_process import run_python
from replax import config
from replax.config import LogicalDeviceConfiguration as Logical

CPU = config.PhysicalDevice("/physical_device:CPU:0", "CPU")


def test_the_cpu_is_split_before_it_is_used() -> None:
    printed = run_python(
        "-c",
        "import replax\n"
        "from replax.config import *\n"
        "(cpu,) = list_physical_devices('CPU')\n"
        "print(get_logical_device_configuration(cpu))\n"
        "set_logical_device_configuration(cpu, [LogicalDeviceConfiguration()] * 2)\n"
        "set_logical_device_configuration(cpu, [LogicalDeviceConfiguration()] * 3)\n"
        "print(len(get_logical_device_configuration(cpu)))\n"
        "print([d.name for d in list_logical_devices()])\n"
        "print(len(list_physical_devices()))\n"
        "print(replax.distribute.MirroredStrategy().num_replicas_in_sync)\n",
    )
    assert printed.splitlines() == [
        "None",
        "3",
        "['/device:CPU:0', '/device:CPU:1', '/device:CPU:2']",
        "1",
        "3",
    ]


@pytest.mark.parametrize(
    "use",
    [
        "replax.config.list_logical_devices()",
        "replax.Variable(1.0)",
    ],
)
def test_after_any_use_the_error_says_so(use: str) -> None:
    printed = run_python(
        "-c",
        f"import jax, replax\n{use}\n"
        "c = replax.config\n"
        "(cpu,) = c.list_physical_devices('CPU')\n"
        "try:\n"
        "    c.set_logical_device_configuration(\n"
        "        cpu, [c.LogicalDeviceConfiguration()] * 2)\n"
        "except RuntimeError as error:\n"
        "    print(error)\n",
    )
    assert "cannot be split into 2 virtual devices any more" in printed
    assert "in use already (1 of them)" in printed
    assert "before the first array is made" in printed


def test_listing_physical_devices_opens_none() -> None:
    printed = run_python(
        "-c",
        "import replax\n"
        "from replax._src.core import jax_compat\n"
        "replax.config.list_physical_devices()\n"
        "print(jax_compat.backends_are_initialized())\n",
    )
    assert printed.strip() == "False"


def test_what_there_is_already_may_be_set() -> None:
    config.set_logical_device_configuration(CPU, [Logical()] * 8)
    assert config.get_logical_device_configuration(CPU) == [Logical()] * 8


def test_no_devices_are_refused() -> None:
    with pytest.raises(ValueError, match="logical_devices is empty"):
        config.set_logical_device_configuration(CPU, [])


def test_a_gpu_is_not_split() -> None:
    gpu = config.PhysicalDevice("/physical_device:GPU:0", "GPU")
    config.set_logical_device_configuration(gpu, [Logical()])
    with pytest.raises(ValueError, match="virtual devices for CPUs only"):
        config.set_logical_device_configuration(gpu, [Logical()] * 2)


def test_a_name_is_not_a_device() -> None:
    name: Any = "CPU:0"
    with pytest.raises(TypeError, match="'CPU:0', a str; give one of those that"):
        config.set_logical_device_configuration(name, [Logical()])


def test_a_memory_limit_is_refused_with_what_jax_has() -> None:
    assert Logical(memory_limit=None) == Logical()
    with pytest.raises(ValueError, match="XLA_PYTHON_CLIENT_MEM_FRACTION"):
        Logical(memory_limit=1024)
