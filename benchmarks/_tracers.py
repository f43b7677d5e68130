"""The tracers that are compared: how each is switched on around a program, and what it leaves behind.

To add one: a function that starts it, calls `run()`, stops it and writes everything it recorded into
the folder `out`, and an entry in `TRACERS`. What a peer offers to leave out, as its buffers being
set up, the function returns in seconds; of ours nothing is left out.
"""

import builtins
import importlib
import importlib.util
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks._names import (
    BLOCKS,
    BLOCKS_I,
    ET,
    HUNTER,
    PARQUET,
    PARQUET_I,
    PYSNOOPER,
    REFERENCE,
    VIZTRACER,
)
from deskcheck.recording import Environment, Outcome, Program, RunResult
from deskcheck.recording.block import rows
from deskcheck.recording.reader import Recordings
from deskcheck.recording.trace import Row
from deskcheck.recording.writer import Writer
from deskcheck.tracer import ReferenceTracer, TraceLimits
from deskcheck.tracer.limits import Granularity

Run = Callable[[], None]
"""Runs the program's main once."""

LIMITS = TraceLimits(events=sys.maxsize, items=10_000)
"""Those of `deskcheck record`, but that no trace ends early and no list of these programs is cut."""


class Unsupported(Exception):
    """This tracer cannot do that here; a measurement that is left out, not one that failed."""


def native() -> Any:
    """The native tracer's class, or None where it is not built for this interpreter."""
    try:
        return importlib.import_module("deskcheck.tracer.native").NativeTracer
    except ImportError:
        return None


def ours() -> Any:
    """The tracer to use: the native one, or the reference where that is missing."""
    return native() or ReferenceTracer


def traced(
    kind: Any,
    granularity: Granularity,
    run: Run,
    program: ModuleType,
    emit: Callable[[bytes], None],
    path: Path,
) -> None:
    """Run under one of our tracers."""
    more = {} if granularity is Granularity.LINE else {"granularity": granularity}
    try:
        tracer = kind({str(path): path.name}, emit, modules=(program.__name__,), limits=LIMITS, **more)
    except (TypeError, ValueError, NotImplementedError) as error:
        if not more:
            raise
        raise Unsupported(f"{kind.name} tracer: no granularity {granularity}") from error
    tracer.start()
    try:
        run()
    finally:
        tracer.stop()
    if tracer.cut or tracer.failure:
        raise RuntimeError(f"the trace is cut ({tracer.cut}): {tracer.failure!r}")


def to_blocks(
    kind: Callable[[], Any], granularity: Granularity = Granularity.LINE
) -> Callable[[Run, ModuleType, Path], float]:
    """Tracing alone: the blocks into one file as they come, each after its length."""

    def record(run: Run, program: ModuleType, out: Path) -> float:
        with open(out / "trace.blocks", "wb") as file:
            write = file.write

            def emit(block: bytes) -> None:
                write(len(block).to_bytes(4, "big"))
                write(block)

            traced(kind(), granularity, run, program, emit, Path(str(program.__file__)))
        return 0.0

    return record


def to_parquet(
    kind: Callable[[], Any], granularity: Granularity = Granularity.LINE
) -> Callable[[Run, ModuleType, Path], float]:
    """A folder of recordings that is finished and closed, in one process, without a sandbox around it."""

    def record(run: Run, program: ModuleType, out: Path) -> float:
        path = Path(str(program.__file__))
        tracer = kind()
        about = Program(id=path.stem, code=path.read_text(encoding="utf-8"), filename=path.name)
        environment = Environment.here(tracer=tracer.name, hash_seed=0, packages={})
        with Writer(out / "recordings") as writer, writer.begin(about) as spool:
            traced(tracer, granularity, run, program, spool.write, path)
            spool.finish(RunResult(outcome=Outcome.RETURNED), environment)
        return 0.0

    return record


def et_style(run: Run, program: ModuleType, out: Path) -> float:
    """What a paper on training with traces needs at least: at every event of a frame the locals whose
    `repr` is another one than before, as JSON lines."""
    seen: dict[FrameType, dict[str, str]] = {}

    def on_event(frame: FrameType, event: str, arg: Any) -> Any:
        known = seen.setdefault(frame, {})
        changed = {}
        for name, value in frame.f_locals.items():
            text = shown(value)
            if known.get(name) != text:
                known[name] = changed[name] = text
        row = {"event": event, "function": frame.f_code.co_name, "line": frame.f_lineno, "locals": changed}
        if event == "return":
            row["value"] = shown(arg)
            del seen[frame]
        lines.write(json.dumps(row) + "\n")
        return on_event

    def on_call(frame: FrameType, event: str, arg: Any) -> Any:
        return on_event(frame, event, arg) if frame.f_code.co_filename == program.__file__ else None

    def shown(value: object) -> str:
        try:
            return repr(value)
        except AttributeError:  # an instance that __init__ has not filled in yet
            return object.__repr__(value)

    with open(out / "trace.jsonl", "w", encoding="utf-8") as lines:
        sys.settrace(on_call)
        try:
            run()
        finally:
            sys.settrace(None)
    return 0.0


def pysnooper(run: Run, program: ModuleType, out: Path) -> float:
    """PySnooper around main and all that it calls, into a buffered file: given a path instead, it
    would open the file anew for every line."""
    from pysnooper import snoop

    plain = program.main
    with open(out / "trace.txt", "w", encoding="utf-8") as stream:
        program.main = snoop(stream, depth=64, color=False)(plain)  # type: ignore[attr-defined]
        try:
            run()
        finally:
            program.main = plain  # type: ignore[attr-defined]
    return 0.0


