"""Functions that are compiled whole, with the variables they read and write."""

from __future__ import annotations

import collections
import functools
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, final

import jax

from replax._src.core import host, jax_compat
from replax._src.core.errors import OutOfRangeError
from replax._src.core.frames import error_location
from replax._src.execution.body import Body, trace_body
from replax._src.execution.call import Call
from replax._src.execution.captures import Captures
from replax._src.execution.opaque import BodyChangedError, UngroupedError
from replax._src.execution.program import MixedDevicesError, Program
from replax._src.execution.signature import Static, check_against, in_order
from replax._src.replica import scope
from replax._src.replica.scope import HostValueError
from replax._src.values.passing import LookedAtError

__all__ = ["Function", "function"]

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger("replax")

# Programs of functions that are made anew for each step are found again here. A
# function that lives on keeps its programs itself.
_SHARED_LIMIT = 64
_SHARED_ALIKE = 8
_OWN_LIMIT = 128
_MANY_COMPILES = 10
_MANY_NUMBERS = 8

# What JAX raises when Python asks for the value of something that is being traced.
_ASKED_FOR_VALUE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.NonConcreteBooleanIndexError,
)


# What Flax says is which variable of the module; what to write instead is this.
_MODULE_NOTE = """
A compiled function may read a module that it closes over, but not change it, for the
change would be lost. Keep its state in a Variable, and put the module together inside:

    graph, state = nnx.split(model)
    with strategy.scope():
        state = replax.Variable(state)

    def step(x):
        model = nnx.merge(graph, state.read_value())
        y = model(x)
        state.assign(nnx.state(model))
"""


class _Entry:
    """A program, and which of the captured arrays have to be the same objects."""

    __slots__ = ("body", "fixed", "program")

    def __init__(self, program: Program, body: Body, captured: Sequence[Any]) -> None:
        self.program = program
        self.body = body
        moving = program.moving_captures()
        self.fixed = [(i, c) for i, c in enumerate(captured) if i not in moving]

    def holds(self, captured: Sequence[Any]) -> bool:
        """Whether the program is right for these captured arrays."""
        return all(captured[i] is value for i, value in self.fixed)


_shared: collections.OrderedDict[Any, _Entry] = collections.OrderedDict()
_compiles: collections.Counter[Any] = collections.Counter()
# Code that turned out to run as Python; a function made anew of it is not tried again.
_host_codes: set[Any] = set()
# Code that has looked at arrays of strings, which are then part of its programs.
_looking_codes: set[Any] = set()
_lock = threading.RLock()


