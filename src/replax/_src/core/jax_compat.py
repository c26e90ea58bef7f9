"""The one place for JAX names that are not public, or that move between versions."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from collections.abc import Callable, Generator, Sequence
from typing import Any

import jax

# `jax.extend` has these in public, but importing it takes a twentieth of the time that
# importing all of JAX takes.
from jax._src import cloud_tpu_init as _cloud_tpu_init
from jax._src import clusters as _clusters
from jax._src import compiler as _compiler
from jax._src import config as _config
from jax._src import core as _core
from jax._src import distributed as _distributed
from jax._src import source_info_util
from jax._src import traceback_util as _traceback_util
from jax._src import xla_bridge as _xla_bridge
from jax._src.array import ArrayImpl as _ArrayImpl
from jax._src.core import (
    ClosedJaxpr,
    DropVar,
    Jaxpr,
    JaxprEqn,
    Literal,
    Primitive,
    Var,
)
from jax._src.lib import _jax as jaxlib_extension  # pyright: ignore[reportPrivateImportUsage, reportPrivateUsage]
from jax._src.random.prng import PRNGKeyArray as _PRNGKeyArray

__all__ = [
    "ArrayClass",
    "ClosedJaxpr",
    "DropVar",
    "Jaxpr",
    "JaxprEqn",
    "KeyArrayClass",
    "Literal",
    "Primitive",
    "Var",
    "abandon_distributed",
    "axis_bound",
    "backends_are_initialized",
    "bind_eqn",
    "caller_settings",
    "cluster_detector",
    "current_trace",
    "distributed_client",
    "distributed_rank_and_size",
    "eqn_location",
    "is_compiling",
    "is_lowered_over",
    "is_recording_on",
    "is_staging",
    "is_top_level",
    "let_gloo_listen_at",
    "on_tpu_machine",
    "on_trace",
    "register_internal_frames",
    "service_waits",
    "setting",
    "source_info_util",
    "tpu_hosts",
    "trace_of",
    "uncommitted",
    "x64",
]

# Whether nothing is being traced or transformed: one attribute lookup and a comparison.
is_top_level: Callable[[], bool] = _core.trace_ctx.is_top_level

# The setting `jax_enable_x64` as this thread has it; `.value` is one lookup in C.
x64: Any = _config.enable_x64

# The concrete class behind `jax.Array`; a type test against it is one pointer
# comparison, while `isinstance(x, jax.Array)` goes through a metaclass.
ArrayClass: type[Any] = _ArrayImpl

# The class of keys of random numbers, which are `jax.Array`s too.
KeyArrayClass: type[Any] = _PRNGKeyArray


def backends_are_initialized() -> bool:
    """Whether JAX has opened its devices, after which their number is fixed."""
    return _xla_bridge.backends_are_initialized()


# JAX's own detectors of clusters, which ask the cluster when they are asked.
_CLUSTER_DETECTORS: dict[str, Any] = {
    "GCE TPU": _clusters.GceTpuCluster,
    "GKE TPU": _clusters.GkeTpuCluster,
    "Kubernetes": _clusters.K8sCluster,
    "Open MPI": _clusters.OmpiCluster,
}


def cluster_detector(name: str) -> Any:
    """One of JAX's detectors of clusters."""
    return _CLUSTER_DETECTORS[name]


def tpu_hosts(name: str) -> list[str]:
    """The hosts of this process's TPU slice, as one of JAX's detectors knows them."""
    return _CLUSTER_DETECTORS[name]._get_worker_list_in_slice()


def on_tpu_machine() -> bool:
    """Whether this machine has TPUs of its own, by what JAX saw when it was loaded."""
    return _cloud_tpu_init.running_in_cloud_tpu_vm


def distributed_client() -> Any:
    """The client of JAX's coordination service; None if this process has not joined."""
    return _distributed.global_state.client


def distributed_rank_and_size() -> tuple[int, int]:
    """Which process of its group this is, and how many there are."""
    state = _distributed.global_state
    return state.process_id, state.num_processes


def abandon_distributed() -> None:
    """Lets this process end without waiting for the others of its group.

    JAX would wait in a barrier for those that are gone, and then abort. So would the
    destructors, so that what is given up is never destroyed.
    """
    state = _distributed.global_state
    for thing in (state.preemption_sync_manager, state.client, state.service):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
    state.preemption_sync_manager = state.client = state.service = None


@contextlib.contextmanager
def service_waits(seconds: int) -> Generator[None]:
    """For how long the coordination service waits until all processes have joined.

    Then it names those that are missing, which the timeout of the processes does not.
    It is the service that ``jax.distributed.initialize`` starts in the block.
    """
    extension: Any = jaxlib_extension
    make = extension.get_distributed_runtime_service
    extension.get_distributed_runtime_service = functools.partial(
        make, cluster_register_timeout=seconds
    )
    try:
        yield
    finally:
        extension.get_distributed_runtime_service = make


