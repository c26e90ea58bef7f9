"""Which devices there are, and the ways to name one."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax

from replax._src.core import jax_compat

__all__ = [
    "LogicalDevice",
    "LogicalDeviceConfiguration",
    "PhysicalDevice",
    "default_devices",
    "get_logical_device_configuration",
    "list_logical_devices",
    "list_physical_devices",
    "resolve_all",
    "set_logical_device_configuration",
    "short_name",
]

# JAX calls GPUs by their maker in some places.
_PLATFORM_TYPES = {
    "cpu": "CPU",
    "gpu": "GPU",
    "cuda": "GPU",
    "rocm": "GPU",
    "tpu": "TPU",
}

_SPELLING = re.compile(
    r"^/?(?:job:[^/]+/)?(?:replica:\d+/)?(?:task:\d+/)?"
    r"(?:device:)?(?P<kind>[a-z]+)(?::(?P<number>\d+|\*))?$"
)


@dataclasses.dataclass(frozen=True)
class PhysicalDevice:
    """A device of the machine.

    >>> import replax
    >>> replax.config.list_physical_devices("CPU")[0]
    PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')
    """

    name: str
    device_type: str


@dataclasses.dataclass(frozen=True)
class LogicalDevice:
    """A device as programs see it.

    >>> import replax
    >>> replax.config.list_logical_devices("CPU")[0]
    LogicalDevice(name='/device:CPU:0', device_type='CPU')
    """

    name: str
    device_type: str


@dataclasses.dataclass(frozen=True)
class LogicalDeviceConfiguration:
    """How one logical device is set up.

    Args:
      memory_limit: Accepted for programs that set it; JAX sets the memory of GPUs for
        the whole process (``XLA_PYTHON_CLIENT_MEM_FRACTION``), so it must be None.

    >>> import replax
    >>> replax.config.LogicalDeviceConfiguration()
    LogicalDeviceConfiguration(memory_limit=None)
    """

    memory_limit: int | None = None

    def __post_init__(self) -> None:
        if self.memory_limit is not None:
            msg = (
                f"memory_limit is {self.memory_limit}, but JAX has no limit for one "
                f"device; set XLA_PYTHON_CLIENT_MEM_FRACTION for the process instead"
            )
            raise ValueError(msg)


_configured: dict[PhysicalDevice, tuple[LogicalDeviceConfiguration, ...]] = {}


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of the machine, without opening them where that can be avoided.

    >>> import replax
    >>> len(replax.config.list_physical_devices("CPU"))
    1
    """
    kinds = ("CPU", "GPU", "TPU") if device_type is None else (device_type.upper(),)
    found: list[PhysicalDevice] = []
    for kind in kinds:
        count = 1 if kind == "CPU" else _count_accelerators(kind)
        found += [
            PhysicalDevice(f"/physical_device:{kind}:{i}", kind) for i in range(count)
        ]
    return found


def _count_accelerators(kind: str) -> int:
    if jax_compat.backends_are_initialized():
        return sum(_type_of(device) == kind for device in jax.local_devices())
    # Asking JAX would open the devices, after which they cannot be configured.
    pattern = {"GPU": "nvidia[0-9]*", "TPU": "accel[0-9]*"}.get(kind)
    if pattern is None or _platforms_exclude(kind):
        return 0
    return len(list(Path("/dev").glob(pattern)))


