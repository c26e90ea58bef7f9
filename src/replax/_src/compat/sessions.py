"""What TensorFlow 1 programs say about graphs and sessions, of which there are none."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any, NoReturn

from replax._src.core.deprecation import warn_deprecated
from replax._src.core.errors import UnimplementedError

__all__ = [
    "ConfigProto",
    "disable_eager_execution",
    "disable_v2_behavior",
    "enable_eager_execution",
    "enable_v2_behavior",
]


@dataclasses.dataclass
class ConfigProto:
    """How a session would run; it is kept, and used by nothing.

    Args:
      allow_soft_placement: For TensorFlow's sake, like all that follow.
      log_device_placement: See ``allow_soft_placement``.
      inter_op_parallelism_threads: See ``allow_soft_placement``.
      intra_op_parallelism_threads: See ``allow_soft_placement``.
      device_count: See ``allow_soft_placement``.
      device_filters: See ``allow_soft_placement``.
      gpu_options: See ``allow_soft_placement``.
      graph_options: See ``allow_soft_placement``.
      experimental: See ``allow_soft_placement``.

    >>> import replax.compat.v1 as tf
    >>> config = tf.ConfigProto(allow_soft_placement=True)
    >>> config.gpu_options.allow_growth = True
    >>> config.allow_soft_placement
    True
    """

    allow_soft_placement: bool = False
    log_device_placement: bool = False
    inter_op_parallelism_threads: int = 0
    intra_op_parallelism_threads: int = 0
    device_count: dict[str, int] = dataclasses.field(default_factory=dict[str, int])
    device_filters: list[str] = dataclasses.field(default_factory=list[str])
    gpu_options: Any = dataclasses.field(default_factory=SimpleNamespace)
    graph_options: Any = dataclasses.field(default_factory=SimpleNamespace)
    experimental: Any = dataclasses.field(default_factory=SimpleNamespace)


def enable_eager_execution(
    config: ConfigProto | None = None,
    device_policy: Any = None,
    execution_mode: Any = None,
) -> None:
    """Does nothing: Python computes with values in any case.

    Args:
      config: Taken for TensorFlow's sake.
      device_policy: Taken for TensorFlow's sake.
      execution_mode: Taken for TensorFlow's sake.

    >>> import warnings
    >>> import replax.compat.v1 as tf
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     tf.enable_eager_execution()
    >>> len(caught), tf.executing_eagerly()
    (1, True)
    """
    del config, device_policy, execution_mode
    warn_deprecated("compat.v1.enable_eager_execution")


def enable_v2_behavior() -> None:
    """Does nothing: everything behaves as in TensorFlow 2 in any case.

    >>> import warnings
    >>> import replax.compat.v1 as tf
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     tf.enable_v2_behavior()
    >>> len(caught)
    1
    """
    warn_deprecated("compat.v1.enable_v2_behavior")


def disable_eager_execution() -> NoReturn:
    """Refuses: there are no graphs to build.

    >>> import replax.compat.v1 as tf
    >>> tf.disable_eager_execution()
    Traceback (most recent call last):
        ...
    replax._src.core.errors.UnimplementedError: disable_eager_execution: ...
    """
    _refuse("disable_eager_execution")


def disable_v2_behavior() -> NoReturn:
    """Refuses: there are no graphs to build.

    >>> import replax.compat.v1 as tf
    >>> tf.disable_v2_behavior()
    Traceback (most recent call last):
        ...
    replax._src.core.errors.UnimplementedError: disable_v2_behavior: ...
    """
    _refuse("disable_v2_behavior")


def _refuse(name: str) -> NoReturn:
    msg = (
        f"{name}: the program would go on with graphs and sessions, which do not exist "
        f"here; leave the call out, call functions instead of running sessions, and "
        f"compile them with tf.function"
    )
    raise UnimplementedError(msg)
