"""A living interpreter in the sandbox: pieces of code run in it one after another, and it can be taken back.

    with Sandbox() as sandbox, sandbox.session() as session:
        session.run("x = [1]")
        before = session.snapshot()
        session.run("x.append(2)")
        session.restore(before)
        print(session.run("x").value)  # [1]

How a piece ended is decided here, from what it cannot write: limits, signals, exit status. That it returned,
and what, is said by the interpreter that it ran in, which it shares with every piece before it: for code that
nobody trusts this is no mark. `Sandbox.check_one` is.
"""

import marshal
import os
import secrets
import select
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from deskcheck.errors import SandboxError, ServerLost
from deskcheck.recording import block
from deskcheck.recording.outcome import Outcome, signal_name
from deskcheck.recording.program import Environment, Program
from deskcheck.recording.recording import Recording, RunResult
from deskcheck.recording.trace import Trace
from deskcheck.recording.value import Value
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.decoder import KEPT_BYTES, KEPT_ROW_BYTES, Decoder, Forged
from deskcheck.sandbox.determinism import Determinism
from deskcheck.sandbox.exchange import LOOK_S
from deskcheck.sandbox.inside.channel import KEY_BYTES
from deskcheck.sandbox.limits import WALL_TIMES, Limits
from deskcheck.sandbox.linux import processes as _processes
from deskcheck.sandbox.process import Cancelled, beyond_wall_time, limit_met, text
from deskcheck.sandbox.server import Server, ServerReport
from deskcheck.tracer import tracer_class
from deskcheck.tracer.limits import Granularity, TraceLimits

if TYPE_CHECKING:
    from deskcheck.sandbox.sandbox import Sandbox

_CHUNK_BYTES = 1 << 16
_MIRROR_BYTES = 1 << 20
_OF_GROUP = "its control group may have"
_ANSWER_S = 5.0
"""Until the server is asked again whether a piece is too late."""
_FORK = Limits(cpu_s=10.0, wall_s=30.0)
"""For a copy of an interpreter to be made, and for one to begin."""
_SNAPSHOTS = 16
"""Copies that a session may hold: each is a process."""
_COPIED_BYTES = 256 << 20
"""Files of all of them."""


class SessionEnded(SandboxError):
    """The session has ended: no piece can run in it any more. The message says what ended it."""


class After(StrEnum):
    """What became of a session's state after a piece."""

    KEPT = "kept"
    """It goes on from where the piece ended."""
    ROLLED_BACK = "rolled back"
    """The piece ended the interpreter: the session is where it was at its last snapshot."""
    ENDED = "ended"
    """The piece ended the interpreter, and there was no snapshot: so ended the session."""


@dataclass(frozen=True, slots=True)
class Files:
    """What a piece did in the session's folder: paths below it, folders with a slash at the end.

    left_out: how many more there were.
    """

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of code and how it ended.

    value: of its last statement, where that is an expression (a `Value` of None too); None where it is not or
    the piece did not come to its end. word: what became of the session. recording: where it was asked for.
    """

    number: int
    code: str
    run_result: RunResult
    value: Value | None
    files: Files
    after: After
    word: str
    recording: Recording | None

    @property
    def outcome(self) -> Outcome:
        return self.run_result.outcome


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A point that a session can be taken back to. number: the how-manieth; piece: the last one before it."""

    number: int
    piece: int


@dataclass(slots=True)
class _Said:
    """What came of one order: from the process, and from the server."""

    end: dict[str, Any] | None
    over: bool
    report: ServerReport | None
    files: Files
    stopped: tuple[Outcome, str] | None
    cut: str | None
    stdout: str
    stderr: str
    cpu_s: float
    wall_s: float
    blocks: list[bytes]
    status: int | None


