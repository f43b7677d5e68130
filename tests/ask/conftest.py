"""Recordings made in this process: programs here are our own or published, and trusted."""

import contextlib
import io
import json
import os
import sys
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deskcheck.ask import QUESTIONS, Sample
from deskcheck.ask.scoring.judge import Judge
from deskcheck.recording import Environment, Mode, Outcome, Program, Recording, Row, RunResult, Trace, render
from deskcheck.sandbox import Confinement, Limits, Sandbox
from deskcheck.tracer import Granularity, ReferenceTracer
from deskcheck.tracer.result import exception_text

HERE = Path(__file__).parent
Record = Callable[..., Recording]
Run = Callable[[Program], RunResult]
OF_RETURNS = ["output", "input", "next_line", "state", "path"]
"""Kinds that can be asked about nearly every call that returned."""


def table(name: str) -> dict[str, Any]:
    """A file of answers, in TOML beside this one."""
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


class Quick(Judge):
    """Within limits that a test can wait for."""

    limits = Limits(cpu_s=1, wall_s=20, memory_bytes=1 << 29, output_bytes=1 << 16)
    counting = replace(limits, cpu_s=3)


@pytest.fixture(scope="module")
def judge() -> Iterator[Quick]:
    """Judges programs in the sandbox."""
    with Sandbox(Confinement.STRICT, workers=1) as sandbox:
        yield Quick(sandbox)


@pytest.fixture
def inspect() -> Any:
    """Inspect AI, with its logs."""
    pytest.importorskip("inspect_ai.log", reason="no deskcheck[ask]: would show that models can be asked")
    return pytest.importorskip("inspect_ai")


@contextlib.contextmanager
def soon() -> Iterator[None]:
    """The block takes next to nothing, of this process's own time: what is feared takes minutes to hours."""
    started = time.process_time()
    yield
    assert time.process_time() - started < 5


def _main(program: Program) -> dict[str, Any]:
    return {"__name__": "__main__"}


def record_here(
    program: Program, granularity: Granularity = Granularity.LINE, others: Mapping[str, str] | None = None
) -> Recording:
    """others: file -> source of what the program finds defined, and is recorded with it."""
    rows: list[bytes] = []
    files = {name: name for name in (program.filename, *(others or {}))}
    tracer = ReferenceTracer(files, rows.append, granularity=granularity)
    names = _main(program)
    for file, source in (others or {}).items():
        exec(compile(source, file, "exec", dont_inherit=True), names)
    code = compile(program.code, program.filename, "exec", dont_inherit=True)
    printed = io.StringIO()
    outcome, detail, result, builtin = Outcome.RETURNED, "", None, False
    raised: str | None = None
    stderr, left = "", None
    with contextlib.redirect_stdout(printed):
        if program.mode is Mode.CALL:
            exec(code, names)
            code = compile(f"{program.entry}{program.arguments}", "call", "eval")
        tracer.start()
        try:
            eval(code, names)
        except Exception as error:  # noqa: BLE001 (the program's, whatever it is)
            outcome, raised, left = Outcome.RAISED, type(error).__qualname__, error
        finally:
            tracer.stop()
        if left is not None:  # the interpreter reports it when nobody watches any more
            detail, stderr = exception_text(left), "".join(traceback.format_exception(left))
            left = None  # or frames, this one among them, would hold each other
    assert tracer.failure is None, tracer.failure
    trace = Trace([Row(*json.loads(text)) for text in rows])
    if program.mode is Mode.CALL and outcome is Outcome.RETURNED:
        value = trace[-1].value
        assert value is not None
        result, builtin = render(value), value.builtin
    return Recording(
        program=program,
        run_result=RunResult(
            outcome=outcome,
            detail=detail,
            exception=raised,
            result=result,
            result_builtin=builtin,
            stdout=printed.getvalue(),
            stderr=stderr,
            cut=tracer.cut,
            sources=dict(others or {}),
        ),
        environment=Environment(
            python=sys.version.split()[0],
            implementation="cpython",
            platform=sys.platform,
            hash_seed=None,
            deskcheck="test",
            tracer="reference",
            granularity=granularity.value,
        ),
        traces=(trace,),
    )


@pytest.fixture(scope="session")
def record() -> Record:
    """record(code) or record(code, "f", "(1, 2)"): a recording of a script or of a call."""

    def make(
        code: str,
        entry: str | None = None,
        arguments: str | None = None,
        granularity: Granularity = Granularity.LINE,
        **fields: Any,
    ) -> Recording:
        fields.setdefault("id", f"{entry}{arguments}" if entry else "script")
        fields.setdefault("mode", Mode.CALL if entry else Mode.MODULE)
        return record_here(Program(code=code, entry=entry, arguments=arguments, **fields), granularity)

    return make


@pytest.fixture(scope="session")
def run_trusted() -> Run:
    """Runs a program in this process, unwatched: for answers that a test has written itself."""

    def run(program: Program) -> RunResult:
        names = _main(program)
        try:
            exec(compile(program.code, program.filename, "exec", dont_inherit=True), names)
            result = eval(f"{program.entry}{program.arguments}", names)
        except Exception as error:  # noqa: BLE001 (the program's, whatever it is)
            return RunResult(outcome=Outcome.RAISED, detail=repr(error))
        builtin = type(result) in (type(None), bool, int, float, complex, str, bytes, list, tuple, dict, set)
        return RunResult(outcome=Outcome.RETURNED, result=repr(result), result_builtin=builtin)

    return run


def ask(kind: str, recording: Recording, **options: Any) -> list[Sample]:
    return list(QUESTIONS[kind](recording, **options))


def answers(kind: str, recording: Recording) -> dict[str, str]:
    """What follows the kind in the id -> the answer, of all samples that there are."""
    samples = ask(kind, recording, per_recording=1000)
    return {sample.id.partition(f":{kind}:")[2]: sample.answer for sample in samples}


def reasons(kind: str, recording: Recording) -> list[str]:
    """Why a recording is not asked about."""
    excluded: Counter[str] = Counter()
    assert list(QUESTIONS[kind](recording, excluded=excluded)) == []
    return list(excluded)


def shared(*parts: str) -> Path | None:
    root = Path(os.environ.get("DESKCHECK_SHARED") or Path(__file__).resolve().parents[2].parent / "shared")
    path = root.joinpath(*parts)
    return path if path.exists() else None


@pytest.fixture(scope="session")
def cruxeval_file() -> Path:
    path = shared("data", "cruxeval", "cruxeval_600.jsonl")
    if path is None:
        pytest.skip(
            "no CRUXEval here (DESKCHECK_SHARED): would show that questions about real code can be answered"
        )
    return path


@pytest.fixture(scope="session")
def cruxeval(cruxeval_file: Path) -> list[Recording]:
    """Every tenth program of CRUXEval, recorded."""
    rows = [json.loads(line) for line in cruxeval_file.read_text().splitlines()]
    return [_cruxeval(row) for row in rows[::10]]


def _cruxeval(row: dict[str, str]) -> Recording:
    arguments = f"({row['input']})"
    return record_here(
        Program(
            id=row["id"],
            code=row["code"],
            mode=Mode.CALL,
            entry="f",
            arguments=arguments,
            expected=row["output"],
        )
    )


@pytest.fixture(scope="session")
def cruxeval_all(cruxeval_file: Path) -> list[Recording]:
    return [_cruxeval(json.loads(line)) for line in cruxeval_file.read_text().splitlines()]