def _platforms_exclude(kind: str) -> bool:
    named: str | None = jax_compat.setting("jax_platforms")
    platforms = [p for p in (named or "").split(",") if p]
    return bool(platforms) and kind not in {
        _PLATFORM_TYPES.get(p, p.upper()) for p in platforms
    }


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices as programs see them; opens them.

    >>> import replax
    >>> replax.config.list_logical_devices("CPU")[0].device_type
    'CPU'
    """
    numbers: dict[str, int] = {}
    found: list[LogicalDevice] = []
    for device in _all_devices():
        kind = _type_of(device)
        number = numbers.get(kind, 0)
        numbers[kind] = number + 1
        if device_type is None or kind == device_type.upper():
            found.append(LogicalDevice(f"/device:{kind}:{number}", kind))
    return found


def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: Sequence[LogicalDeviceConfiguration]
) -> None:
    """Splits the CPU into virtual devices; before anything is computed.

    Args:
      device: The CPU, from :func:`list_physical_devices`.
      logical_devices: One configuration for each virtual device.

    >>> import replax
    >>> cpu = replax.config.list_physical_devices("CPU")[0]
    >>> eight = [replax.config.LogicalDeviceConfiguration()] * 8
    >>> replax.config.set_logical_device_configuration(cpu, eight)
    >>> len(replax.config.list_logical_devices("CPU"))
    8
    """
    if not isinstance(device, PhysicalDevice):
        msg = (
            f"the device is {device!r}, a {type(device).__name__}; give one of those "
            f"that replax.config.list_physical_devices returns"
        )
        raise TypeError(msg)
    count = len(logical_devices)
    if count < 1:
        msg = "logical_devices is empty; give one LogicalDeviceConfiguration a device"
        raise ValueError(msg)
    if device.device_type != "CPU":
        if count == 1:
            return
        msg = (
            f"{device.name} cannot be split into {count} logical devices: JAX has "
            f"virtual devices for CPUs only"
        )
        raise ValueError(msg)
    if jax_compat.backends_are_initialized():
        present = len(jax.local_devices(backend="cpu"))
        if present == count:
            _configured[device] = tuple(logical_devices)
            return
        msg = (
            f"the CPU cannot be split into {count} virtual devices any more: the "
            f"devices are in use already ({present} of them). Call "
            f"set_logical_device_configuration before the first array is made, the "
            f"first strategy is created and devices are listed"
        )
        raise RuntimeError(msg)
    jax.config.update("jax_num_cpu_devices", count)
    _configured[device] = tuple(logical_devices)


def get_logical_device_configuration(
    device: PhysicalDevice,
) -> list[LogicalDeviceConfiguration] | None:
    """What was set with :func:`set_logical_device_configuration`, or None.

    >>> import replax
    >>> gpu = replax.config.PhysicalDevice("/physical_device:GPU:9", "GPU")
    >>> replax.config.get_logical_device_configuration(gpu) is None
    True
    """
    configured = _configured.get(device)
    return None if configured is None else list(configured)


def default_devices() -> list[jax.Device]:
    """The devices that training uses by itself: accelerators if any, else CPUs."""
    return list(jax.local_devices())


def resolve_all(named: Sequence[Any]) -> list[jax.Device]:
    """The devices that are named, each once.

    Args:
      named: Any of ``"/cpu:0"``, ``"CPU:0"``, ``"/device:CPU:0"``,
        ``"/job:localhost/replica:0/task:0/device:CPU:0"``, logical devices and
        ``jax.Device``s.
    """
    devices = [_resolve(name) for name in named]
    for position, device in enumerate(devices):
        if device in devices[:position]:
            msg = (
                f"device {named[position]!r} is named twice in {list(named)!r}; give "
                f"each replica a device of its own"
            )
            raise ValueError(msg)
    return devices


def _resolve(name: Any) -> jax.Device:
    if isinstance(name, jax.Device):
        return name
    if isinstance(name, (LogicalDevice, PhysicalDevice)):
        name = name.name.replace("/physical_device:", "/device:")
    if not isinstance(name, str):
        msg = (
            f"a device is named by {name!r}, a {type(name).__name__}; give a string "
            f"such as 'CPU:0', or a jax.Device"
        )
        raise TypeError(msg)
    match = _SPELLING.match(name.strip().lower())
    kind = _PLATFORM_TYPES.get(match["kind"]) if match else None
    if match and kind and match["number"] != "*":
        number = int(match["number"] or 0)
        alike = [d for d in _all_devices() if _type_of(d) == kind]
        if number < len(alike):
            return alike[number]
    present = ", ".join(d.name.removeprefix("/device:") for d in list_logical_devices())
    hint = (
        "; to have more CPU devices, call replax.config.set_logical_device_"
        "configuration first"
        if kind == "CPU"
        else ""
    )
    msg = f"there is no device {name!r}; there are {present}{hint}"
    raise ValueError(msg)


def short_name(device: jax.Device) -> str:
    """How the device is named by :func:`list_logical_devices`, such as ``CPU:1``."""
    kind = _type_of(device)
    alike = [d for d in _all_devices() if _type_of(d) == kind]
    return f"{kind}:{alike.index(device) if device in alike else device.id}"


def _all_devices() -> list[jax.Device]:
    devices = list(jax.local_devices())
    if devices[0].platform != "cpu":
        devices = list(jax.local_devices(backend="cpu")) + devices
    return devices


def _type_of(device: jax.Device) -> str:
    return _PLATFORM_TYPES.get(device.platform, device.platform.upper())
