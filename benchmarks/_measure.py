"""One measurement, in the process that it is made in: a program without a tracer, then with one.

Started by record.py; prints one JSON object. Not: a comparison, which is record.py's work.
"""

import importlib
import importlib.util
import json
import platform
import re
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import deskcheck
from deskcheck.recording import Ending, Environment, Outcome, Program
from deskcheck.recording.file import Writer
from deskcheck.tracer import ReferenceTracer, TraceLimits

UNTRACED_S, FEWEST, MOST = 0.2, 5, 1000
"""The untraced run is repeated for so long, within these numbers: some take only microseconds."""

Run = Callable[[], None]
"""Runs the program's main once."""


def deskcheck_reference(run: Run, program: ModuleType, out: Path) -> None:
    """The reference tracer into a folder of recordings, in one process, without a sandbox around it."""
    file = Path(str(program.__file__))
    environment = Environment(
        python=platform.python_version(),
        implementation=sys.implementation.name,
        platform=platform.platform(),
        hash_seed=0,
        deskcheck=deskcheck.__version__,
        tracer=ReferenceTracer.name,
    )
    with Writer(out / "recordings") as writer:
        spool = writer.begin(Program(id=file.stem, code=file.read_text(encoding="utf-8"), filename=file.name))
        tracer = ReferenceTracer(
            {str(file): file.name},
            spool.write,
            modules=(program.__name__,),
            limits=TraceLimits(events=sys.maxsize),
        )
        tracer.start()
        try:
            run()
        finally:
            tracer.stop()
        spool.finish(Ending(outcome=Outcome.RETURNED, cut=tracer.cut), environment)
    if tracer.cut or tracer.failure:
        raise RuntimeError(f"the trace is cut ({tracer.cut}): {tracer.failure!r}")


def et_style(run: Run, program: ModuleType, out: Path) -> None:
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


def pysnooper(run: Run, program: ModuleType, out: Path) -> None:
    """PySnooper around main and all that it calls, into a buffered file: given a path instead, it
    would open the file anew for every line."""
    from pysnooper import snoop

    plain = program.main
    with open(out / "trace.txt", "w", encoding="utf-8") as stream:
        program.main = snoop(stream, depth=sys.getrecursionlimit(), color=False)(plain)  # type: ignore[attr-defined]
        try:
            run()
        finally:
            program.main = plain  # type: ignore[attr-defined]


TRACERS = {"deskcheck": deskcheck_reference, "E.T.-style": et_style, "PySnooper": pysnooper}


def events(out: Path) -> Counter[str]:
    """How many events of each kind a tracer wrote, read back from its files."""
    found: Counter[str] = Counter()
    for path in out.rglob("events-*.parquet"):
        found.update(pq.read_table(path, columns=["kind"])["kind"].to_pylist())
    for path in out.glob("*.jsonl"):
        with open(path, encoding="utf-8") as rows:
            found.update(json.loads(row)["event"] for row in rows)
    for path in out.glob("*.txt"):
        with open(path, encoding="utf-8") as rows:
            shown = (re.match(r"\s*[\d:.]{15} (call|line|return|exception) ", row) for row in rows)
            found.update(match[1] for match in shown if match)
    return found


def sizes(out: Path) -> tuple[int, int]:
    """Bytes of what a tracer wrote, as it is and with zstd (Parquet is compressed inside already)."""
    whole = compressed = 0
    for path in out.rglob("*"):
        if not path.is_file():
            continue
        size = path.stat().st_size
        whole += size
        compressed += size if path.suffix == ".parquet" else len(pa.compress(path.read_bytes(), codec="zstd"))
    return whole, compressed


def peak_rss() -> int:
    """Bytes of memory that the process has had at most, since `forget_peak` if the kernel offers that."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def forget_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")  # man 5 proc: resets VmHWM
    except OSError:
        return


def load(path: Path) -> ModuleType:
    """A program as a module of its own, under a name that hides no library's."""
    spec = importlib.util.spec_from_file_location(f"program_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look up their own module there
    spec.loader.exec_module(module)
    return module


def measure(tracer: str, program: ModuleType, size: str, out: Path) -> dict[str, Any]:
    """Times are CPU seconds of the whole process, all its threads."""
    n = getattr(program, size)
    expected = getattr(program, "EXPECT", {}).get(size, program.main(n))
    untraced: list[float] = []
    first = time.process_time()
    while len(untraced) < FEWEST or (len(untraced) < MOST and time.process_time() < first + UNTRACED_S):
        began = time.process_time()
        result = program.main(n)
        untraced.append(time.process_time() - began)
        if result != expected:
            raise RuntimeError(f"main({n!r}) gave {result!r}, not {expected!r}")
    results = []
    forget_peak()
    peak = peak_rss()
    began = time.process_time()
    TRACERS[tracer](lambda: results.append(program.main(n)), program, out)
    traced = time.process_time() - began
    grown = peak_rss() - peak
    if results != [expected]:
        raise RuntimeError(f"traced, main({n!r}) gave {results!r}, not [{expected!r}]")
    found = events(out)
    whole, compressed = sizes(out)
    return {
        "untraced_s": statistics.median(untraced),
        "traced_s": traced,
        "events": found.total(),
        "lines": found["line"],
        "bytes": whole,
        "zstd_bytes": compressed,
        "rss_bytes": max(0, grown),
    }


if __name__ == "__main__":
    sys.setrecursionlimit(5000)
    _, _tracer, _program, _size = sys.argv
    # Importing does not count. pyarrow imports pandas, where that is installed, at its first array.
    if _tracer == "deskcheck":
        pa.array([""])
    elif _tracer == "PySnooper":
        importlib.import_module("pysnooper")
    with tempfile.TemporaryDirectory(prefix="deskcheck-bench-") as _folder:
        _row = measure(_tracer, load(Path(_program)), _size, Path(_folder))
    print(json.dumps(_row))