class Session:
    """A session of a `Sandbox`; made by `Sandbox.session`. Threads that use it wait for one another."""

    def __init__(
        self,
        sandbox: "Sandbox",
        server: Server,
        *,
        limits: Limits,
        total: Limits,
        determinism: Determinism,
        cancelled: Callable[[], bool],
    ) -> None:
        self._sandbox = sandbox
        self._server = server
        self._limits = limits
        self._left = total
        self._determinism = determinism
        self._cancelled = cancelled
        self._closing = threading.Event()
        self._lock = threading.RLock()
        self._ended: str | None = None
        self._snapshots: dict[int, tuple[Snapshot, socket.socket]] = {}
        self._back: Snapshot | None = None
        """What a lost interpreter is taken back to."""
        self._sources: dict[str, str] = {}
        self._pieces = 0
        self._taken = 0
        self._is_begun = False
        self._out, self._err = -1, -1
        self._channel: socket.socket | None = None
        try:
            self._begin()
        except BaseException:
            self._lose("it could not begin", clean=False)
            raise

    def _begin(self) -> None:
        if self._server.profile.level is Confinement.STRICT and not self._server.wait_until_ready()["proc"]:
            raise SandboxError(
                "a session at level 'strict' needs a /proc of its own, which cannot be mounted here: the "
                "container hides part of /proc. Ask for level 'standard'. See: deskcheck doctor"
            )
        self._channel, theirs = socket.socketpair()
        self._out, out = os.pipe()
        self._err, err = os.pipe()
        for ours in (self._out, self._err):
            os.set_blocking(ours, False)
        wishes = {
            "cpu_s": _FORK.cpu_s,
            "memory_bytes": self._limits.memory_bytes,
            "copied_bytes": _COPIED_BYTES,
        }
        job = {
            "session": self._server.profile.level is Confinement.STRICT,
            "limits": replace(self._limits, cpu_s=self._left.cpu_s).to_dict(),
            "determinism": self._determinism.to_dict(),
        }
        try:
            self._server.begin_session(wishes, [out, err, theirs.fileno()], self._limits, _SNAPSHOTS)
        finally:
            os.close(out)
            os.close(err)
            theirs.close()
        self._is_begun = True
        self._send(self._channel, marshal.dumps(job, 4), [])
        said = self._order({"do": "begin"}, _FORK, request=None)
        if said.end is None or not said.over:
            raise SandboxError(f"the session's interpreter did not begin: {said.stderr or said.status}")

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def ended(self) -> str | None:
        """What ended the session; None while it can go on."""
        return self._ended

    def close(self) -> None:
        """End everything of the session. A piece that another thread has under way raises Cancelled."""
        self._closing.set()
        with self._lock:
            if self._ended is None:
                self._lose("it was closed", clean=True)

    def run(
        self,
        code: str,
        *,
        record: bool = False,
        limits: Limits | None = None,
        trace_limits: TraceLimits | None = None,
        granularity: Granularity = Granularity.LINE,
    ) -> Piece:
        """Run a piece of code and say how it ended. An exception in it is data: the session goes on.

        record: whether to keep what happens, at every line or as `level` says. limits: of time and output,
        instead of the session's own. trace_limits: how much of the value, and of a recording, is kept.

        What ends the interpreter (a limit, a crash, `sys.exit`) ends the session or takes it back to its last
        snapshot: `Piece.after` says which. Raises SessionEnded where it has ended before, Cancelled.
        """
        with self._lock:
            self._must_go_on()
            if not (self._left.cpu_s and self._left.wall_s):
                self._lose("the time of all its pieces is used up", clean=True)
                self._must_go_on()
            bounds = self._bounded(limits or self._limits)
            kept = trace_limits or TraceLimits()
            self._pieces += 1
            number, file = self._pieces, f"piece_{self._pieces}.py"
            self._sources[file] = code
            order = {
                "do": "run",
                "code": code,
                "file": file,
                "record": record,
                "granularity": granularity.value,
                "trace_limits": asdict(kept),
            }
            said = self._order(order, bounds, {"do": "run", "cpu_s": bounds.cpu_s}, record=record)
            run_result, value = self._ending(said, bounds, limits or self._limits)
            recording = self._recording(number, file, run_result, said, granularity, kept) if record else None
            after, word = After.KEPT, "the session goes on"
            if not said.over:
                after, word = self._recover(f"piece {number}: {run_result.outcome}, {run_result.detail}")
            return Piece(number, code, run_result, value, said.files, after, word, recording)

    def snapshot(self) -> Snapshot:
        """Keep the interpreter and its files as they are: a fork, held stopped, and a copy of the files.

        A snapshot is exact or it is refused: where the session has threads, child processes, open files or
        shared memory, which a fork does not hold, SandboxError says which. Files outside of its folder that
        are open for reading alone are held. The process number changes.
        """
        with self._lock:
            self._must_go_on()
            if len(self._snapshots) >= _SNAPSHOTS:
                raise SandboxError(f"the session has {_SNAPSHOTS} snapshots; drop one first")
            self._taken += 1
            snapshot = Snapshot(self._taken, self._pieces)
            wake, theirs = socket.socketpair()
            wake.setblocking(False)
            try:
                request = {"do": "hold", "number": snapshot.number, "cpu_s": _FORK.cpu_s}
                said = self._order({"do": "hold"}, _FORK, request, given=theirs, wake=wake)
            except BaseException:
                wake.close()
                raise
            finally:
                theirs.close()
            if not said.over or said.end is None or said.end.get("outcome") != Outcome.RETURNED:
                wake.close()
                why = (said.end or {}).get("detail") or "its process did not do as told"
                if said.over:
                    raise SandboxError(f"no snapshot was made: {why}")
                _, word = self._recover(why)
                raise SandboxError(f"no snapshot was made: {why}; {word}")
            self._snapshots[snapshot.number] = (snapshot, wake)
            self._back = snapshot
            return snapshot

    def restore(self, snapshot: Snapshot) -> None:
        """Take the session back to a snapshot, which can be done again.

        Raises ValueError for one that it does not have, SessionEnded where the program made it unusable.
        """
        with self._lock:
            self._must_go_on()
            if self._snapshots.get(snapshot.number, (None,))[0] != snapshot:
                raise ValueError(f"{snapshot} is not a snapshot that this session has")
            why = self._go_back(snapshot)
            if why is not None:
                self._lose(f"snapshot {snapshot.number} could not be restored: {why}", clean=True)
                raise SessionEnded(f"the session has ended: {self._ended}")

    def drop(self, snapshot: Snapshot) -> None:
        """Let go of a snapshot. Raises ValueError for one that the session does not have."""
        with self._lock:
            self._must_go_on()
            if self._snapshots.get(snapshot.number, (None,))[0] != snapshot:
                raise ValueError(f"{snapshot} is not a snapshot that this session has")
            self._snapshots.pop(snapshot.number)[1].close()
            self._server.tell({"do": "drop", "number": snapshot.number})
            if self._back == snapshot:
                self._back = max((each for each, _ in self._snapshots.values()), key=_number, default=None)

    def _must_go_on(self) -> None:
        if self._ended is not None:
            raise SessionEnded(f"the session has ended: {self._ended}")

    def _bounded(self, limits: Limits) -> Limits:
        """The limits of a piece, within what is left to the session."""
        left = self._left
        return replace(limits, cpu_s=min(limits.cpu_s, left.cpu_s), wall_s=min(limits.wall_s, left.wall_s))

    def _recover(self, why: str) -> tuple[After, str]:
        """Take a session whose interpreter is gone back to its last snapshot, or end it."""
        back = self._back
        if back is None:
            self._lose(f"{why}; there was no snapshot to go back to", clean=True)
            return After.ENDED, f"the session has ended: {self._ended}"
        failed = self._go_back(back)
        if failed is not None:
            self._lose(f"{why}; snapshot {back.number} could not be restored: {failed}", clean=True)
            return After.ENDED, f"the session has ended: {self._ended}"
        return (
            After.ROLLED_BACK,
            f"{why}; the session is back at snapshot {back.number}, after piece {back.piece}",
        )

    def _go_back(self, snapshot: Snapshot) -> str | None:
        """Why a session could not be taken back; None where it was."""
        _, wake = self._snapshots[snapshot.number]
        if self._channel is None or self._channel.fileno() < 0:
            return "the session's channel was closed"
        try:
            request = {"do": "restore", "number": snapshot.number, "cpu_s": _FORK.cpu_s}
            said = self._order({}, _FORK, request, to=wake)
        except _Refused as error:
            return str(error)
        if not said.over or said.end is None:
            return "the process that held it did not go on"
        self._back = snapshot
        return None

    def _order(
        self,
        order: dict[str, Any],
        limits: Limits,
        request: dict[str, Any] | None,
        *,
        record: bool = False,
        given: socket.socket | None = None,
        wake: socket.socket | None = None,
        to: socket.socket | None = None,
    ) -> _Said:
        """Have the session's process do something, and be there until the server says what came of it.

        request: what the server is asked first, None where it watches already. given: a descriptor that goes
        with the order. wake: on which a copy says that it waits. to: whom to tell, if not the process that
        runs: a copy, which goes on.
        """
        try:
            return _Exchange(self, order, limits, request, record, _Sockets(given, wake, to)).follow()
        except _Refused:
            raise  # nothing has happened
        except ServerLost as error:
            self._lose(str(error), clean=False)
            raise
        except BaseException:
            if self._ended is None:
                self._lose("what it ran was cancelled", clean=False)
            raise

    def _send(self, to: socket.socket, message: bytes, descriptors: list[int]) -> None:
        """Hand over a message. That nobody takes it shows in what the server says."""
        if to.fileno() < 0:
            return
        to.settimeout(_ANSWER_S)
        try:
            head = len(message).to_bytes(4, "big") + message[:1024]
            sent = socket.send_fds(to, [head], descriptors)
            to.sendall(head[sent:] + message[1024:])
        except OSError:
            return
        finally:
            to.setblocking(False)

    def _ending(self, said: _Said, bounds: Limits, asked: Limits) -> tuple[RunResult, Value | None]:
        end = said.end or {}
        value = None
        outcome, detail = self._verdict(said, bounds, asked)
        facts: dict[str, Any] = {}
        if said.end is not None and outcome == end.get("outcome"):
            facts = {
                "exception": end.get("exception"),
                "result": end.get("result"),
                "result_builtin": end.get("result_builtin", False),
            }
            value = end.get("value")
        return RunResult(
            outcome=outcome,
            detail=detail,
            stdout=said.stdout,
            stderr=said.stderr,
            exit_status=said.status,
            cpu_s=round(said.cpu_s, 6),
            wall_s=round(said.wall_s, 6),
            cut=said.cut or (end.get("cut") if said.end is not None else "ended"),
            **facts,
        ), value

    def _verdict(self, said: _Said, bounds: Limits, asked: Limits) -> tuple[Outcome, str]:
        """Outcome and detail, from what the piece cannot write as far as that decides."""
        if said.stopped is not None:
            return said.stopped
        if said.report is not None and said.report.stopped != _processes.NOTHING:
            by_limit = limit_met(said.report, bounds)
            if by_limit is not None:
                outcome, detail = by_limit
                shorter = bounds.cpu_s < asked.cpu_s or bounds.wall_s < asked.wall_s
                return outcome, detail + (", all that was left to the session" if shorter else "")
        end, status = said.end, said.status
        if end is not None and end.get("failure"):
            return Outcome.HARNESS_ERROR, f"the tracer failed: {end['failure']}"
        if end is not None and (said.over or end["outcome"] == Outcome.EXITED):
            return Outcome(end["outcome"]), end.get("detail", "")
        assert status is not None  # it is not over, so the process has ended
        when = "after it had said that it was done" if end is not None else "without a word"
        if status < 0:
            by_limit = None if said.report is None else limit_met(said.report, bounds)
            if by_limit is None and status == -signal.SIGKILL and self._server.out_of_memory():
                return Outcome.OUT_OF_MEMORY, self._server.why_out_of_memory(_OF_GROUP)
            return by_limit or (Outcome.KILLED, signal_name(-status))
        return Outcome.EXITED, f"status {status}, {when}"

    def _recording(
        self,
        number: int,
        file: str,
        run_result: RunResult,
        said: _Said,
        granularity: Granularity,
        limits: TraceLimits,
    ) -> Recording:
        rows = [row for each in said.blocks for row in block.rows(each)]
        threads = max((row.thread for row in rows), default=0) + 1
        names = {row.file for row in rows} - {file}
        sources = {name: self._sources[name] for name in names if name in self._sources}
        return Recording(
            program=Program(id=f"piece {number}", code=self._sources[file], filename=file, source="session"),
            run_result=replace(run_result, sources=sources),
            environment=Environment.here(
                tracer=tracer_class().name,
                hash_seed=self._server.profile.hash_seed,
                packages={},
                granularity=granularity,
                limits=limits.leaving_out,
                fixed=self._determinism.said,
            ),
            traces=tuple(
                Trace([row for row in rows if row.thread == each], thread=each, cut=run_result.cut)
                for each in range(threads)
            ),
        )

    def _lose(self, why: str, *, clean: bool) -> None:
        """End the session; a server that is in a clean state can be used again."""
        self._ended = why
        for _, wake in self._snapshots.values():
            wake.close()
        self._snapshots.clear()
        self._back = None
        if self._channel is not None:
            self._channel.close()
        for descriptor in (self._out, self._err):
            if descriptor >= 0:
                os.close(descriptor)
        self._out = self._err = -1
        clean = clean and self._is_begun and self._server.end_session()
        self._sandbox._let_go_of(self, self._server, clean=clean)


