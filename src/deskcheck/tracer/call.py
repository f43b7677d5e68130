"""Records one call in this process."""

import __future__

import inspect
import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from functools import partial, reduce
from operator import or_
from pathlib import Path
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, FunctionType, GeneratorType
from typing import Any

from deskcheck.errors import InputError
from deskcheck.recording import block
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Environment, Mode, Program
from deskcheck.recording.recording import Recording, RunResult
from deskcheck.recording.trace import Kind, Trace
from deskcheck.recording.value import Value, decode, render
from deskcheck.tracer import Granularity, TraceLimits, outermost, tracer_class
from deskcheck.tracer.arguments import is_literal, telling
from deskcheck.tracer.drain import Whole, is_async, loop_runs, needs_loop, whole_call
from deskcheck.tracer.result import exception_text, snapshot
from deskcheck.tracer.stdout import StdoutHearing

_log = logging.getLogger(__name__)
_FUTURE = __future__.all_feature_names


def _loop_runs(function: Any) -> InputError:
    name = function.__qualname__
    return InputError(
        f"{name} gives a coroutine, and this thread runs an event loop already, as in a notebook. "
        f"Record it in another thread: await asyncio.to_thread(deskcheck.trace, {name}, ...)"
    )


def trace(
    function: Callable[..., Any],
    /,
    *args: Any,
    trace_limits: TraceLimits | None = None,
    granularity: Granularity = Granularity.LINE,
    **kwargs: Any,
) -> Recording:
    """Call ``function(*args, **kwargs)`` in this process and record what it does.

    Every function in the file that defines `function` is recorded, at every line or, with `granularity`, at
    every instruction; `trace_limits` leaves events out. An exception that leaves the call is part of the
    recording (`Outcome.RAISED`) and is not raised again, except `KeyboardInterrupt`. There is no protection:
    for code that is not your own, use `deskcheck.sandbox`.

    A coroutine is run to its end by `asyncio.run`. A generator that the function made is drawn, up to 1,000
    values: the result is the list of what it yielded. The text of a file that was changed since it was
    imported is left out, with a warning in the log.

    Raises InputError for a class, for another callable that is no Python function, and for a coroutine where
    an event loop runs already.
    """
    outermost.hold_collector()  # or it would come earlier to the call, for what we make
    try:
        return _trace(function, args, kwargs, trace_limits, granularity, sys._getframe(1))
    finally:
        outermost.release_collector()


def _trace(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    trace_limits: TraceLimits | None,
    granularity: Granularity,
    below: FrameType,
) -> Recording:
    if isinstance(function, partial):
        args, kwargs = (*function.args, *args), {**function.keywords, **kwargs}
        function = function.func
    target = inspect.unwrap(function)
    code = getattr(target, "__code__", None)
    if code is None:
        raise _no_function(function)
    if is_async(function) and loop_runs():
        raise _loop_runs(target)
    program = _program(function, target, args, kwargs)
    module = getattr(target, "__module__", None) or "__main__"
    blocks: list[bytes] = []
    tracer = tracer_class()(
        {code.co_filename: program.filename},
        blocks.append,
        modules={module, "__main__"},
        limits=trace_limits,
        granularity=Granularity(granularity),
        hidden=names_of_ipython(getattr(target, "__globals__", None)),
    )
    run_result = _called(function, args, kwargs, tracer, below)
    if run_result is None:
        raise _loop_runs(target)
    if tracer.failure is not None:
        raise tracer.failure
    traces = traces_of(blocks, tracer.cut)
    if not _is_what_ran(program, code, traces):
        _log.warning(
            "%s: its text is left out: it is not what ran. Perhaps the file was changed since it was "
            "imported, or other code has the same file name.",
            code.co_filename,
        )
        program = replace(program, code="")
    return recording_of(program, run_result, tracer, traces, granularity)


def recording_of(
    program: Program, run_result: RunResult, tracer: Any, traces: tuple[Trace, ...], granularity: str
) -> Recording:
    """The recording of what a tracer followed in this process."""
    environment = Environment.here(
        tracer=tracer.name,
        hash_seed=None,
        packages={},
        granularity=granularity,
        limits=tracer.limits.leaving_out,
    )
    return Recording(
        program=program,
        run_result=run_result,
        environment=replace(environment, trace_limits=asdict(tracer.limits)),
        traces=traces,
    )


def _is_what_ran(program: Program, code: CodeType, traces: Iterable[Trace]) -> bool:
    """Whether every function that was called is where the program's text has it; True where that cannot be
    told. What was changed within lines is not noticed."""
    if not program.code:
        return True
    flags = code.co_flags & reduce(or_, (getattr(__future__, name).compiler_flag for name in _FUTURE))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the text's own: they came when it was imported
            todo = [compile(program.code, code.co_filename, "exec", flags=flags, dont_inherit=True)]
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return True  # a cell of IPython is more than Python
    known = {(code.co_qualname, code.co_firstlineno): False}
    while todo:
        inner = todo.pop()
        known[inner.co_qualname, inner.co_firstlineno] = True
        todo += [const for const in inner.co_consts if isinstance(const, CodeType)]
    calls = {
        (row.function, row.line)
        for trace in traces
        for row in trace.rows
        if row.kind == Kind.CALL and row.file == program.filename
    }
    return all(known.values()) and calls <= known.keys()


