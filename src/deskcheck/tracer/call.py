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
        f"{name} returns a coroutine, but this thread already runs an event loop, as in a notebook. "
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

    All functions in the file that defines `function` are recorded, at every line or, with `granularity`, at
    every instruction. `trace_limits` leaves events out. If an exception leaves the call, the recording
    contains it (`Outcome.RAISED`), and only `KeyboardInterrupt` is raised again. The call is not protected:
    for code that you do not trust, use `deskcheck.sandbox`.

    A coroutine is run to its end by `asyncio.run`. If the function returns its own generator, the result is
    the list of up to 1,000 values that it yields. The text of a file that was changed after its import is
    left out, with a warning in the log.

    Raises InputError for a class or another callable that is not a Python function, and for a coroutine if an
    event loop already runs.
    """
    outermost.hold_collector()  # else our allocations would trigger it earlier within the call
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
            "%s: the recording lacks its text, which does not match the code that ran. Perhaps the file was "
            "changed after its import, or other code has the same file name.",
            code.co_filename,
        )
        program = replace(program, code="")
    return recording_of(program, run_result, tracer, traces, granularity)


def recording_of(
    program: Program, run_result: RunResult, tracer: Any, traces: tuple[Trace, ...], granularity: str
) -> Recording:
    """The recording of a run that a tracer followed in this process."""
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
    """Whether the program's text has every called function at the line where it ran.

    True if the text cannot be compiled. Changes within lines are not noticed.
    """
    if not program.code:
        return True
    flags = code.co_flags & reduce(or_, (getattr(__future__, name).compiler_flag for name in _FUTURE))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the import has shown the warnings of this text already
            todo = [compile(program.code, code.co_filename, "exec", flags=flags, dont_inherit=True)]
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return True  # a cell of IPython is more than Python
    is_in_text = {(code.co_qualname, code.co_firstlineno): False}
    while todo:
        inner = todo.pop()
        is_in_text[inner.co_qualname, inner.co_firstlineno] = True
        todo += [const for const in inner.co_consts if isinstance(const, CodeType)]
    calls = {
        (row.function, row.line)
        for trace in traces
        for row in trace.rows
        if row.kind == Kind.CALL and row.file == program.filename
    }
    return all(is_in_text.values()) and calls <= is_in_text.keys()


def _program(function: Any, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Program:
    """The program of a call, with its arguments before the call. target: the function inside of wrappers."""
    filename = target.__code__.co_filename
    label = Path(filename).name
    positional, named = decode(*snapshot((args, kwargs))).items
    values = [*positional.items, *(value for _, value in named.items)]
    texts = [repr(item) for item in positional.items] + [
        f"{key.atom}={value!r}" for key, value in named.items
    ]
    arguments = f"({', '.join(texts)})"
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
    """Make the call under the tracer, as if from the frame `below`.

    None if it returned a coroutine and an event loop already runs in this thread.
    """
    outcome, detail, exception, completed = Outcome.RETURNED, "", None, Whole(None)
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
                completed = whole_call(function, result, below)
        finally:  # the call ends here
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
    value = decode(*snapshot(completed.value)) if outcome is Outcome.RETURNED else None
    return RunResult(
        outcome=outcome,
        detail=detail or completed.detail,
        exception=exception,
        result=render(value) if value is not None else None,
        result_builtin=value is not None and value.builtin and not completed.drawn,
        stdout="".join(written),
        cpu_s=cpu,
        wall_s=wall,
        cut=tracer.cut,
    )


def traces_of(blocks: list[bytes], cut: str | None) -> tuple[Trace, ...]:
    """The traces of all threads in the blocks of a tracer; one trace without events if there are no
    blocks."""
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
            f"{value!r} is the result of a call of {value.__name__}. Pass the function and its arguments, "
            f"so that deskcheck calls it: deskcheck.trace({value.__name__}, ...)"
        )
    if isinstance(value, type):
        return InputError(
            f"{value!r} is a class. Pass a function of its file that makes the object: "
            f"deskcheck.trace(lambda: {value.__name__}(...))"
        )
    return InputError(
        f"{value!r} is not a Python function. Pass a function or method that is written in Python"
    )


def _form(function: Any, target: Any, text: str, values: list[Value]) -> str:
    """The quality of `Program.arguments`: ``literal`` (it can be evaluated for the same call), ``shown`` (it
    shows the full values), or ``in part``."""
    if type(target) is FunctionType and _named(target) is function:
        if all(value.builtin for value in values) and is_literal(text):
            return "literal"
        if all(map(telling, values)):
            return "shown"
    return "in part"


def _named(target: FunctionType) -> Any:
    """The object that a function's qualified name refers to now: the function, a wrapper, or another
    object."""
    first, *attributes = target.__qualname__.split(".")
    owner: Any = target.__globals__.get(first)
    for name in attributes:
        owner = inspect.getattr_static(owner, name, None)
    return owner.__func__ if isinstance(owner, staticmethod | classmethod) else owner


def names_of_ipython(namespace: Any) -> frozenset[str]:
    """Names that IPython puts into its user's namespace: `In`, `Out`, `_`, ... Empty for other namespaces."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or shell.user_ns is not namespace:
        return frozenset()
    count = shell.execution_count
    # Some versions count the cell that runs before it runs, others after it.
    latest = {f"{name}{n}" for name in ("_", "_i") for n in (count - 1, count)}
    return frozenset({*shell.user_ns_hidden, "_", "__", "___", *latest})


def _source(function: Any) -> str:
    """The full text of the file or cell that defines a function, so that it has the line numbers of
    events."""
    try:
        return "".join(inspect.findsource(function)[0])
    except (OSError, TypeError):
        return ""
