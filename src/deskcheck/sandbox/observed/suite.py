"""Runs a project's tests in another process, observed, and takes in the recorded calls.

The tests run as the user runs them: with their environment, files and network, bounded in wall time and
output. Recorded calls survive whatever ends the tests, and the next run continues from there (`journal`).
Nothing of the tests outlives this process (`linux.guard`). What is kept is masked first, since the next run
may have another environment; output of a run whose recorder was killed is dropped.
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
"""What pytest's exit status means (pytest.ExitCode)."""
_DROPPED = (
    "\n(What the tests wrote next is not kept: the recording ended before environment variables "
    "were taken out of it.)\n"
)

CallKey = tuple[str, str, str, int, int]
"""A call: the test that makes it, module, qualified name and first line of the function, its number
among the calls of this function in the test, from 1."""
_Place = tuple[str, str, int, int]
"""Module, qualified name and first line of a function, and which of its kept calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTests:
    """Tests to be run, and whose functions are observed.

    arguments: what pytest is to run. root: the folder that it runs in, whose code is the project's
    own. packages: instead of that, top-level packages whose code is. path: folders put last on the
    import path. python: the interpreter. licence: of the project, where it is known.
    """

    arguments: tuple[str, ...]
    root: Path
    packages: tuple[str, ...] = ()
    path: tuple[Path, ...] = ()
    python: str = sys.executable
    licence: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call as it was recorded: what `inside.calls` tells of it, where its blocks of events lie, and their
    digest."""

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
    """What recording may cost: `times` as much CPU time as the tests take by themselves, at any
    point of the run about so much of what they have taken until then. own: CPU seconds of each
    test, where they are known; start: of what comes before the first. first_s: CPU seconds more,
    for functions that have hardly been recorded yet."""

    times: float
    first_s: float = 0.0
    cpu_s_by_test: Mapping[str, float] = field(default_factory=dict)
    start: float = 0.0