def let_gloo_listen_at(address: str) -> None:
    """Says where other processes find gloo, before devices are opened.

    It would take one that the name of the machine stands for.
    """

    def client() -> Any:
        state = _distributed.global_state
        chosen = setting("jax_cpu_collectives_implementation")
        if state.client is None or chosen != "gloo":
            return _xla_bridge.make_cpu_client()
        gloo: Any = jaxlib_extension.make_gloo_tcp_collectives
        return _xla_bridge.make_cpu_client(gloo(state.client, hostname=address))

    _xla_bridge.register_backend_factory("cpu", client, priority=0, fail_quietly=False)


def is_compiling() -> bool:
    """Whether XLA compiles a program, in any thread of this process."""
    for frame in sys._current_frames().values():  # pyright: ignore[reportPrivateUsage]  # it is documented
        at = frame
        while at is not None:
            if at.f_code.co_filename == _compiler.__file__:
                return True
            at = at.f_back
    return False


def uncommitted(array: jax.Array) -> jax.Array:
    """The same buffer, free to be used together with arrays of any device."""
    impl: Any = array
    if not isinstance(array, _ArrayImpl):  # a key of random numbers
        return type(impl)(impl._impl, uncommitted(impl._base_array))
    return _ArrayImpl(impl.aval, impl.sharding, impl._arrays, committed=False)


def current_trace() -> Any:
    """The trace that operations are recorded in right now."""
    with _core.take_current_trace() as trace:
        return trace


def on_trace(trace: Any) -> contextlib.AbstractContextManager[None]:
    """Records operations in ``trace``, however deep the running code is."""
    return _core.set_current_trace(trace)


def trace_of(tracer: Any) -> Any:
    """The trace a tracer belongs to."""
    return tracer._trace


def is_staging() -> bool:
    """Whether some ``jit``, ``scan`` or the like is recording operations."""
    return _core.unsafe_am_i_under_a_jit()


def axis_bound(name: str, size: int) -> contextlib.AbstractContextManager[None]:
    """Binds a mesh axis by name for tracing outside ``shard_map``."""
    return _core.extend_axis_env_nd([(name, size)])


def is_lowered_over(ctx: Any, name: str) -> bool:
    """Whether a program that is being lowered runs on the devices of a mesh axis."""
    axis_context = ctx.module_context.axis_context
    return name in getattr(axis_context, "manual_axes", ())


def eqn_location(eqn: JaxprEqn) -> str:
    """File, line and function of the user code that recorded an equation."""
    return source_info_util.summarize(eqn.source_info)


def bind_eqn(eqn: JaxprEqn, operands: Sequence[Any]) -> Any:
    """Applies an equation to other operands, as the user code that recorded it."""
    params = eqn.primitive.get_bind_params(eqn.params)
    stack = source_info_util.current_name_stack() + eqn.source_info.name_stack
    frames = eqn.source_info.traceback
    with source_info_util.user_context(frames, name_stack=stack), eqn.ctx.manager:
        return eqn.primitive.bind(*operands, **params)


def is_recording_on(trace: Any) -> bool:
    """Whether operations reach ``trace`` with nothing but gradients in between.

    A function under somebody else's ``jit`` or ``scan`` records elsewhere first.
    """
    at = current_trace()
    while at is not trace:
        if at is None or type(at) is type(trace):
            return False
        at = getattr(at, "parent_trace", None)
    return True


def register_internal_frames(path: str) -> None:
    """Keeps files below ``path`` out of user tracebacks and source locations."""
    source_info_util.register_exclusion(path)
    _traceback_util.register_exclusion(path)


def setting(name: str) -> Any:
    """The present value of a JAX setting, such as ``jax_enable_x64``."""
    return getattr(jax.config, name)


# JAX keeps these per thread; a replica's thread has to inherit its caller's.
_THREAD_LOCAL_SETTINGS: dict[str, Callable[[Any], Any]] = {
    "jax_enable_x64": jax.enable_x64,
    "jax_default_matmul_precision": jax.default_matmul_precision,
    "jax_default_prng_impl": jax.default_prng_impl,
    "jax_numpy_dtype_promotion": jax.numpy_dtype_promotion,
    "jax_numpy_rank_promotion": jax.numpy_rank_promotion,
    "jax_debug_nans": jax.debug_nans,
    "jax_debug_infs": jax.debug_infs,
    "jax_disable_jit": jax.disable_jit,
    "jax_check_tracer_leaks": jax.check_tracer_leaks,
    "jax_log_compiles": jax.log_compiles,
}


def caller_settings() -> Callable[[], contextlib.AbstractContextManager[None]]:
    """Captures this thread's JAX settings for use in another thread."""
    config: Any = jax.config
    captured = {name: getattr(config, name) for name in _THREAD_LOCAL_SETTINGS}

    @contextlib.contextmanager
    def inherit() -> Generator[None]:
        with contextlib.ExitStack() as stack:
            for name, value in captured.items():
                if getattr(config, name) != value:
                    stack.enter_context(_THREAD_LOCAL_SETTINGS[name](value))
            yield

    return inherit
