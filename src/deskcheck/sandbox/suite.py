"""Runs a project's tests in a process of their own, observed, and takes in the calls that were recorded.

The tests are the user's own and run as the user runs them: with their environment, files and network.
What bounds them is a limit on wall time and one on output. Whatever ends them early, the calls that
were recorded until then are there.
"""

import json
import os
import secrets
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from deskcheck.recording.errors import InputError, SandboxError
from deskcheck.sandbox._channel import KEY_BYTES, Forged, Receiver
from deskcheck.tracer.limits import TraceLimits

_CHILD = Path(__file__).with_name("_suite_child.py")
_CHUNK_BYTES = 1 << 20
_OUTPUT_BYTES = 64 << 20
_STATUS = {0: "passed", 1: "failed", 2: "interrupted", 3: "internal error", 4: "usage error", 5: "no tests"}
"""What pytest's exit status means (pytest.ExitCode)."""

CallKey = tuple[str, str, str, int]
"""A call: the test that makes it, module, qualified name of the function, the how-manieth in the test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Tests to be run, and whose functions are observed.

    arguments: what pytest is to run. root: the folder that it runs in, whose code is the project's own.
    packages: instead of that, top-level packages whose code is. path: folders put last on the import
    path. python: the interpreter.
    """

    arguments: tuple[str, ...]
    root: Path
    packages: tuple[str, ...] = ()
    path: tuple[Path, ...] = ()
    python: str = sys.executable


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it was recorded: what `_calls` tells of it, and where its blocks of events lie."""

    facts: dict[str, Any]
    at: int
    size: int

    @property
    def key(self) -> CallKey:
        facts = self.facts
        return facts["test"], facts["module"], facts["function"], facts["time"]


@dataclass(slots=True)
class Blocks:
    """Blocks of events in a file, each after its length. Threads may read it together."""

    file: IO[bytes]
    size: int = 0

    def add(self, *blocks: bytes) -> None:
        self.append(b"".join(len(block).to_bytes(4, "big") + block for block in blocks))

    def append(self, data: bytes) -> None:
        """Add blocks that have their lengths before them."""
        self.file.write(data)
        self.file.flush()
        self.size += len(data)

    def read(self, at: int, size: int) -> list[bytes]:
        data = os.pread(self.file.fileno(), size, at)
        found, position = [], 0
        while position < len(data):
            end = position + 4 + int.from_bytes(data[position : position + 4], "big")
            found.append(data[position + 4 : end])
            position = end
        return found


@dataclass(slots=True)
class Observed:
    """What a run of the tests gave.

    ended: ``passed``, ``failed``, ``timed out``, ``killed by SIGSEGV``, ... interrupted: by a
    KeyboardInterrupt in this process. tests: id -> outcome. calls: in
    the order of their recording; those whose place another call of the function took are gone.
    modules: own modules, label in events -> (name, file). left_out: reason -> calls; replaced: recorded
    calls whose place another took. functions: reason -> functions that are not recorded by themselves.
    packages, interpreter: as in `Environment`. collected: how many tests there are. output: what
    the tests wrote.
    """

    blocks: Blocks
    output: Path
    ended: str = ""
    interrupted: bool = False
    tests: dict[str, str] = field(default_factory=dict)
    calls: dict[tuple[str, str, int], Call] = field(default_factory=dict)
    modules: dict[str, tuple[str, str]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    functions: Counter[str] = field(default_factory=Counter)
    packages: dict[str, str] = field(default_factory=dict)
    interpreter: dict[str, Any] = field(default_factory=dict)
    replaced: int = 0
    collected: int = 0

    def blocks_of(self, call: Call) -> list[bytes]:
        """The events of a call as the tracer wrote them."""
        return self.blocks.read(call.at, call.size)


@contextmanager
def observe(
    suite: Suite,
    *,
    most: int,
    budget: int,
    trace_limits: TraceLimits,
    wall_s: float,
    hash_seed: int,
    seed: int = 0,
    wanted: Sequence[CallKey] | None = None,
    progress: Callable[[int, int, int], None] = lambda tests, collected, calls: None,
) -> Iterator[Observed]:
    """Run the tests and give what was recorded; its events are there as long as the block lasts.

    most: calls kept of one function. budget: about how many in all. wanted: record exactly these
    calls instead; if there are none, the tests run unwatched. progress: is told (tests that ended, tests
    in all, calls recorded).

    An interrupt ends the tests and is not raised: `Observed.interrupted` tells.

    Raises:
        InputError: there is no pytest for that interpreter, or it refused its arguments, or found no tests.
        SandboxError: the interpreter cannot be started.
    """
    with (
        tempfile.TemporaryDirectory(prefix="deskcheck-suite-") as scratch,
        tempfile.TemporaryFile() as blocks,
    ):
        observed = Observed(Blocks(blocks), Path(scratch, "output.txt"))
        run = _Run(suite, observed, progress)
        job = {
            "arguments": suite.arguments,
            "root": str(suite.root),
            "packages": suite.packages,
            "path": [str(folder) for folder in suite.path],
            "most": most,
            "budget": budget,
            "trace_limits": asdict(trace_limits),
            "wanted": wanted,
            "seed": seed,
            "scratch": os.path.join(scratch, "cache"),
        }
        run.run(job, wall_s, hash_seed)
        yield observed


class _Run:
    """The parent's side of one run of the tests."""

    def __init__(self, suite: Suite, observed: Observed, progress: Callable[[int, int, int], None]) -> None:
        self.suite = suite
        self.observed = observed
        self.progress = progress
        self.no_pytest = False

    def run(self, job: dict[str, Any], wall_s: float, hash_seed: int) -> None:
        observed, suite = self.observed, self.suite
        key = secrets.token_bytes(KEY_BYTES)
        job_read, job_write = os.pipe()
        channel_read, channel_write = os.pipe()
        job |= {"channel": channel_write, "key": key.hex()}
        try:
            with observed.output.open("wb") as output:
                process = subprocess.Popen(
                    [suite.python, str(_CHILD), str(job_read)],
                    cwd=suite.root,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    pass_fds=(job_read, channel_write),
                    env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
                    start_new_session=True,
                )
        except OSError as error:
            os.close(job_write)
            os.close(channel_read)
            raise SandboxError(f"cannot start {suite.python}: {error.strerror}") from error
        finally:
            os.close(job_read)
            os.close(channel_write)
        try:
            with os.fdopen(job_write, "wb") as stream:
                stream.write(json.dumps(job).encode())
        except BrokenPipeError:
            pass  # it ended before it read its job: its status and output tell
        stopped = ""
        try:
            stopped = self._receive(process, channel_read, Receiver(key), wall_s)
        except KeyboardInterrupt:
            stopped, observed.interrupted = "interrupted", True
        finally:
            _kill(process.pid)
            process.wait()
            os.close(channel_read)
        observed.ended = stopped or _ended(process.returncode)
        self._refuse_nothing(process.returncode)

    def _receive(
        self, process: subprocess.Popen[bytes], channel: int, receiver: Receiver, wall_s: float
    ) -> str:
        """Take messages until the process has ended; say why it was stopped, if it was."""
        deadline = time.monotonic() + wall_s
        os.set_blocking(channel, False)
        with selectors.DefaultSelector() as selector:
            selector.register(channel, selectors.EVENT_READ)
            open_ = True
            while open_ or process.poll() is None:
                over = process.poll() is not None
                if time.monotonic() > deadline:
                    return f"timed out after {wall_s:g} s"
                if self.observed.output.stat().st_size > _OUTPUT_BYTES:
                    return f"stopped: more than {_OUTPUT_BYTES >> 20} MiB of output"
                if not open_:
                    time.sleep(0.01)
                    continue
                ready = selector.select(0.1)
                if not ready and over:
                    break  # a process that it left behind holds the channel
                try:
                    data = os.read(channel, _CHUNK_BYTES) if ready else None
                    if data:
                        for message in receiver.feed(data):
                            self._message(message)
                    elif data is not None:
                        open_ = False
                except BlockingIOError:
                    continue
                except Forged as error:
                    return f"stopped: a test wrote to the recorder's channel ({error})"
        return ""

    def _message(self, message: bytes) -> None:
        line, _, rest = message.partition(b"\n")
        kind, _, size = line.decode().rpartition(" ")
        facts = json.loads(rest[: int(size)])
        observed = self.observed
        match kind:
            case "call":
                body = rest[int(size) :]
                call = Call(facts, observed.blocks.size, len(body))
                observed.blocks.append(body)
                place = (facts["module"], facts["function"], facts["slot"])
                observed.replaced += observed.calls.pop(place, None) is not None
                observed.calls[place] = call
            case "test":
                # A test has several reports; the worst counts, and a teardown's error comes last.
                observed.tests[facts["test"]] = facts["outcome"]
            case "module":
                observed.modules[facts["label"]] = (facts["name"], facts["file"])
            case "function":
                observed.functions[facts["why_not"]] += 1
            case "collected":
                observed.collected, observed.packages = facts["tests"], facts["packages"]
                observed.interpreter = facts["interpreter"]
            case "left out":
                observed.left_out = Counter(facts)
            case "no pytest":
                self.no_pytest = True
        self.progress(len(observed.tests), observed.collected, len(observed.calls))

    def _refuse_nothing(self, status: int) -> None:
        """Raise InputError where no test ran for a reason that the user can mend."""
        python, asked = self.suite.python, " ".join(self.suite.arguments)
        if self.no_pytest:
            raise InputError(
                f"pytest:{asked}: {python} has no pytest. Install it with: {python} -m pip install pytest "
                "(or name the project's own interpreter with --python)."
            )
        if status == 5 and not self.observed.tests:
            raise InputError(f"pytest:{asked}: pytest finds no tests there.")
        if status in (3, 4) and not self.observed.tests:
            tail = self.observed.output.read_text("utf-8", "replace").strip()[-2000:]
            raise InputError(f"pytest:{asked}: pytest did not run any tests ({_STATUS[status]}):\n{tail}")


def _ended(status: int) -> str:
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return _STATUS.get(status, f"exit status {status}")


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
