"""What the tests of the tracer share: a program's text, traced in this process."""

import io
import sys
import textwrap
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from deskcheck.recording import Trace, block
from deskcheck.tracer import Granularity, ReferenceTracer, TraceLimits

FILE = "program.py"


@dataclass(frozen=True)
class Traced:
    """One run: its main thread's trace, what it printed, and what left it."""

    trace: Trace
    output: str
    error: BaseException | None
    cut: str | None


class _Output(io.StringIO):
    """Standard output that tells the tracer what goes through it."""

    tracer: ReferenceTracer | None = None

    def write(self, text: str, /) -> int:
        if self.tracer is not None:
            self.tracer.wrote(text)
        return super().write(text)


def run_traced(
    source: str,
    limits: TraceLimits | None = None,
    granularity: Granularity = Granularity.LINE,
    tracer_class: Any = ReferenceTracer,
) -> Traced:
    """Trace a program given as indented text; its first line is line 1."""
    code = compile(textwrap.dedent(source).lstrip("\n"), FILE, "exec", dont_inherit=True)
    module = types.ModuleType("__main__")
    blocks: list[bytes] = []
    tracer = tracer_class({FILE: FILE}, blocks.append, limits=limits, granularity=granularity)
    output, error = _Output(), None
    main, stdout = sys.modules["__main__"], sys.stdout
    sys.modules["__main__"], sys.stdout = module, output
    output.tracer = tracer
    tracer.start()
    try:
        exec(code, module.__dict__)
    except BaseException as caught:  # noqa: BLE001 - whatever leaves the program is its result
        error = caught
    finally:
        tracer.stop()
        sys.modules["__main__"], sys.stdout = main, stdout
    assert tracer.failure is None, tracer.failure
    rows = [row for each in blocks for row in block.rows(each)]
    trace = Trace([row for row in rows if row.thread == 0], cut=tracer.cut)
    return Traced(trace, output.getvalue(), error, tracer.cut)


@pytest.fixture(scope="session")
def traced() -> Callable[..., Traced]:
    """The function that traces a program's text in this process."""
    return run_traced
