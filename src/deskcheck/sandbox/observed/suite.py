"""Runs a project's tests in another process under observation, and receives the recorded calls.

The tests run as the user runs them, with their environment, files and network, but within limits on wall
time and output. Recorded calls survive any end of the tests, and the next run continues from there
(`journal`). No process of the tests outlives this one (`linux.guard`). Messages are masked before they are
stored, since the next run may have another environment. The output of a run is dropped if its recorder was
killed.
"""

import hashlib
import json
import os
import secrets
import selectors
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from deskcheck.errors import InputError, RecordingError, SandboxError
from deskcheck.files import disk_errors, open_plain
from deskcheck.recording.outcome import signal_name
from deskcheck.recording.secrets import EnvironmentMask
from deskcheck.sandbox.decoder import (
    SUITE_BYTES,
    SUITE_FACTS_BYTES,
    SUITE_KEPT_BYTES,
    blocks,
    suite_message,
    suite_receiver,
)
from deskcheck.sandbox.inside.channel import KEY_BYTES, Forged, Receiver
from deskcheck.sandbox.inside.channel import suite_message as encoded_message
from deskcheck.sandbox.linux.guard import Guarded
from deskcheck.sandbox.observed.journal import Journal
from deskcheck.tracer.limits import TraceLimits

_CHILD = Path(__file__).parents[1] / "inside" / "suite_child.py"
_CHUNK_BYTES = 1 << 20
_OUTPUT_BYTES = 64 << 20
_STATUS = {0: "passed", 1: "failed", 2: "interrupted", 3: "internal error", 4: "usage error", 5: "no tests"}
"""Meanings of pytest's exit status (pytest.ExitCode)."""
_DROPPED = (
    "\n(The output after this point was discarded: the recording ended before environment variables were "
    "masked in it.)\n"
)

CallKey = tuple[str, str, str, int, int]
"""A call: its test, then module, qualified name and first line of the function, and the call's number among
the calls of this function in the test, from 1."""
_Place = tuple[str, str, int, int]
"""Module, qualified name and first line of a function, and the number among its kept calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTests:
    """Tests to run, and the project whose functions are observed."""

    arguments: tuple[str, ...]
    """Tests for pytest, as arguments."""
    root: Path
    """The folder that pytest runs in. Its code is the project's own, unless there are packages."""
    packages: tuple[str, ...] = ()
    """Top-level packages whose code is the project's own."""
    path: tuple[Path, ...] = ()
    """Folders for the end of the import path."""
    python: str = sys.executable
    licence: str | None = None
    """The licence of the project; None if unknown."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A recorded call: facts from `inside.calls`, and the place and digest of its events in the journal."""

    facts: dict[str, Any]
    position: int
    size: int
    digest: bytes

    @property
    def key(self) -> CallKey:
        facts = self.facts
        return facts["test"], facts["module"], facts["function"], facts["line"], facts["time"]


@dataclass(frozen=True, slots=True)
class Pace:
    """The CPU time that recording may use. The limit holds at about any point of the run."""

    times: float
    """The limit, as a multiple of the CPU time that the tests take by themselves."""
    first_s: float = 0.0
    """Additional CPU seconds for functions with few recorded calls."""
    cpu_s_by_test: Mapping[str, float] = field(default_factory=dict)
    """CPU seconds of each test by itself; empty if unknown."""
    start: float = 0.0
    """CPU seconds before the first test."""