@final
class Function(Generic[P, R]):
    """A Python function that is compiled; made by :func:`replax.function`.

    >>> import replax
    >>> double = replax.function(lambda x: 2 * x)
    >>> isinstance(double, replax.Function)
    True
    >>> int(double(3))
    6
    """

    def __init__(
        self,
        python_function: Callable[P, R],
        input_signature: Sequence[Any] | None = None,
        *,
        static_numbers: bool = False,
        finish: Callable[[Any], Any] | None = None,
        stands_for: Callable[..., Any] | None = None,
        on_host: Callable[..., Any] | None = None,
    ) -> None:
        functools.update_wrapper(self, stands_for or python_function, updated=())
        self._function = python_function
        self._signature = None if input_signature is None else tuple(input_signature)
        self._static_numbers = static_numbers
        self._finish = finish
        self._called = _finished(python_function, finish)
        self._captures: Captures | None = None
        self._programs: collections.OrderedDict[Any, _Entry] = collections.OrderedDict()
        self._bodies: collections.OrderedDict[Any, _Entry] = collections.OrderedDict()
        self._code = getattr(
            stands_for or python_function, "__code__", stands_for or python_function
        )
        self._host_function = on_host or self._run_on_host
        self._on_host = self._code in _host_codes
        self._looks_at_host = self._code in _looking_codes
        self.run_programs: dict[Any, Function[..., Any]] = {}
        self._numbers_seen: set[Any] = set()

    @property
    def python_function(self) -> Callable[P, R]:
        """The function as it was written."""
        return self._function

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """What the arguments have to be, if it was given."""
        return self._signature

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        # Kept in the object itself, so that both go together.
        attributes: dict[str, Any] | None = getattr(instance, "__dict__", None)
        name = f"_replax_function_{id(self)}"
        if attributes is not None and name in attributes:
            return attributes[name]
        bound: Function[..., Any] = Function(
            self._function.__get__(instance, owner),
            self._signature,
            static_numbers=self._static_numbers,
            finish=self._finish,
        )
        if attributes is not None:
            attributes[name] = bound
        return bound

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs the function as one compiled program."""
        if self._signature is not None:
            args, kwargs = in_order(self._function, args, kwargs)  # pyright: ignore[reportAssignmentType]
            args = check_against(self._signature, args, self._name)  # pyright: ignore[reportAssignmentType]
        ambient = scope.ambient
        if (
            ambient.frame is not None
            or (ambient.places and ambient.places[-1].index is not None)
            or not jax_compat.is_top_level()
        ):
            # A part of something that is compiled, transformed, or run eagerly.
            return self._called(*args, **kwargs)
        if not self._on_host:
            try:
                return self._run(args, kwargs)
            except _ASKED_FOR_VALUE as error:
                where = error_location(error)
                self._becomes_host(
                    f"Python asks for a traced value at {where}: {_first(error)}"
                )
            except HostValueError as error:
                self._becomes_host(str(error))
            except MixedDevicesError:
                self._becomes_host("strategies over different devices take part")
            except UngroupedError:
                self._becomes_host(
                    "it makes per-replica values of different shapes by itself"
                )
        return self._host_function(*args, **kwargs)

    def _run_on_host(self, *args: Any, **kwargs: Any) -> Any:
        function: Callable[..., Any] = self._called
        with scope.enter_host_program():
            try:
                return function(*args, **kwargs)
            except StopIteration as error:
                # Out of a function it would end whatever loop the caller is in.
                msg = f"next() in {self._name}: the data is at its end"
                raise OutOfRangeError(msg) from error

    @property
    def _name(self) -> str:
        return getattr(self, "__qualname__", repr(self._function))

    def _becomes_host(self, why: str) -> None:
        self._on_host = True
        _host_codes.add(self._code)
        _log.warning(
            "%s runs as Python, and each strategy.run in it is compiled by itself: %s",
            self._name,
            why,
        )

    # --- finding the program ----------------------------------------------------

    def _run(self, args: Any, kwargs: Any) -> Any:
        captures = self._captures
        if captures is None or not captures.still_hold():
            captures = self._captures = Captures.of(self._function)
        call = Call(
            args,
            kwargs,
            captures.arrays,
            static_numbers=self._static_numbers,
            static_host=self._looks_at_host,
        )
        places = scope.ambient.places
        here = places[-1] if places else scope.ambient.installed
        key = (
            captures.token,
            call.treedef,
            tuple(call.kinds),
            None if here is None else here.strategy,
            jax_compat.x64.value,
            call.layouts,
        )
        entry = self._programs.get(key)
        if entry is None or (entry.fixed and not entry.holds(captures.arrays)):
            entry = self._shared_entry(key, captures.arrays)
        if entry is None:
            try:
                entry = self._compiled(key, call, captures)
            except LookedAtError:
                self._looks_at_host = True
                _looking_codes.add(self._code)
                return self._run(args, kwargs)
        return entry.program(call, captures.arrays)

    def _shared_entry(self, key: Any, captured: Sequence[Any]) -> _Entry | None:
        with _lock:
            entry = _shared.get((self._code, key))
            if entry is None or not entry.holds(captured):
                return None
            _shared.move_to_end((self._code, key))
            self._keep(key, entry)
            return entry

    def _share(self, key: Any, entry: _Entry) -> None:
        """Keeps a program for functions that are made anew of the same code."""
        with _lock:
            _shared[self._code, key] = entry
            alike = [other for other in _shared if other[0] == self._code]
            # Of one code only the latest ones: others belong to models that are gone.
            if len(alike) > _SHARED_ALIKE:
                del _shared[alike[0]]
            if len(_shared) > _SHARED_LIMIT:
                _shared.popitem(last=False)

    def _keep(self, key: Any, entry: _Entry) -> None:
        self._programs[key] = entry
        if len(self._programs) > _OWN_LIMIT:
            self._programs.popitem(last=False)

    # --- compiling --------------------------------------------------------------

    def _compiled(self, key: Any, call: Call, captures: Captures) -> _Entry:
        described = call.described()
        # The same call but for the layouts of per-replica values shares a body.
        entry = self._replayed(key[:-1], call, described, captures)
        if entry is None:
            try:
                body = trace_body(
                    self._called,
                    call.treedef,
                    described,
                    call.grouping,
                    may_create=not self._programs,
                )
            except Exception as error:
                # By name: a module of Flax is none of our business but for this note.
                if type(error).__name__ == "TraceContextError":
                    error.add_note(_MODULE_NOTE)
                raise
            program = Program(body, described, call.grouping, captures.arrays)
            entry = _Entry(program, body, captures.arrays)
        if captures.ignore_changes():
            captures = self._captures = Captures.of(self._function)
            key = (captures.token, *key[1:])
        self._bodies[key[:-1]] = entry
        if len(self._bodies) > _OWN_LIMIT:
            self._bodies.popitem(last=False)
        self._keep(key, entry)
        self._share(key, entry)
        self._count_compile(call.kinds)
        return entry

    def _replayed(
        self, body_key: Any, call: Call, described: Sequence[Any], captures: Captures
    ) -> _Entry | None:
        """A program for other shapes from a body that was traced before."""
        traced = self._bodies.get(body_key)
        if traced is None or not traced.holds(captures.arrays):
            return None
        body = traced.body
        try:
            program = Program(body, described, call.grouping, captures.arrays)
            program.trace()
        except BodyChangedError:
            return None
        return _Entry(program, body, captures.arrays)

    def _count_compile(self, kinds: Sequence[Any]) -> None:
        _compiles[self._code] += 1
        if _compiles[self._code] == _MANY_COMPILES:
            _log.warning(
                "%s has been compiled %d times; it is compiled for each combination "
                "of shapes, dtypes, structures and static values (strings, booleans, "
                "callables) that it is given, the last one being %s, and for other "
                "plain values that it closes over; give values that change as "
                "arguments, or keep them in a replax.Variable",
                self._name,
                _MANY_COMPILES,
                kinds,
            )
        numbers = {
            k for k in kinds if isinstance(k, Static) and host.is_number(k.value)
        }
        self._numbers_seen |= numbers
        if numbers and len(self._numbers_seen) == _MANY_NUMBERS:
            _log.warning(
                "%s has been compiled for %d different Python numbers; give it arrays "
                "in their place",
                self._name,
                _MANY_NUMBERS,
            )

    def __repr__(self) -> str:
        return f"<replax.function {self._name}>"


def _finished(
    function: Callable[..., Any], finish: Callable[[Any], Any] | None
) -> Callable[..., Any]:
    """The function, with something done to what it returns."""
    if finish is None:
        return function

    @functools.wraps(function)
    def finished(*args: Any, **kwargs: Any) -> Any:
        return finish(function(*args, **kwargs))

    return finished


def _first(error: BaseException) -> str:
    return str(error).strip().splitlines()[0][:200]


def function(
    func: Callable[P, R] | None = None,
    input_signature: Sequence[Any] | None = None,
    *,
    static_numbers: bool = False,
) -> Any:
    """Compiles a function, with the variables it reads and writes, into one program.

    ``strategy.run`` in it becomes one SPMD program over the strategy's devices. It is
    compiled again for other structures, shapes, dtypes and static values only.

    What cannot be compiled (a loop over an iterator, an ``if`` on a computed value)
    runs as Python, with one warning, and each ``run`` in it is compiled by itself.

    Args:
      func: The function; left out when used as ``@function(...)``.
      input_signature: What the arguments have to be: a nest of TensorSpecs for each.
      static_numbers: Whether Python numbers among the arguments are part of the
        program, instead of inputs.

    Returns:
      A :class:`Function`.

    >>> import jax.numpy as jnp
    >>> import replax
    >>> total = replax.Variable(0.0)
    >>> @replax.function
    ... def add(x):
    ...     total.assign_add(jnp.sum(x))
    ...     return total.read_value()
    >>> add(jnp.arange(4.0))
    Array(6., dtype=float32)
    """
    if func is None:
        return functools.partial(
            function, input_signature=input_signature, static_numbers=static_numbers
        )
    return Function(func, input_signature, static_numbers=static_numbers)