def _number(snapshot: Snapshot) -> int:
    return snapshot.number


class _Refused(SandboxError):
    """The server will not do it; the session is as it was."""


class _Sockets(NamedTuple):
    """What goes with an order, as `Session._exchange` says."""

    given: socket.socket | None
    wake: socket.socket | None
    to: socket.socket | None


class _Exchange:
    """One order to a session's process, from the caller's side."""

    def __init__(
        self,
        session: Session,
        order: dict[str, Any],
        limits: Limits,
        request: dict[str, Any] | None,
        record: bool,
        sockets: _Sockets,
    ) -> None:
        self.session = session
        self.limits = limits
        self.server = session._server
        self.stdout, self.stderr = bytearray(), bytearray()
        self.blocks: list[bytes] = []
        self.end: dict[str, Any] | None = None
        self.stopped: tuple[Outcome, str] | None = None
        self.is_held = sockets.wake is None
        self.wake = sockets.wake
        self.order = order
        self.request = request
        self.record = record
        self.given = sockets.given
        self.to = sockets.to
        key = secrets.token_bytes(KEY_BYTES)
        self.decoder = Decoder(key, traced=record, session=True, most=KEPT_BYTES, row_bytes=KEPT_ROW_BYTES)
        self.key = key
        self.told_over = False
        self.mirror = -1
        self.patience = float("inf")

    def follow(self) -> _Said:
        """Raises _Refused, ServerLost, Cancelled."""
        session = self.session
        self.server.count_anew()
        if self.request is not None:
            self.server.tell(self.request)
            if self.request["do"] != "run":
                answer = self.server.answer(_FORK.wall_s)
                if "refused" in answer:
                    raise _Refused(answer["refused"])
                self.order = {**self.order, "files": answer.get("files", [])}
        assert session._channel is not None
        if self.to is not None:
            self._forget()
        descriptors = [] if self.given is None else [self.given.fileno()]
        if self.record:
            self.mirror = os.memfd_create("deskcheck")
            os.ftruncate(self.mirror, _MIRROR_BYTES)
            descriptors.append(self.mirror)
        try:
            began = time.monotonic()
            session._send(
                self.to or session._channel, marshal.dumps({**self.order, "key": self.key}, 4), descriptors
            )
            answer = self._watch(began)
            wall_s = time.monotonic() - began
            for descriptor in self._descriptors():
                while self._read(descriptor):
                    pass
            if self.record and self.end is None:
                try:
                    last = self.decoder.last(os.pread(self.mirror, _MIRROR_BYTES, 0))
                except Forged as error:
                    self.stopped = self.stopped or (Outcome.KILLED, _forged(error))
                else:
                    self.blocks += [] if last is None else [last]
        finally:
            if self.mirror >= 0:
                os.close(self.mirror)
        gone = session._channel.fileno() < 0
        if answer["over"] and (self.stopped is not None or gone):  # seen only after it was said to be over
            self.server.tell({"do": "discard"})
            answer = {**answer, **self.server.answer(_FORK.wall_s)}
        return self._said(answer, wall_s)

    def _forget(self) -> None:
        """Read what the process before this one said last; it is over."""
        for descriptor in self._descriptors():
            try:
                while os.read(descriptor, _CHUNK_BYTES):
                    pass
            except (BlockingIOError, ConnectionResetError):
                continue

    def _said(self, answer: dict[str, Any], wall_s: float) -> _Said:
        session = self.session
        cpu_s = float(answer["cpu_s"])
        left = session._left
        session._left = replace(
            left, cpu_s=max(0.0, left.cpu_s - cpu_s), wall_s=max(0.0, left.wall_s - wall_s)
        )
        files = answer["files"]
        status = answer["status"]
        for number in set(session._snapshots) - set(answer["held"]):
            session._snapshots.pop(number)[1].close()
        if session._back is not None and session._back.number not in session._snapshots:
            session._back = max((each for each, _ in session._snapshots.values()), key=_number, default=None)
        return _Said(
            end=self.end,
            over=bool(answer["over"]),
            report=None if status is None else ServerReport(answer["stopped"], status, cpu_s, 0),
            files=Files(
                created=tuple(files["created"]),
                changed=tuple(files["changed"]),
                removed=tuple(files["removed"]),
                left_out=files["left_out"],
            ),
            stopped=self.stopped,
            cut=self.decoder.cut,
            stdout=text(self.stdout, len(self.stdout)),
            stderr=text(self.stderr, len(self.stderr)),
            cpu_s=cpu_s,
            wall_s=wall_s,
            blocks=self.blocks,
            status=status,
        )

    def _descriptors(self) -> list[int]:
        """What is listened to beside the server."""
        session = self.session
        found = [session._out, session._err]
        if session._channel is not None and session._channel.fileno() >= 0:
            found.append(session._channel.fileno())
        return [each for each in found if each >= 0]

    def _watch(self, began: float) -> dict[str, Any]:
        """Listen until the server says what came of it."""
        deadline = began + self.limits.wall_s
        last_moment = began + WALL_TIMES * self.limits.wall_s
        session, connection = self.session, self.server.connection.fileno()
        poll = select.poll()
        for descriptor in (connection, *self._descriptors()):
            poll.register(descriptor, select.POLLIN)
        if self.wake is not None:
            poll.register(self.wake, select.POLLIN)
        while True:
            if session._closing.is_set() or session._cancelled():
                raise Cancelled("what ran in the session was cancelled")
            left = deadline - time.monotonic()
            if self.patience < time.monotonic():
                self._stop(Outcome.KILLED, "it closed the session's channel")
            if left <= 0:
                now = time.monotonic()
                deadline = now + _ANSWER_S
                if now >= last_moment:
                    self._stop(*beyond_wall_time(self.limits))
                else:
                    deadline = min(deadline, last_moment)
                    self.server.tell({"do": "late"})
            ready = poll.poll(1000 * min(max(left, 0.0), LOOK_S))
            if not ready and self.server.out_of_memory():  # one of its processes; others may wait for that
                self._stop(Outcome.OUT_OF_MEMORY, self.server.why_out_of_memory(_OF_GROUP))
            for descriptor, _ in ready:
                if self.wake is not None and descriptor == self.wake.fileno():
                    self.is_held = self.wake.recv(16) == b"held"
                    poll.unregister(descriptor)
                elif descriptor == connection:
                    answer = self.server.answer(None)
                    if "later" not in answer:
                        return answer
                    deadline = min(time.monotonic() + answer["later"], last_moment)
                elif not self._read(descriptor) and descriptor not in self._descriptors():
                    poll.unregister(descriptor)
            done = self.end is not None and self.end.get("outcome") != Outcome.EXITED
            failed = done and self.end is not None and self.end.get("outcome") != Outcome.RETURNED
            if done and (self.is_held or failed) and not self.told_over and self.stopped is None:
                self.told_over = True
                self.server.tell({"do": "over"})

    def _read(self, descriptor: int) -> bool:
        """Take what a descriptor has to give; False at its end or when it has nothing now."""
        session = self.session
        try:
            data = os.read(descriptor, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            data = b""
        if descriptor in (session._out, session._err):
            if not self._has_said_enough():
                (self.stdout if descriptor == session._out else self.stderr).extend(data)
        elif data and self.stopped is None:
            try:
                self._messages(data)
            except Forged as error:
                self._stop(Outcome.KILLED, _forged(error))
        if not data:
            self._drop(descriptor)
            return False
        if not self.told_over and self._has_said_enough():
            self._stop(Outcome.OUTPUT_LIMIT, f"more than {self.limits.output_bytes} bytes of output")
        return True

    def _has_said_enough(self) -> bool:
        return len(self.stdout) + len(self.stderr) > self.limits.output_bytes

    def _drop(self, descriptor: int) -> None:
        """Somebody has closed the other end of what every process of the session has."""
        session = self.session
        if session._channel is not None and descriptor == session._channel.fileno():
            session._channel.close()  # as a rule, because it has ended: the server will say so
            if self.end is None:
                self.patience = time.monotonic() + _ANSWER_S
        elif descriptor == session._out:
            os.close(session._out)
            session._out = -1
        else:
            os.close(session._err)
            session._err = -1

    def _stop(self, outcome: Outcome, why: str) -> None:
        """Have it killed, for a reason that decides its outcome. The first reason counts."""
        if self.stopped is None:
            self.stopped = (outcome, why)
            self.server.tell({"do": "kill"})

    def _messages(self, data: bytes) -> None:
        for kind, content in self.decoder.feed(data):
            if kind == "block":
                self.blocks.append(content)
            elif kind == "end":
                self.end = content


def _forged(error: Forged) -> str:
    return f"it wrote to the session's channel: {error}"