@dataclass(slots=True)
class Observed:
    """The result of a run of the tests, together with the runs that it continues."""

    journal: Journal
    output: Path
    """The file with the output of the tests."""
    ended: str = ""
    """``passed``, ``failed``, ``timed out``, ``killed by SIGSEGV``, ...; empty after an interrupt."""
    interrupted: BaseException | None = None
    """The KeyboardInterrupt or SystemExit in this process that interrupted the run."""
    tests: dict[str, str] = field(default_factory=dict)
    """Outcomes, by test."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Reasons why tests did not pass, by test."""
    calls: dict[_Place, RecordedCall] = field(default_factory=dict)
    modules: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Names and files of modules, by label in events."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Numbers of calls that were not recorded, by reason."""
    not_recorded: dict[tuple[str, str, int], str] = field(default_factory=dict)
    """Reasons why functions were not recorded, by function."""
    called: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    """Numbers of calls in finished tests, by function."""
    packages: dict[str, str] = field(default_factory=dict)
    """Versions of imported distributions."""
    interpreter: dict[str, Any] = field(default_factory=dict)
    replaced: int = 0
    """Number of recorded calls that another call replaced."""
    collected: int = 0
    """Number of collected tests."""
    cpu_s_by_test: dict[str, float] = field(default_factory=dict)
    start: float = 0.0
    """CPU seconds before the first test."""
    cpu_s: float = 0.0
    """CPU seconds of this run and all its processes."""

    def blocks_of(self, call: RecordedCall) -> list[bytes]:
        """The events of a call as the tracer wrote them.

        Raises RecordingError if the journal has changed, because the tests can write to this file too.
        """
        events = self.journal.read(call.position, call.size)
        if _digest(events) != call.digest:
            raise RecordingError(
                f"{self.journal.path}: was changed by another process while the tests were recorded. "
                "Delete it to run the tests again.",
                str(self.journal.path),
            )
        return blocks(events)

    def keep_output(self, text: str) -> None:
        """Add to the output of the tests."""
        with disk_errors(self.output, "save the output of the tests"):
            file = open_plain(self.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            with open(file, "a", encoding="utf-8") as stream:
                stream.write(text)

    def read_output(self) -> str:
        """The output of the tests; empty if they removed the file."""
        with disk_errors(self.output, "read the output of the tests"):
            try:
                file = open_plain(self.output, os.O_RDONLY)
            except FileNotFoundError:
                return ""
            return _beginning(file)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observing:
    """Settings that choose the calls to record, and limits for them."""

    per_function: int
    """Largest number of calls to keep for one function."""
    budget: int
    """Approximate number of calls to keep in all."""
    seed: int = 0
    """Seed for choosing the calls."""
    trace_limits: TraceLimits
    wall_s: float
    """Wall time of all tests together."""
    mask: EnvironmentMask | None = None
    """Mask for messages of the tests, also in the files."""


@contextmanager
def observe(
    suite: ObservedTests,
    how: Observing,
    *,
    hash_seed: int,
    journal_path: Path,
    only: Sequence[CallKey] | None = None,
    pace: Pace | None = None,
    progress: Callable[[int, int, int], None] = lambda tests, collected, calls: None,
) -> Iterator[Observed]:
    """Run the tests. The context gives the recorded calls, whose events exist until its end.

    An interrupt ends the tests and is not raised, but stored in `Observed.interrupted`.

    Args:
        only: record exactly these calls. If empty, the tests run unwatched.
        pace: limits the cost of recording.
        journal_path: the file for messages of the tests. If it exists, the run continues from it.
        progress: takes the numbers of finished tests, of all tests and of recorded calls.

    Raises:
        InputError: that interpreter has no pytest, or pytest refused its arguments or found no tests.
        RecordingError: the journal cannot be written.
        SandboxError: the interpreter cannot be started.
    """
    with closing(Journal(journal_path, 2 * SUITE_BYTES)) as journal:
        observed = Observed(journal, journal_path.with_suffix(".txt"))
        run = _Run(suite, observed, how.mask, progress)
        run.read()
        if not observed.ended:
            cache = journal_path.with_suffix(".cache").resolve()  # pytest refuses a path that has `..` in it
            shutil.rmtree(cache, ignore_errors=True)  # by what an earlier run left, pytest may order tests
            job = {
                "arguments": suite.arguments,
                "root": str(suite.root),
                "packages": suite.packages,
                "path": [str(folder) for folder in suite.path],
                "most": how.per_function,
                "budget": how.budget,
                "trace_limits": asdict(how.trace_limits),
                "wanted": None if only is None else run.missing(only),
                "seed": how.seed,
                "cache": str(cache),
                "pace": None if pace is None else asdict(pace),
                "known": run.known(),
                "mask": how.mask is not None,
            }
            run.run(job, how.wall_s, hash_seed)
        yield observed


class _Run:
    """The parent's side of one run of the tests."""

    def __init__(
        self,
        suite: ObservedTests,
        observed: Observed,
        mask: EnvironmentMask | None,
        progress: Callable[[int, int, int], None],
    ) -> None:
        self.suite = suite
        self.observed = observed
        self.mask = mask
        self.written = observed.output.with_suffix(".written")
        """The file for the output of the tests while they run."""
        self.writing = -1
        """The same file, open, because the tests may replace it."""
        self.facts_bytes = 0
        """Size of all messages, without events."""
        self.progress = progress
        self.no_pytest = False
        self.functions: dict[tuple[str, str, int], tuple[set[str], list[int]]] = {}
        """The functions that finished tests have called. Each has the digests of its arguments and the
        counters that decide which of its next calls are drawn."""

    def read(self) -> None:
        """Take in the messages of an earlier run."""
        journal = self.observed.journal
        for position, message in journal.messages():
            try:
                suite_message(message, by_us=True, checked=False)
                self._take(position, message)
            except Forged as error:
                raise RecordingError(
                    f"{journal.path}: damaged at byte {position}: {error}. Delete it to run the tests again.",
                    str(journal.path),
                ) from error

    def missing(self, calls: Sequence[CallKey]) -> list[CallKey]:
        recorded = {call.key for call in self.observed.calls.values()}
        return [key for key in calls if key not in recorded]

    def known(self) -> dict[str, Any]:
        """The facts from earlier runs that the process of the tests needs to continue them."""
        return {
            "tests": [*self.observed.cpu_s_by_test],
            "left_out": self.observed.left_out,
            "recorded": self.observed.replaced + len(self.observed.calls),
            "functions": [
                (*key, self.observed.called[key], sorted(digests), so_far)
                for key, (digests, so_far) in self.functions.items()
            ],
        }

    def run(self, job: dict[str, Any], wall_s: float, hash_seed: int) -> None:
        observed = self.observed
        self._take_what_an_earlier_run_wrote()
        key = secrets.token_bytes(KEY_BYTES)
        channel_read, channel_write = os.pipe()
        try:
            with disk_errors(self.written, "save the output of the tests"):
                self.writing = open_plain(self.written, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
            job |= {"channel": channel_write, "key": key.hex()}
            process = self._start(job, hash_seed)
        except BaseException:
            os.close(channel_read)
            self._close_writing()
            raise
        finally:
            os.close(channel_write)
        stopped, receiver = "", suite_receiver(key)
        try:
            stopped = self._receive(process, channel_read, receiver, wall_s)
        except (KeyboardInterrupt, SystemExit) as error:
            observed.interrupted = error
        finally:
            try:
                try:
                    end = process.end()
                except OSError as error:
                    raise self._cannot_start(error) from error
                stopped = self._take_the_rest(channel_read, receiver, stopped)
                self._take_what_was_written()
            finally:
                os.close(channel_read)
                self._close_writing()
        observed.cpu_s = end.cpu_s
        if observed.interrupted is None:
            self._refuse_nothing(end.status)
            self._tell("ended", {"ended": stopped or self._ended(end.status)})

    def _start(self, job: dict[str, Any], hash_seed: int) -> Guarded:
        job_file = os.memfd_create("deskcheck-job")  # of a pipe, the tests would have to read to its end
        try:
            with open(job_file, "wb", closefd=False) as stream:
                stream.write(json.dumps(job).encode())
            os.lseek(job_file, 0, os.SEEK_SET)
            return Guarded(
                [self.suite.python, str(_CHILD), str(job_file)],
                folder=self.suite.root,
                output=self.writing,
                descriptors=(job_file, job["channel"]),
                environment={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
            )
        except OSError as error:
            raise self._cannot_start(error) from error
        finally:
            os.close(job_file)

    def _cannot_start(self, error: OSError) -> SandboxError:
        return SandboxError(f"cannot start {self.suite.python} in {self.suite.root}: {error.strerror}")

    def _receive(self, process: Guarded, channel: int, receiver: Receiver, wall_s: float) -> str:
        """Take messages until the process has ended. Returns why it was stopped; empty if it was not."""
        deadline = time.monotonic() + wall_s
        os.set_blocking(channel, False)
        with selectors.DefaultSelector() as selector:
            selector.register(channel, selectors.EVENT_READ)
            open_ = True
            while not process.has_ended():
                if time.monotonic() > deadline:
                    return f"timed out after {wall_s:g} s"
                if os.fstat(self.writing).st_size > _OUTPUT_BYTES:
                    return f"stopped: more than {_OUTPUT_BYTES >> 20} MiB of output"
                if not open_:
                    time.sleep(0.01)
                    continue
                if not selector.select(0.1):
                    self._tell_how_far()
                    continue
                try:
                    data = os.read(channel, _CHUNK_BYTES)
                    open_ = bool(data)
                    self._hear(receiver, data)
                except BlockingIOError:
                    continue
                except Forged as error:
                    return _wrote(error)
        return ""

    def _take_the_rest(self, channel: int, receiver: Receiver, stopped: str) -> str:
        """Take the messages from before the process was ended. Returns why it was stopped."""
        os.set_blocking(channel, False)
        try:
            while data := os.read(channel, _CHUNK_BYTES):
                self._hear(receiver, data)
        except BlockingIOError:
            pass
        except Forged as error:
            return stopped or _wrote(error)
        return stopped

    def _hear(self, receiver: Receiver, data: bytes) -> None:
        """Take in bytes from the process of the tests. Raises Forged."""
        for message in receiver.feed(data):
            self.facts_bytes += suite_message(message).begins
            if self.facts_bytes > SUITE_FACTS_BYTES or self.observed.journal.size > SUITE_KEPT_BYTES:
                raise Forged("more messages than a run of tests has")
            self._keep(bytes(message))

    def _take_what_an_earlier_run_wrote(self) -> None:
        """Take the output of a run whose recorder was killed."""
        with disk_errors(self.written, "save the output of the tests"):
            try:
                text = _beginning(open_plain(self.written, os.O_RDONLY))
            except FileNotFoundError:
                return
            # It was written in that one's environment: maybe another.
            self.observed.keep_output(_DROPPED if self.mask is not None and text else text)
            self.written.unlink()

    def _take_what_was_written(self) -> None:
        """Add the output of this run to the output of earlier runs."""
        text = _beginning(os.dup(self.writing))
        self.observed.keep_output(text if self.mask is None else self.mask.text(text))
        with disk_errors(self.written, "save the output of the tests"):
            self.written.unlink(missing_ok=True)

    def _close_writing(self) -> None:
        if self.writing >= 0:
            os.close(self.writing)
            self.writing = -1

    def _tell(self, kind: str, facts: dict[str, Any]) -> None:
        """Add a message of this side to the journal."""
        self._keep(encoded_message(kind, facts))

    def _keep(self, message: bytes) -> None:
        if self.mask is not None:
            message = _masked(message, self.mask)
        self._take(self.observed.journal.add(message), message)

    def _take(self, position: int, message: bytes) -> None:
        kind, facts, begins = suite_message(message, by_us=True)
        observed = self.observed
        match kind:
            case "call":
                events = memoryview(message)[begins:]
                call = RecordedCall(facts, position + begins, len(events), _digest(events))
                slot = (facts["module"], facts["function"], facts["line"], facts["slot"])
                replaced_call = observed.calls.pop(slot, None)
                # The same call: its test had not ended when an earlier run did.
                observed.replaced += replaced_call is not None and replaced_call.key != call.key
                observed.calls[slot] = call
            case "test":
                # A test has several reports; the worst counts, and a teardown's error comes last.
                observed.tests[facts["test"]] = facts["outcome"]
                if "why" in facts:
                    observed.reasons[facts["test"]] = facts["why"]
            case "tested":
                observed.cpu_s_by_test[facts["test"]] = facts["cpu_s"]
                observed.left_out = Counter(facts["left_out"])
                for *key, calls, digests, so_far in facts["functions"]:
                    self._called(tuple(key), calls, digests, so_far)
            case "module":
                observed.modules[facts["label"]] = (facts["name"], facts["file"])
            case "function":
                function = (facts["module"], facts["function"], facts["line"])
                observed.not_recorded[function] = facts["why_not"]
            case "collected":
                observed.collected, observed.packages = facts["tests"], facts["packages"]
                observed.interpreter, observed.start = facts["interpreter"], facts["cpu_s"]
            case "ended":
                observed.ended = facts["ended"]
            case "no pytest":
                self.no_pytest = True
        self._tell_how_far()

    def _tell_how_far(self) -> None:
        observed = self.observed
        self.progress(len(observed.tests), observed.collected, len(observed.calls))

    def _called(self, key: tuple[str, str, int], calls: int, digests: list[str], so_far: list[int]) -> None:
        self.observed.called[key] += calls
        known_digests = self.functions[key][0] if key in self.functions else set()
        known_digests.update(digests)
        self.functions[key] = known_digests, so_far

    def _refuse_nothing(self, status: int) -> None:
        """Raise InputError if no test ran for a reason that the user can fix."""
        python, target = self.suite.python, " ".join(self.suite.arguments)
        if self.no_pytest and not self.observed.tests:
            raise InputError(
                f"pytest:{target}: {python} has no pytest. Install it with: {python} -m pip install pytest "
                "(or name the project's own interpreter with --python)."
            )
        if status == 5 and not self.observed.tests:
            raise InputError(f"pytest:{target}: pytest finds no tests there.")
        if status in (3, 4) and not self.observed.tests:
            tail = self.observed.read_output().strip()[-2000:]
            raise InputError(f"pytest:{target}: pytest did not run any tests ({_STATUS[status]}):\n{tail}")

    def _ended(self, status: int) -> str:
        if status < 0:
            return f"killed by {signal_name(-status)}"
        if not status and len(self.observed.cpu_s_by_test) < self.observed.collected:
            return "exit status 0 before the last test had ended"
        if status in (0, 5) and self.observed.tests:  # of what was left to run; nothing may have been
            bad = {"failed", "error", "not collected"} & {*self.observed.tests.values()}
            return "failed" if bad else "passed"
        return _STATUS.get(status, f"exit status {status}")


def _beginning(file: int) -> str:
    """The beginning of an open file, up to the limit on output; the file is closed."""
    with open(file, "rb") as stream:
        stream.seek(0)
        return stream.read(_OUTPUT_BYTES).decode("utf-8", "replace")


def _digest(events: bytes | memoryview) -> bytes:
    return hashlib.blake2b(events, digest_size=16).digest()


def _wrote(error: Forged) -> str:
    return f"stopped: a test wrote to the recorder's channel ({error})"


def _masked(message: bytes, mask: EnvironmentMask) -> bytes:
    """The message with environment variables masked in the facts of a call and in its events."""
    kind, facts, begins = suite_message(message, by_us=True)
    if kind != "call":
        return message
    for name in ("arguments", "result", "detail", "stdout"):
        if facts.get(name) and (text := mask.text(facts[name])) != facts[name]:
            facts[name] = text
            facts |= {"form": "in part"} if name == "arguments" else {}
            facts |= {"result_builtin": False} if name == "result" else {}
    return encoded_message(kind, facts, mask.blocks(blocks(message[begins:])))