def hunter(run: Run, program: ModuleType, out: Path) -> float:
    """hunter's printer of variables, for the program's file alone."""
    import hunter

    with open(out / "trace.txt", "w", encoding="utf-8") as stream:
        action = hunter.VarsSnooper(stream=stream)
        with hunter.trace(filename=program.__file__, action=action):
            run()
    return 0.0


def viztracer(run: Run, program: ModuleType, out: Path) -> float:
    """viztracer as `viztracer --log_var '.*'` starts it: the program is compiled anew with a call after
    every assignment. That and its ring buffer (of ten million entries) are what is left out."""
    from viztracer import VizTracer
    from viztracer.code_monkey import CodeMonkey

    began = time.process_time()
    path = str(program.__file__)
    tracer = VizTracer(output_file=str(out / "trace.json"), verbose=0, tracer_entries=10_000_000)
    tracer.ignore_c_function = True
    monkey = CodeMonkey(path)
    monkey.add_instrument("log_var", {"varnames": [".*"]})
    code = monkey.compile(Path(path).read_text(encoding="utf-8"), path, "exec")
    vars(builtins)["__viz_tracer__"] = tracer
    plain = dict(vars(program))
    exec(code, vars(program))
    tracer.start()
    set_up = time.process_time() - began
    try:
        run()
    finally:
        tracer.stop()
    tracer.save()
    vars(program).update(plain)
    return set_up


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracer:
    """record: see the head of this file. modules: what it needs, beside what deskcheck needs."""

    record: Callable[[Run, ModuleType, Path], float]
    modules: tuple[str, ...] = ()


TRACERS = {
    BLOCKS: Tracer(record=to_blocks(ours)),
    PARQUET: Tracer(record=to_parquet(ours)),
    REFERENCE: Tracer(record=to_parquet(lambda: ReferenceTracer)),
    ET: Tracer(record=et_style),
    PYSNOOPER: Tracer(record=pysnooper, modules=("pysnooper",)),
    HUNTER: Tracer(record=hunter, modules=("hunter",)),
    VIZTRACER: Tracer(record=viztracer, modules=("viztracer", "viztracer.code_monkey")),
    BLOCKS_I: Tracer(record=to_blocks(ours, Granularity.INSTRUCTION)),
    PARQUET_I: Tracer(record=to_parquet(ours, Granularity.INSTRUCTION)),
}


def warm(tracer: str) -> None:
    """Import what a tracer needs: that is not to be measured."""
    for module in TRACERS[tracer].modules:
        importlib.import_module(module)
    pa.array([""])  # pyarrow imports pandas, where that is installed, at its first array


def available() -> dict[str, bool]:
    """By tracer, whether it can run with this interpreter."""
    return {
        name: all(importlib.util.find_spec(module.partition(".")[0]) for module in tracer.modules)
        for name, tracer in TRACERS.items()
    }


def kinds(out: Path) -> Counter[str]:
    """How many events of each kind lie in a folder, where the form says that."""
    found: Counter[str] = Counter()
    for path in out.rglob("events-*.parquet"):
        for pair in pc.value_counts(pq.read_table(path, columns=["kind"])["kind"]).to_pylist():
            found[pair["values"]] += pair["counts"]
    for path in out.glob("*.jsonl"):
        with open(path, encoding="utf-8") as lines:
            found.update(json.loads(line)["event"] for line in lines)
    return found


def blocks(path: Path) -> list[bytes]:
    """What `to_blocks` wrote."""
    whole, at, found = path.read_bytes(), 0, []
    while at < len(whole):
        end = at + 4 + int.from_bytes(whole[at : at + 4], "big")
        found.append(whole[at + 4 : end])
        at = end
    return found


def trace(out: Path) -> list[Row]:
    """The rows of the trace that one of ours has left in a folder."""
    if (out / "recordings").exists():
        (recording,) = Recordings(out / "recordings")
        return list(recording.trace.rows)
    return [row for path in out.glob("*.blocks") for block in blocks(path) for row in rows(block)]


def sizes(out: Path) -> dict[str, int]:
    """`bytes` of everything that a tracer wrote; `zstd_bytes`, what they come to with zstd (Parquet is
    compressed inside already); `events_bytes`, of the Parquet files of events alone."""
    whole = compressed = events = 0
    for path in out.rglob("*"):
        if not path.is_file():
            continue
        size = path.stat().st_size
        whole += size
        compressed += size if path.suffix == ".parquet" else len(pa.compress(path.read_bytes(), codec="zstd"))
        events += size if path.match("events-*.parquet") else 0
    return {"bytes": whole, "zstd_bytes": compressed, "events_bytes": events}


def shown(out: Path) -> str:
    """All that a tracer shows of a run as text, without clock times and addresses."""
    text = ""
    for path in sorted(out.glob("*.*")):
        if path.suffix == ".json":  # viztracer's: it also holds the program's source
            events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
            text += "\n".join(json.dumps([event["name"], event.get("args")]) for event in events)
        elif path.suffix != ".blocks":
            text += path.read_text(encoding="utf-8")
    text += "\n".join(str(row._replace(offset=0)) for row in trace(out))
    text = re.sub(r"\b\d\d:\d\d:\d\d\.\d+", "(time)", text)
    return re.sub(r"0x[0-9a-fA-F]+", "(address)", text)