@dataclass(slots=True)
class Observed:
    """What a run of the tests gave, together with the runs that it continues.

    ended: ``passed``, ``failed``, ``timed out``, ``killed by SIGSEGV``, ...; empty where a KeyboardInterrupt
    or SystemExit in this process interrupted it (`interrupted`). tests: id -> outcome; why: id -> why it did
    not pass. modules: label in events -> (name, file). left_out: reason -> calls. replaced: recorded calls
    whose place another took. not_recorded: function -> reason. called: function -> its calls in the tests
    that ended. own: CPU seconds of each test; start: of what came before the first. cpu_s: of this run, with
    all that it started.
    """

    journal: Journal
    output: Path
    ended: str = ""
    interrupted: BaseException | None = None
    tests: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    calls: dict[_Place, RecordedCall] = field(default_factory=dict)
    modules: dict[str, tuple[str, str]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    not_recorded: dict[tuple[str, str, int], str] = field(default_factory=dict)
    called: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    packages: dict[str, str] = field(default_factory=dict)
    interpreter: dict[str, Any] = field(default_factory=dict)
    replaced: int = 0
    collected: int = 0
    cpu_s_by_test: dict[str, float] = field(default_factory=dict)
    start: float = 0.0
    cpu_s: float = 0.0

    def blocks_of(self, call: RecordedCall) -> list[bytes]:
        """The events of a call as the tracer wrote them. Raises RecordingError where they are not in their
        place any more: the tests can write to the file too."""
        events = self.journal.read(call.position, call.size)
        if _digest(events) != call.digest:
            raise RecordingError(
                f"{self.journal.path}: somebody has written to it while the tests were recorded. Delete it: "
                "the tests run again then.",
                str(self.journal.path),
            )
        return blocks(events)

    def keep_output(self, text: str) -> None:
        """Add to what the tests wrote."""
        with disk_errors(self.output, "keep what the tests write"):
            file = open_plain(self.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            with open(file, "a", encoding="utf-8") as stream:
                stream.write(text)

    def read_output(self) -> str:
        """What the tests wrote; empty where they took it away."""
        with disk_errors(self.output, "read what the tests wrote"):
            try:
                file = open_plain(self.output, os.O_RDONLY)
            except FileNotFoundError:
                return ""
            return _beginning(file)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observing:
    """Which calls are recorded, and within what.

    most: calls kept of one function. budget: about how many in all. seed: decides which. wall_s: of all
    tests. mask: is applied to all that is told, also in the files that keep it.
    """

    per_function: int
    budget: int
    seed: int = 0
    trace_limits: TraceLimits
    wall_s: float
    mask: EnvironmentMask | None = None


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
        """What the tests write, as long as they run."""
        self.writing = -1
        """That file, open: the tests may put something else in its place."""
        self.facts_bytes = 0
        """Of all messages, without events."""
        self.progress = progress
        self.no_pytest = False
        self.functions: dict[tuple[str, str, int], tuple[set[str], list[int]]] = {}
        """Of each that was called in the tests that ended, digests of arguments that were seen, and what
        else decides which of its next calls are drawn."""

    def read(self) -> None:
        """Take in what an earlier run has left."""
        journal = self.observed.journal
        for at, message in journal.messages():
            try:
                suite_message(message, by_us=True, checked=False)
                self._take(at, message)
            except Forged as error:
                raise RecordingError(
                    f"{journal.path}: damaged at byte {at}: {error}. Delete it: the tests run again then.",
                    str(journal.path),
                ) from error

    def missing(self, calls: Sequence[CallKey]) -> list[CallKey]:
        recorded = {call.key for call in self.observed.calls.values()}
        return [key for key in calls if key not in recorded]

    def known(self) -> dict[str, Any]:
        """What the process of the tests has to know of the runs that this one goes on from."""
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
            with disk_errors(self.written, "keep what the tests write"):
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
        """Take messages until the process has ended; say why it was stopped, if it was."""
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
        """Take what was told before the process was ended; say why it was stopped."""
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
        """Take in what the tests' process says. Raises Forged."""
        for message in receiver.feed(data):
            self.facts_bytes += suite_message(message).begins
            if self.facts_bytes > SUITE_FACTS_BYTES or self.observed.journal.size > SUITE_KEPT_BYTES:
                raise Forged("more than a run of tests has to tell")
            self._keep(bytes(message))

    def _take_what_an_earlier_run_wrote(self) -> None:
        """Of a recorder that was killed."""
        with disk_errors(self.written, "keep what the tests write"):
            try:
                text = _beginning(open_plain(self.written, os.O_RDONLY))
            except FileNotFoundError:
                return
            # It was written in that one's environment: maybe another.
            self.observed.keep_output(_DROPPED if self.mask is not None and text else text)
            self.written.unlink()

    def _take_what_was_written(self) -> None:
        """Add what the tests wrote to what they wrote before."""
        text = _beginning(os.dup(self.writing))
        self.observed.keep_output(text if self.mask is None else self.mask.text(text))
        with disk_errors(self.written, "keep what the tests write"):
            self.written.unlink(missing_ok=True)

    def _close_writing(self) -> None:
        if self.writing >= 0:
            os.close(self.writing)
            self.writing = -1

    def _tell(self, kind: str, facts: dict[str, Any]) -> None:
        """Add what this side knows."""
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
        """Raise InputError where no test ran for a reason that the user can mend."""
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
    """As much text of an open file as the tests may write; the file is closed."""
    with open(file, "rb") as stream:
        stream.seek(0)
        return stream.read(_OUTPUT_BYTES).decode("utf-8", "replace")


def _digest(events: bytes | memoryview) -> bytes:
    return hashlib.blake2b(events, digest_size=16).digest()


def _wrote(error: Forged) -> str:
    return f"stopped: a test wrote to the recorder's channel ({error})"


def _masked(message: bytes, mask: EnvironmentMask) -> bytes:
    """The message without environment variables, in what is told of a call and in its events."""
    kind, facts, begins = suite_message(message, by_us=True)
    if kind != "call":
        return message
    for name in ("arguments", "result", "detail", "stdout"):
        if facts.get(name) and (text := mask.text(facts[name])) != facts[name]:
            facts[name] = text
            facts |= {"form": "in part"} if name == "arguments" else {}
            facts |= {"result_builtin": False} if name == "result" else {}
    return encoded_message(kind, facts, mask.blocks(blocks(message[begins:])))
