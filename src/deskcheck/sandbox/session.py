"""An interpreter in the sandbox that runs pieces of code one after another and can be restored.

    with Sandbox() as sandbox, sandbox.session() as session:
        session.run("x = [1]")
        before = session.snapshot()
        session.run("x.append(2)")
        session.restore(before)

The ending of a piece is decided from facts that it cannot write. But the interpreter itself reports that a
piece returned, and its value. Earlier pieces share this interpreter, so the report is not a verdict on
untrusted code. Use `Sandbox.check_one` for a verdict.
"""

import marshal
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, Any

from deskcheck.errors import SandboxError, ServerLost
from deskcheck.recording.outcome import Outcome, signal_name
from deskcheck.recording.recording import RunResult
from deskcheck.recording.value import Value
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.decoder import Decoder
from deskcheck.sandbox.determinism import Determinism
from deskcheck.sandbox.exchange import ANSWER_S, Pipes, RecordedRun, follow, send_message
from deskcheck.sandbox.inside.channel import KEY_BYTES
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.linux import processes as _processes
from deskcheck.sandbox.process import limit_met, text
from deskcheck.sandbox.server import Server, ServerReport
from deskcheck.tracer.limits import TraceLimits

if TYPE_CHECKING:
    from deskcheck.sandbox.sandbox import Sandbox

_OF_GROUP = "its control group may have"
_FORK = Limits(cpu_s=10.0, wall_s=30.0)
"""Limits for making a copy of an interpreter, and for starting one."""
_SNAPSHOTS = 16
"""Number of copies that a session may hold. Each is a process."""
_COPIED_BYTES = 256 << 20
"""Size of the files of all copies."""


class SessionEnded(SandboxError):
    """The session has ended, so that no piece can run in it. The message says why."""


class After(StrEnum):
    """The state of a session after a piece."""

    KEPT = "kept"
    """The session continues from the end of the piece."""
    ROLLED_BACK = "rolled back"
    """The piece ended the interpreter, and the session is restored to its last snapshot."""
    ENDED = "ended"
    """The piece ended the interpreter and, without a snapshot, the session."""


@dataclass(frozen=True, slots=True)
class Files:
    """Changes by a piece in the session's folder, as paths below it. Folders end with a slash.

    `left_out` is the number of further changes.
    """

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of code and its ending.

    Attributes:
        value: the value of its last statement, if that is an expression (even for None). None if it is not an
            expression, or the piece did not run to its end.
        word: a description of the session's state after the piece.
    """

    number: int
    code: str
    run_result: RunResult
    value: Value | None
    files: Files
    after: After
    word: str

    @property
    def outcome(self) -> Outcome:
        return self.run_result.outcome


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A point to restore a session to: its number, and the number of the last piece before it."""

    number: int
    piece: int


