"""Options of a dataset."""

from __future__ import annotations

import copy
import dataclasses
import enum
import functools
import typing
from typing import Any

__all__ = [
    "SHARD_HINT",
    "AutoShardPolicy",
    "AutotuneOptions",
    "DistributeOptions",
    "OptimizationOptions",
    "Options",
    "ThreadingOptions",
]


# In place of both arguments of ``shard``: the policy HINT puts in its own.
SHARD_HINT = -1


class AutoShardPolicy(enum.IntEnum):
    """How the workers of a cluster share a dataset.

    >>> import replax
    >>> replax.data.experimental.AutoShardPolicy.DATA.name
    'DATA'
    """

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


@functools.cache
def _types(options: type) -> dict[str, Any]:
    return typing.get_type_hints(options)


def _written(wanted: Any) -> str:
    if isinstance(wanted, type) and issubclass(wanted, enum.Enum):
        return " or ".join(f"{wanted.__name__}.{member.name}" for member in wanted)
    return getattr(wanted, "__name__", str(wanted))


class _Checked:
    """Options that refuse names they do not have: a misspelt option has no effect."""

    def __setattr__(self, name: str, value: Any) -> None:
        known = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        if name not in known:
            msg = (
                f"{type(self).__name__} has no option {name!r}; it has "
                f"{', '.join(sorted(known))}"
            )
            raise AttributeError(msg)
        wanted = _types(type(self))[name]
        if not isinstance(value, wanted):
            msg = f"{name} is {value!r}; it has to be of type {_written(wanted)}"
            raise TypeError(msg)
        self._check(name, value)
        object.__setattr__(self, name, value)

    def _check(self, name: str, value: Any) -> None:
        del name, value


@dataclasses.dataclass
class DistributeOptions(_Checked):
    """How a dataset is shared among workers.

    >>> import replax
    >>> replax.data.Options().experimental_distribute.auto_shard_policy.name
    'AUTO'
    """

    auto_shard_policy: AutoShardPolicy = AutoShardPolicy.AUTO
    num_devices: int | None = None


@dataclasses.dataclass
class ThreadingOptions(_Checked):
    """How many threads a dataset uses.

    >>> import replax
    >>> options = replax.data.Options()
    >>> options.threading.private_threadpool_size = 4
    """

    private_threadpool_size: int | None = None
    max_intra_op_parallelism: int | None = None


@dataclasses.dataclass
class AutotuneOptions(_Checked):
    """Accepted, and without effect: nothing is tuned while it runs.

    >>> import replax
    >>> replax.data.Options().autotune.enabled = False
    """

    enabled: bool | None = None
    cpu_budget: int | None = None
    ram_budget: int | None = None


@dataclasses.dataclass
class OptimizationOptions(_Checked):
    """Accepted, and without effect: a plan is executed batch by batch anyway.

    >>> import replax
    >>> replax.data.Options().experimental_optimization.map_parallelization = True
    """

    apply_default_optimizations: bool | None = None
    filter_fusion: bool | None = None
    filter_parallelization: bool | None = None
    inject_prefetch: bool | None = None
    map_and_batch_fusion: bool | None = None
    map_and_filter_fusion: bool | None = None
    map_fusion: bool | None = None
    map_parallelization: bool | None = None
    noop_elimination: bool | None = None
    parallel_batch: bool | None = None
    seq_interleave_prefetch: bool | None = None
    shuffle_and_repeat_fusion: bool | None = None


@dataclasses.dataclass
class Options(_Checked):
    """What can be chosen for a dataset as a whole; see ``Dataset.with_options``.

    Attributes:
      experimental_distribute: How workers share it.
      threading: How many threads it uses for functions of users.
      autotune: Accepted for TensorFlow's programs.
      experimental_optimization: Accepted for TensorFlow's programs.
      deterministic: Accepted; the order of elements is always kept.
      worker_processes: How many processes call the functions given to ``map``; with 0,
        the default, they are called in this process.

    >>> import replax
    >>> options = replax.data.Options()
    >>> options.worker_processes = 2
    >>> dataset = replax.data.Dataset.range(4).with_options(options)
    >>> dataset.options().worker_processes
    2
    """

    experimental_distribute: DistributeOptions = dataclasses.field(
        default_factory=DistributeOptions
    )
    threading: ThreadingOptions = dataclasses.field(default_factory=ThreadingOptions)
    autotune: AutotuneOptions = dataclasses.field(default_factory=AutotuneOptions)
    experimental_optimization: OptimizationOptions = dataclasses.field(
        default_factory=OptimizationOptions
    )
    deterministic: bool | None = None
    experimental_deterministic: bool | None = None
    experimental_slack: bool | None = None
    experimental_symbolic_checkpoint: bool | None = None
    experimental_warm_start: bool | None = None
    worker_processes: int = 0

    def _check(self, name: str, value: Any) -> None:
        if name == "worker_processes" and (type(value) is not int or value < 0):
            msg = (
                f"worker_processes is {value!r}; give how many processes are to call "
                f"the functions of map, or 0 to call them in this one"
            )
            raise ValueError(msg)

    def merge(self, options: Options) -> Options:
        """These options, with what ``options`` says otherwise than the defaults."""
        return _merged(self, options)


def _merged(ours: Any, theirs: Any) -> Any:
    merged = copy.copy(ours)
    defaults = type(ours)()
    for field in dataclasses.fields(ours):
        value = getattr(theirs, field.name)
        if isinstance(value, _Checked):
            value = _merged(getattr(ours, field.name), value)
        elif value == getattr(defaults, field.name):
            continue
        object.__setattr__(merged, field.name, value)
    return merged