def _program(function: Any, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Program:
    """What is called, with the arguments as they are before the call. target: the one in the wrappers."""
    filename = target.__code__.co_filename
    label = Path(filename).name
    positional, named = decode(*snapshot((args, kwargs))).items
    values = [*positional.items, *(value for _, value in named.items)]
    shown = [repr(item) for item in positional.items] + [
        f"{key.atom}={value!r}" for key, value in named.items
    ]
    arguments = f"({', '.join(shown)})"
    return Program(
        id=f"{label}::{target.__qualname__}",
        code=_source(target),
        mode=Mode.CALL,
        filename=label,
        entry=target.__qualname__,
        arguments=arguments,
        source=filename,
        extra={"arguments": _form(function, target, arguments, values)},
    )


def _called(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tracer: Any,
    below: FrameType,
) -> RunResult | None:
    """Make the call under the tracer, as from the frame `below`. None: it gave a coroutine, and an event loop
    runs here already."""
    outcome, detail, exception, whole = Outcome.RETURNED, "", None, Whole(None)
    refused = False
    written: list[str] = []
    hearing = StdoutHearing(written.append, tracer.wrote)
    wall, cpu = time.monotonic(), time.process_time()
    hearing.on()
    tracer.start()
    try:
        try:
            result = outermost.call(below, function, *args, **kwargs)
            if needs_loop(function, result) and loop_runs():
                refused = True
                if inspect.iscoroutine(result):
                    result.close()  # else Python warns that it was never awaited
            else:
                whole = whole_call(function, result, below)
        finally:  # what is done from here on is none of the call's
            tracer.stop()
            hearing.off()
    except KeyboardInterrupt:
        raise
    except SystemExit as error:
        outcome, exception, detail = Outcome.EXITED, "SystemExit", exception_text(error)
    except MemoryError as error:
        outcome, exception, detail = Outcome.OUT_OF_MEMORY, "MemoryError", exception_text(error)
    except BaseException as error:  # asyncio.CancelledError too
        outcome, exception = Outcome.RAISED, type(error).__qualname__
        detail = exception_text(error)
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    if refused:
        return None
    value = decode(*snapshot(whole.value)) if outcome is Outcome.RETURNED else None
    return RunResult(
        outcome=outcome,
        detail=detail or whole.detail,
        exception=exception,
        result=render(value) if value is not None else None,
        result_builtin=value is not None and value.builtin and not whole.drawn,
        stdout="".join(written),
        cpu_s=cpu,
        wall_s=wall,
        cut=tracer.cut,
    )


def traces_of(blocks: list[bytes], cut: str | None) -> tuple[Trace, ...]:
    """The traces of all threads from what a tracer handed over; one without events if that is nothing."""
    rows = [row for part in blocks for row in block.rows(part)]
    threads = max((row.thread for row in rows), default=0) + 1
    return tuple(
        Trace([row for row in rows if row.thread == number], thread=number, cut=cut)
        for number in range(threads)
    )


def _no_function(value: Any) -> InputError:
    if type(value) in (CoroutineType, GeneratorType, AsyncGeneratorType):
        if type(value) is CoroutineType:
            value.close()  # else Python warns that it was never awaited
        return InputError(
            f"{value!r} has been made already, by a call of {value.__name__}. Give the function and its "
            f"arguments, for deskcheck to call it: deskcheck.trace({value.__name__}, ...)"
        )
    if isinstance(value, type):
        return InputError(
            f"{value!r} is a class. Give a function of its file that makes the object, as: "
            f"deskcheck.trace(lambda: {value.__name__}(...))"
        )
    return InputError(
        f"{value!r} is not a Python function; give a function or method whose code can be followed"
    )


def _form(function: Any, target: Any, text: str, values: list[Value]) -> str:
    """What `Program.arguments` is good for: ``literal`` (with the entry it makes the same call again),
    ``shown`` (all there is to know is in it), ``in part``."""
    if type(target) is FunctionType and _named(target) is function:
        if all(value.builtin for value in values) and is_literal(text):
            return "literal"
        if all(map(telling, values)):
            return "shown"
    return "in part"


def _named(target: FunctionType) -> Any:
    """What has the name of a function where it was defined: itself, its wrapper, another one, or nothing."""
    first, *rest = target.__qualname__.split(".")
    owner: Any = target.__globals__.get(first)
    for name in rest:
        owner = inspect.getattr_static(owner, name, None)
    return owner.__func__ if isinstance(owner, staticmethod | classmethod) else owner


def names_of_ipython(namespace: Any) -> frozenset[str]:
    """What IPython keeps for itself in a namespace, if that is its user's: `In`, `Out`, `_`, ..."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or shell.user_ns is not namespace:
        return frozenset()
    count = shell.execution_count
    # Some versions count the cell that runs before it runs, others after it.
    latest = {f"{name}{n}" for name in ("_", "_i") for n in (count - 1, count)}
    return frozenset({*shell.user_ns_hidden, "_", "__", "___", *latest})


def _source(function: Any) -> str:
    """Text of the file, or of the cell, that defines a function: all of it, as events tell its lines."""
    try:
        return "".join(inspect.findsource(function)[0])
    except (OSError, TypeError):
        return ""