class Session:
    """A session of a `Sandbox`, made by `Sandbox.session`. Threads that use it wait for one another."""

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
        self._remaining = total
        self._determinism = determinism
        self._cancelled = cancelled
        self._closing = threading.Event()
        self._lock = threading.RLock()
        self._ended: str | None = None
        self._snapshots: dict[int, tuple[Snapshot, socket.socket]] = {}
        self._back: Snapshot | None = None
        """The snapshot to restore if the interpreter is lost."""
        self._pieces = 0
        self._taken = 0
        self._is_begun = False
        self._pipes = Pipes()
        try:
            self._begin()
        except BaseException:
            self._lose("it could not start", clean=False)
            raise

    def _begin(self) -> None:
        if self._server.profile.level is Confinement.STRICT and not self._server.wait_until_ready()["proc"]:
            raise SandboxError(
                "a session at level 'strict' needs to mount its own /proc, which fails here because the "
                "container hides part of /proc. Ask for level 'standard'. See: deskcheck doctor"
            )
        wishes = {
            "cpu_s": _FORK.cpu_s,
            "memory_bytes": self._limits.memory_bytes,
            "copied_bytes": _COPIED_BYTES,
        }
        job = {
            "session": self._server.profile.level is Confinement.STRICT,
            "limits": replace(self._limits, cpu_s=self._remaining.cpu_s).to_dict(),
            "determinism": self._determinism.to_dict(),
        }
        try:
            self._server.begin_session(wishes, self._pipes.theirs, self._limits, _SNAPSHOTS)
        finally:
            self._pipes.hand_over()
        self._is_begun = True
        send_message(self._pipes.channel, marshal.dumps(job, 4), [])
        order = self._order({"do": "begin"}, _FORK, request=None)
        if order.end is None or not order.over:
            reason = text(order.stderr, len(order.stderr)) or order.status
            raise SandboxError(f"the session's interpreter did not start: {reason}")

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def ended(self) -> str | None:
        """The reason why the session ended; None while it runs."""
        return self._ended

    def close(self) -> None:
        """End all processes of the session. A piece that another thread is running raises Cancelled."""
        self._closing.set()
        with self._lock:
            if self._ended is None:
                self._lose("it was closed", clean=True)

    def run(
        self, code: str, *, limits: Limits | None = None, trace_limits: TraceLimits | None = None
    ) -> Piece:
        """Run a piece of code. An exception in it is part of the result, and the session continues.

        If the interpreter ends (by a limit, a crash or `sys.exit`), the session ends or is restored to its
        last snapshot: see `Piece.after`. Raises SessionEnded, Cancelled.

        Args:
            limits: limits on time and output.
            trace_limits: limits on the description of the value.
        """
        with self._lock:
            self._must_go_on()
            if not (self._remaining.cpu_s and self._remaining.wall_s):
                self._lose("the time for all its pieces is used up", clean=True)
                self._must_go_on()
            requested = limits or self._limits
            bounds = self._bounded(requested)
            self._pieces += 1
            number = self._pieces
            order = {
                "do": "run",
                "code": code,
                "file": f"piece_{number}.py",
                "trace_limits": asdict(trace_limits or TraceLimits()),
            }
            finished = self._order(order, bounds, {"do": "run", "cpu_s": bounds.cpu_s})
            run_result, value = self._ending(finished, bounds, requested)
            after, word = After.KEPT, "the session continues"
            if not finished.over:
                after, word = self._recover(f"piece {number}: {run_result.outcome}, {run_result.detail}")
            return Piece(number, code, run_result, value, finished.files, after, word)

    def snapshot(self) -> Snapshot:
        """Keep the present state of the interpreter and its files: a stopped fork, and a copy of the files.

        A snapshot is exact, or it is refused with a SandboxError. A fork does not keep threads, child
        processes, open files and shared memory, so the message names those that the session has. Files
        outside of its folder that are open only for reading are kept. The process number changes.
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
                finished = self._order({"do": "hold"}, _FORK, request, descriptor=theirs, wake=wake)
            except BaseException:
                wake.close()
                raise
            finally:
                theirs.close()
            if not finished.over or finished.end is None or finished.end.get("outcome") != Outcome.RETURNED:
                wake.close()
                reason = (finished.end or {}).get("detail") or "its process did not answer as expected"
                if finished.over:
                    raise SandboxError(f"no snapshot was made: {reason}")
                _, word = self._recover(reason)
                raise SandboxError(f"no snapshot was made: {reason}; {word}")
            self._snapshots[snapshot.number] = (snapshot, wake)
            self._back = snapshot
            return snapshot

    def restore(self, snapshot: Snapshot) -> None:
        """Restore the session to a snapshot. A snapshot can be restored again.

        Raises:
            ValueError: the session does not have this snapshot.
            SessionEnded: the program made the snapshot unusable.
        """
        with self._lock:
            self._must_go_on()
            if self._snapshots.get(snapshot.number, (None,))[0] != snapshot:
                raise ValueError(f"{snapshot} is not a snapshot of this session")
            reason = self._go_back(snapshot)
            if reason is not None:
                self._lose(f"snapshot {snapshot.number} could not be restored: {reason}", clean=True)
                raise SessionEnded(f"the session has ended: {self._ended}")

    def drop(self, snapshot: Snapshot) -> None:
        """Remove a snapshot. Raises ValueError if the session does not have it."""
        with self._lock:
            self._must_go_on()
            if self._snapshots.get(snapshot.number, (None,))[0] != snapshot:
                raise ValueError(f"{snapshot} is not a snapshot of this session")
            self._snapshots.pop(snapshot.number)[1].close()
            self._server.tell({"do": "drop", "number": snapshot.number})
            if self._back == snapshot:
                self._back = self._last_snapshot()

    def _must_go_on(self) -> None:
        if self._ended is not None:
            raise SessionEnded(f"the session has ended: {self._ended}")

    def _bounded(self, limits: Limits) -> Limits:
        """The limits of a piece, within the remaining limits of the session."""
        total = self._remaining
        return replace(limits, cpu_s=min(limits.cpu_s, total.cpu_s), wall_s=min(limits.wall_s, total.wall_s))

    def _recover(self, reason: str) -> tuple[After, str]:
        """Restore a session without an interpreter to its last snapshot, or end it."""
        back = self._back
        if back is None:
            self._lose(f"{reason}; the session had no snapshot to restore", clean=True)
            return After.ENDED, f"the session has ended: {self._ended}"
        failed = self._go_back(back)
        if failed is not None:
            self._lose(f"{reason}; snapshot {back.number} could not be restored: {failed}", clean=True)
            return After.ENDED, f"the session has ended: {self._ended}"
        return (
            After.ROLLED_BACK,
            f"{reason}; the session is back at snapshot {back.number}, after piece {back.piece}",
        )

    def _go_back(self, snapshot: Snapshot) -> str | None:
        """The reason why a session could not be restored; None if it was."""
        _, wake = self._snapshots[snapshot.number]
        if self._pipes.channel.fileno() < 0:
            return "the session's channel was closed"
        try:
            request = {"do": "restore", "number": snapshot.number, "cpu_s": _FORK.cpu_s}
            finished = self._order({}, _FORK, request, receiver=wake)
        except _Refused as error:
            return str(error)
        if not finished.over or finished.end is None:
            return "the process that held it did not continue"
        self._back = snapshot
        return None

    def _order(
        self,
        order: dict[str, Any],
        limits: Limits,
        request: dict[str, Any] | None,
        *,
        descriptor: socket.socket | None = None,
        wake: socket.socket | None = None,
        receiver: socket.socket | None = None,
    ) -> "_Order":
        """Send an order to the session's process and wait for the server's answer about its end.

        Args:
            request: the question to the server before the order; None if it watches already.
            descriptor: a descriptor to send with the order.
            wake: the socket on which a copy reports that it waits.
            receiver: the socket of a copy that continues, instead of the process that runs.
        """
        try:
            self._server.count_anew()
            if request is not None:
                order = order | self._permitted(request)
            if receiver is not None:
                self._forget()
            run = _Order(self, limits, wake)
            return run.follow(
                order, receiver or self._pipes.channel, [] if descriptor is None else [descriptor.fileno()]
            )
        except _Refused:
            raise  # nothing has happened
        except ServerLost as error:
            self._lose(str(error), clean=False)
            raise
        except BaseException:
            if self._ended is None:
                self._lose("its piece was cancelled", clean=False)
            raise

    def _permitted(self, request: dict[str, Any]) -> dict[str, Any]:
        """Ask the server for permission; the result is a part of the order. Raises _Refused."""
        self._server.tell(request)
        if request["do"] == "run":
            return {}
        answer = self._server.answer(_FORK.wall_s)
        if "refused" in answer:
            raise _Refused(answer["refused"])
        return {"files": answer.get("files", [])}

    def _forget(self) -> None:
        """Read and drop the last messages of the previous process."""
        for descriptor in self._pipes.open:
            try:
                while os.read(descriptor, 1 << 16):
                    pass
            except (BlockingIOError, ConnectionResetError):
                continue

    def _account(self, answer: dict[str, Any], wall_s: float) -> None:
        """Subtract the time that an order took, and forget lost snapshots."""
        total = self._remaining
        cpu_s = max(0.0, total.cpu_s - answer["cpu_s"])
        self._remaining = replace(total, cpu_s=cpu_s, wall_s=max(0.0, total.wall_s - wall_s))
        for number in set(self._snapshots) - set(answer["held"]):
            self._snapshots.pop(number)[1].close()
        if self._back is not None and self._back.number not in self._snapshots:
            self._back = self._last_snapshot()

    def _last_snapshot(self) -> Snapshot | None:
        snapshots = (snapshot for snapshot, _ in self._snapshots.values())
        return max(snapshots, key=lambda snapshot: snapshot.number, default=None)

    def _ending(self, finished: "_Order", bounds: Limits, limits: Limits) -> tuple[RunResult, Value | None]:
        outcome, detail = self._verdict(finished, bounds, limits)
        facts = finished.facts_of(outcome)
        return RunResult(
            outcome=outcome,
            detail=detail,
            stdout=text(finished.stdout, len(finished.stdout)),
            stderr=text(finished.stderr, len(finished.stderr)),
            exit_status=finished.status,
            cpu_s=round(finished.cpu_s, 6),
            wall_s=round(finished.wall_s, 6),
            **facts,
        ), finished.end.get("value") if facts and finished.end else None

    def _verdict(self, finished: "_Order", bounds: Limits, requested: Limits) -> tuple[Outcome, str]:
        """The outcome and its detail, as far as possible from facts that the piece cannot write."""
        if finished.stopped is not None:
            return finished.stopped
        if finished.report is not None and finished.report.stopped != _processes.NOTHING:
            by_limit = limit_met(finished.report, bounds)
            if by_limit is not None:
                outcome, detail = by_limit
                shorter = bounds.cpu_s < requested.cpu_s or bounds.wall_s < requested.wall_s
                return outcome, detail + (", the rest of the session's limit" if shorter else "")
        end, status = finished.end, finished.status
        if end is not None and (finished.over or end["outcome"] == Outcome.EXITED):
            return Outcome(end["outcome"]), end.get("detail", "")
        assert status is not None  # it is not over, so the process has ended
        when = "after it had reported its end" if end is not None else "without a message"
        if status < 0:
            by_limit = None if finished.report is None else limit_met(finished.report, bounds)
            if by_limit is None and status == -signal.SIGKILL and self._server.out_of_memory():
                return finished.beyond_memory()
            return by_limit or (Outcome.KILLED, signal_name(-status))
        return Outcome.EXITED, f"status {status}, {when}"

    def _lose(self, reason: str, *, clean: bool) -> None:
        """End the session. If the server is in a clean state, it can be used again."""
        self._ended = reason
        for _, wake in self._snapshots.values():
            wake.close()
        self._snapshots.clear()
        self._back = None
        self._pipes.close_all()
        clean = clean and self._is_begun and self._server.end_session()
        self._sandbox._let_go_of(self, self._server, clean=clean)


class _Refused(SandboxError):
    """The server refused a request. The session has not changed."""


class _Order(RecordedRun["_Order"]):
    """One order to a session's process, from the caller's side, and its result."""

    name = "what ran in the session"
    channel_name = "the session's channel"

    def __init__(self, session: Session, limits: Limits, wake: socket.socket | None) -> None:
        self.session = session
        self.key = secrets.token_bytes(KEY_BYTES)
        decoder = Decoder(self.key, traced=False, session=True)
        super().__init__(session._server, limits, session._pipes, decoder, None)
        self.is_held = wake is None
        """Whether the requested copy has reported that it waits."""
        if wake is not None:
            self.handlers[wake.fileno()] = self._wait_held

    def follow(self, order: dict[str, Any], receiver: socket.socket, descriptors: list[int]) -> "_Order":
        """Send the order and wait for the server's answer about its end. Raises ServerLost, Cancelled."""
        session = self.session
        send_message(receiver, marshal.dumps({**order, "key": self.key}, 4), descriptors)
        return follow(self, lambda: session._closing.is_set() or session._cancelled())

    def finish(self) -> "_Order | None":
        answer = self.server.answer(None)
        if isinstance(answer, float):
            self.wait_longer(answer)
            return None
        self.wall_s = time.monotonic() - self.started
        self.drain()
        closed = self.pipes.channel.fileno() < 0
        if answer["over"] and (self.stopped is not None or closed):  # seen only after it was said to be over
            self.server.tell({"do": "discard"})
            answer = {**answer, **self.server.answer(_FORK.wall_s)}
        self.over = bool(answer["over"])
        self.cpu_s = float(answer["cpu_s"])
        self.status: int | None = answer["status"]
        self.report = (
            None if self.status is None else ServerReport(answer["stopped"], self.status, self.cpu_s, 0)
        )
        changes = answer["files"]
        left_out = changes.pop("left_out")
        self.files = Files(**{kind: tuple(names) for kind, names in changes.items()}, left_out=left_out)
        self.session._account(answer, self.wall_s)
        return self

    def late(self) -> None:
        if self.pipes.channel.fileno() < 0 and self.end is None:
            self.deadline = time.monotonic() + ANSWER_S
            self.stop(Outcome.KILLED, "it closed the session's channel")
        else:
            super().late()

    def beyond_memory(self) -> tuple[Outcome, str]:
        return Outcome.OUT_OF_MEMORY, self.server.why_out_of_memory(_OF_GROUP)

    def lose(self, descriptor: int) -> None:
        """The other end of a pipe of all the session's processes is closed.

        Usually the process has ended, and the server will report that.
        """
        if descriptor not in self.pipes.open:
            return  # the copy's, which `Session.snapshot` closes
        if descriptor == self.pipes.channel.fileno() and self.end is None:
            self.deadline = min(self.deadline, time.monotonic() + ANSWER_S)
        super().lose(descriptor)

    def take_messages(self, data: bytes) -> None:
        super().take_messages(data)
        self._say_over()

    def _wait_held(self, data: bytes) -> None:
        self.is_held = data == b"held"
        self._say_over()

    def _say_over(self) -> None:
        """Tell the server once that the order is done. For a process that exits, its end shows that."""
        outcome = None if self.end is None else self.end["outcome"]
        if outcome in (None, Outcome.EXITED) or self.is_over or self.stopped is not None:
            return
        if self.is_held or outcome != Outcome.RETURNED:
            self.is_over = True
            self.server.say_over()

    def close(self) -> None:
        """Keep the pipes open, since they belong to the session."""
