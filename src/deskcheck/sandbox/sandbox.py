"""Runs many programs that nobody trusts, each a fork of a warm interpreter."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from types import TracebackType
from typing import TypeVar

from deskcheck.errors import InputError, ServerLost
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.recording.recording import RunResult
from deskcheck.sandbox.checked import Checked, judge
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.determinism import Determinism
from deskcheck.sandbox.elsewhere import Elsewhere
from deskcheck.sandbox.environments import BuiltEnvironment, find
from deskcheck.sandbox.exchange import follow
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.process import ProcessRun, Tracing
from deskcheck.sandbox.server import Profile, Server, ServerPool
from deskcheck.sandbox.session import Session

_AHEAD = 8
"""Results kept for each worker while one that comes before them is awaited."""
_Item = TypeVar("_Item")
_IDLE = 3
"""Servers kept for each worker: a recording needs two, and one of them is elsewhere."""


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """A program and how it ended."""

    program: Program
    run_result: RunResult


@dataclass(frozen=True, slots=True)
class BareInterpreter:
    """An interpreter by itself: of it programs can be sure to have the standard library alone."""

    python: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provided:
    """What programs find beside their environment.

    modules: imported before any program runs. readable: files and folders that programs may read. folders:
    the same, without what is hidden or named like a key or a secret (`inside.readable_files`).
    """

    modules: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


class Sandbox:
    """A place where programs run, confined.

        with Sandbox(level="strict", workers=2) as sandbox:
            for result in sandbox.run(programs):
                print(result.program.id, result.run_result.outcome)

    workers: programs that run at once. environment: of programs that name none (``extra["environment"]``): a
    built one, its name, or a bare interpreter; by default this interpreter. hash_seed: PYTHONHASHSEED of the
    programs.

    Raises InputError where no environment has the name; SandboxError on entry where the kernel does not give
    what the level needs: the message names what is missing and the way out.
    """

    tries = 3
    """Runs of one program until a failure of ours (`Outcome.HARNESS_ERROR`) is reported."""
    _landlock_abi: int | None = None
    """For tests: what an older kernel gives."""

    def __init__(
        self,
        level: Confinement | str = Confinement.STRICT,
        *,
        workers: int = 2,
        limits: Limits | None = None,
        environment: str | BuiltEnvironment | BareInterpreter | None = None,
        provided: Provided | None = None,
        hash_seed: int = 0,
        determinism: Determinism | None = None,
    ) -> None:
        if workers < 1:
            raise ValueError(f"workers={workers} must be at least one")
        self.level = Confinement(level)
        self.workers = workers
        self.limits = limits or Limits()
        self.provided = provided or Provided()
        self.hash_seed = hash_seed
        self.determinism = determinism or Determinism()
        self._environments: dict[str, BuiltEnvironment] = {}
        self._python = environment.python if isinstance(environment, BareInterpreter) else None
        self._environment: BuiltEnvironment | None = None
        if not isinstance(environment, BareInterpreter):
            self._environment = self._find(environment) if isinstance(environment, str) else environment
        self._lock = threading.Lock()
        self._servers = ServerPool(_IDLE * workers)
        self._sessions: list[Session] = []
        self._closed = threading.Event()
        self._accounts: dict[str, str] | None = None

    def __enter__(self) -> "Sandbox":
        self._closed.clear()
        self._servers.open()
        profile = self._profile(None, self.hash_seed)
        try:
            for _ in range(self.workers):  # they start side by side
                self._servers.give(Server(profile))
            self._servers.give(self._first(profile))
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every process of the sandbox. Runs that other threads have under way raise Cancelled."""
        self._closed.set()
        with self._lock:
            sessions = [*self._sessions]
        for session in sessions:
            session.close()
        self._servers.close()

    def run(self, programs: Iterable[Program], *, ordered: bool = True) -> Iterator[ProgramResult]:
        """Run programs and give their results: in the order of the programs, or as they are completed.

        Programs are taken from the iterable as workers get free, and no more than a few ahead of the
        results that were taken. Closing the iterator kills what still runs.
        """
        return self._stream(
            programs,
            lambda program, cancelled: ProgramResult(program, self.run_one(program, cancelled=cancelled)),
            ordered,
        )

    def run_one(
        self,
        program: Program,
        *,
        limits: Limits | None = None,
        tracing: Tracing | None = None,
        hash_seed: int | None = None,
        determinism: Determinism | None = None,
        files: bool = False,
        elsewhere: Elsewhere | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> RunResult:
        """Run one program and say how it ended. Threads may call this together.

        limits, hash_seed, determinism: instead of the sandbox's own, but for addresses. files: whether the
        result names the files that the program wrote. elsewhere: it finds another machine and another day.
        cancelled: asked some twenty times a second; once it is true, the program is killed and Cancelled is
        raised.
        """
        profile = self._profile(program, self.hash_seed if hash_seed is None else hash_seed)
        if elsewhere is not None and elsewhere.names:
            profile = replace(profile, elsewhere=True)

        def attempt(tracing: Tracing | None) -> RunResult:
            with self._server(profile) as server:
                run = ProcessRun(
                    program,
                    server,
                    limits=limits or self.limits,
                    tracing=tracing,
                    determinism=determinism or self.determinism,
                    files=files,
                    elsewhere=elsewhere,
                )
                return follow(run, lambda: self._closed.is_set() or cancelled())

        return self._until_ours_is_well(tracing, attempt)

    def _until_ours_is_well(
        self, tracing: Tracing | None, attempt: Callable[[Tracing | None], RunResult]
    ) -> RunResult:
        """The result of an attempt, repeated after a failure of ours unless the caller has got events, which
        cannot be taken back."""
        failure, is_told = "", False

        def tell(block: bytes) -> None:
            nonlocal is_told
            is_told = True
            assert tracing is not None
            tracing.sink(block)

        watched = None if tracing is None else replace(tracing, sink=tell)
        for _ in range(self.tries):
            try:
                run_result = attempt(watched)
            except ServerLost as error:
                failure = str(error)
            else:
                if run_result.outcome is not Outcome.HARNESS_ERROR or is_told:
                    return run_result
                failure = run_result.detail
            if is_told:
                break
        return RunResult(outcome=Outcome.HARNESS_ERROR, detail=failure)

    def check(self, programs: Iterable[Checked], *, ordered: bool = True) -> Iterator[ProgramResult]:
        """Run programs and judge each by its check in another process (`check_one`); otherwise as `run`."""
        return self._stream(
            programs,
            lambda checked, cancelled: ProgramResult(
                checked.program, self.check_one(checked, cancelled=cancelled)
            ),
            ordered,
        )

    def _stream(
        self,
        items: Iterable[_Item],
        run: Callable[[_Item, Callable[[], bool]], ProgramResult],
        ordered: bool,
    ) -> Iterator[ProgramResult]:
        stopping = threading.Event()
        pending: dict[Future[ProgramResult], None] = {}
        coming = iter(items)
        with ThreadPoolExecutor(self.workers, "deskcheck-sandbox") as pool:
            try:
                while True:
                    for item in islice(coming, _AHEAD * self.workers - len(pending)):
                        pending[pool.submit(run, item, stopping.is_set)] = None
                    if not pending:
                        return
                    first = next(iter(pending))
                    if not ordered:
                        first = next(iter(wait(pending, return_when=FIRST_COMPLETED).done))
                    del pending[first]
                    yield first.result()
            finally:
                stopping.set()
                pool.shutdown(wait=False, cancel_futures=True)

    def check_one(
        self,
        checked: Checked,
        *,
        limits: Limits | None = None,
        tracing: Tracing | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        printed: Callable[[str], None] = lambda text: None,
    ) -> RunResult:
        """Run a program and judge it by a check in another process (`checked.judge`). Threads may call
        this together; each call takes two servers. printed: is given what the check printed; where a failure
        of ours had it tried again, once for each try. tracing: of the program, in the calls of the check,
        too; what was given out is not tried again."""
        bounds = limits or self.limits
        # The check mostly waits for the program, whose own limits decide how long.
        patient = replace(bounds, wall_s=10 * bounds.wall_s)
        profiles = [self._profile(program, self.hash_seed) for program in (checked.program, None)]

        def attempt(tracing: Tracing | None) -> RunResult:
            with (
                self._server(profiles[0]) as server,
                self._server(profiles[1]) as second,
                ExitStack() as runs,
            ):
                answering = ProcessRun(
                    checked.program,
                    server,
                    limits=bounds,
                    tracing=tracing,
                    determinism=self.determinism,
                    answers=True,
                )
                runs.callback(answering.close)
                checking = ProcessRun(checked.checking, second, limits=patient, calls=checked.names)
                runs.callback(checking.close)
                return judge(answering, checking, lambda: self._closed.is_set() or cancelled(), printed)

        return self._until_ours_is_well(tracing, attempt)

    def session(
        self,
        *,
        limits: Limits | None = None,
        cpu_s: float = 600.0,
        wall_s: float = 3600.0,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Session:
        """A living interpreter that runs pieces of code in turn; close it, or use `with`. It takes a server.

        limits: of each piece; `memory_bytes` is for the whole session with its snapshots. cpu_s, wall_s: of
        all pieces together. cancelled: asked while a piece runs; once it is true, the session is ended and
        Cancelled raised.

        Raises SandboxError where it cannot begin.
        """
        bounds = limits or self.limits
        server = self._take(self._profile(None, self.hash_seed))
        session = Session(
            self,
            server,
            limits=bounds,
            total=replace(bounds, cpu_s=cpu_s, wall_s=wall_s),
            determinism=self.determinism,
            cancelled=lambda: self._closed.is_set() or cancelled(),
        )
        with self._lock:
            self._sessions.append(session)
        return session

    def _let_go_of(self, session: Session, server: Server, *, clean: bool) -> None:
        """Take back the server of a session that has ended."""
        with self._lock:
            if session in self._sessions:
                self._sessions.remove(session)
        if clean:
            self._servers.give(server)
        else:
            server.close()

    def environment(self, program: Program) -> BuiltEnvironment | None:
        """The environment that a program runs in; None: the interpreter of the sandbox. Raises InputError."""
        name = program.extra.get("environment")
        if name is None:
            return self._environment
        if not isinstance(name, str):
            raise InputError(f"program {program.id!r}: 'environment' is not a name: {name!r}.")
        return self._find(name)

    def tracer(self, program: Program | None) -> str:
        """Name of the tracer that a program is recorded by: the interpreter decides which there is. None: one
        that names no environment."""
        with self._server(self._profile(program, self.hash_seed)) as server:
            name: str = server.wait_until_ready()["tracer"]
        return name

    def accounts(self) -> dict[str, str]:
        """What counts memory, processes and CPU time of the programs (`Server.accounts`)."""
        if self._accounts is None:
            with self._server(self._profile(None, self.hash_seed)) as server:
                self._accounts = server.accounts()
        return self._accounts

    def _find(self, name: str) -> BuiltEnvironment:
        if name not in self._environments:
            self._environments[name] = find(name)
        return self._environments[name]

    def _profile(self, program: Program | None, hash_seed: int) -> Profile:
        readable, folders = set(self.provided.readable), set(self.provided.folders)
        environment, python, modules = self._environment, self._python, self.provided.modules
        if program is not None:
            environment = self.environment(program)
            if program.path is not None:
                folders.add(program.path)
            if (file := program.extra.get("file")) is not None:
                readable.add(file)
        if environment is not None:
            python, modules = environment.python, (*modules, *environment.modules)
        return Profile(
            level=self.level,
            hash_seed=hash_seed,
            python=python,
            environment=environment,
            modules=modules,
            readable=tuple(sorted(readable)),
            folders=tuple(sorted(folders)),
            fixed_addresses=bool(self.determinism.addresses),
            landlock_abi=self._landlock_abi,
        )

    @contextmanager
    def _server(self, profile: Profile) -> Iterator[Server]:
        """A server for one program; it is ended if that does not come to its end."""
        server = self._take(profile)
        try:
            yield server
        except BaseException:
            server.close()
            raise
        self._servers.give(server)

    def _first(self, profile: Profile) -> Server:
        """A server that has started. One that is killed meanwhile refused nothing: the next one may start."""
        for _ in range(self.tries - 1):
            try:
                return self._take(profile)
            except ServerLost:
                continue
        return self._take(profile)

    def _take(self, profile: Profile) -> Server:
        server = self._servers.take(profile)
        server.wait_until_ready()
        return server


def run(
    program: Program,
    *,
    limits: Limits | None = None,
    tracing: Tracing | None = None,
    hash_seed: int = 0,
    python: str | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    confinement: Confinement | str = Confinement.STRICT,
) -> RunResult:
    """Run one program in a sandbox of its own; for many programs, make one `Sandbox`.

    python: the interpreter, by default this one. cancelled: asked some twenty times a second.

    Raises SandboxError when the process cannot be started, and Cancelled: that says nothing about the
    program.
    """
    environment = None if python is None else BareInterpreter(python)
    sandbox = Sandbox(confinement, workers=1, environment=environment, hash_seed=hash_seed, limits=limits)
    try:
        return sandbox.run_one(program, tracing=tracing, cancelled=cancelled)
    finally:
        sandbox.close()
