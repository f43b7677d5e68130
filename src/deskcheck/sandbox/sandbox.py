"""Runs many untrusted programs, each as a fork of a warm interpreter."""

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
"""Number of results to keep for each worker while an earlier one is awaited."""
_Item = TypeVar("_Item")
_IDLE = 3
"""Number of servers to keep for each worker: a recording needs two, and one of them is elsewhere."""


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """A program and how it ended."""

    program: Program
    run_result: RunResult


@dataclass(frozen=True, slots=True)
class BareInterpreter:
    """An interpreter without packages: programs can rely on its standard library only."""

    python: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provided:
    """Modules and files that programs get in addition to their environment."""

    modules: tuple[str, ...] = ()
    """Modules to import before any program runs."""
    readable: tuple[str, ...] = ()
    """Files and folders that programs may read."""
    folders: tuple[str, ...] = ()
    """Folders that programs may read except for hidden files, keys and secrets (`inside.readable_files`)."""


class Sandbox:
    """A place where programs run, confined.

        with Sandbox(level="strict", workers=2) as sandbox:
            for result in sandbox.run(programs):
                print(result.program.id, result.run_result.outcome)

    Args:
        workers: number of programs that run at once.
        environment: the environment of programs without ``extra["environment"]``: a built one, its name, or a
            bare interpreter; by default this interpreter.
        hash_seed: PYTHONHASHSEED of the programs.

    Raises:
        InputError: no environment has the name.
        SandboxError: on entry, the kernel lacks something that the level needs. The message says what is
            missing and what to do.
    """

    tries = 3
    """Number of attempts at a program before an error of deskcheck (`Outcome.HARNESS_ERROR`) is reported."""
    _landlock_abi: int | None = None
    """The version of Landlock in an older kernel, for tests."""

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
            raise ValueError(f"workers={workers} must be at least 1")
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
        """Run programs. The results come in the order of the programs, or in order of completion.

        Programs are taken from the iterable when a worker is free, and only a few ahead of the results that
        you have taken. Closing the iterator kills the programs that still run.
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
        """The result of running one program. Threads may call this together.

        Args:
            limits: limits instead of the sandbox's own.
            hash_seed: hash seed instead of the sandbox's own.
            determinism: fixed values instead of the sandbox's own, except for addresses.
            files: whether the result names the files that the program wrote.
            elsewhere: simulate another machine and another day.
            cancelled: called some twenty times a second. Once it returns true, the program is killed and
                Cancelled is raised.
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
        """The result of an attempt, repeated after an error of deskcheck.

        An attempt is not repeated if the caller has got events, which cannot be withdrawn.
        """
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
        """Run programs like `run`, and judge each by its check in another process (`check_one`)."""
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
        """Run a program and judge it by a check in another process (`checked.judge`).

        Threads may call this together. Each call uses two servers.

        Args:
            tracing: settings of the program's trace, which includes the calls of the check. If the caller has
                got events, the attempt is not repeated.
            printed: takes the output of the check, once for each attempt.
        """
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
        """A session: an interpreter that runs pieces of code one after another. Close it, or use `with`.

        The session uses a server. Raises SandboxError if it cannot begin.

        Args:
            limits: limits of each piece, but `memory_bytes` is for the session with its snapshots.
            cpu_s: CPU time of all pieces together.
            wall_s: wall time of all pieces together.
            cancelled: called while a piece runs. Once it returns true, the session is ended and Cancelled is
                raised.
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
        """The environment of a program; None for the interpreter of the sandbox. Raises InputError."""
        name = program.extra.get("environment")
        if name is None:
            return self._environment
        if not isinstance(name, str):
            raise InputError(f"program {program.id!r}: 'environment' is not a name: {name!r}.")
        return self._find(name)

    def tracer(self, program: Program | None) -> str:
        """The name of the tracer for a program, which depends on the program's interpreter.

        None means a program without an environment.
        """
        with self._server(self._profile(program, self.hash_seed)) as server:
            name: str = server.wait_until_ready()["tracer"]
        return name

    def accounts(self) -> dict[str, str]:
        """The means of counting memory, processes and CPU time of the programs (`Server.accounts`)."""
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
        """A server for one program. It is ended if the program does not end by itself."""
        server = self._take(profile)
        try:
            yield server
        except BaseException:
            server.close()
            raise
        self._servers.give(server)

    def _first(self, profile: Profile) -> Server:
        """A started server. If one is killed meanwhile, another one is tried."""
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
    """Run one program in a new sandbox. For many programs, make one `Sandbox`.

    Args:
        python: the interpreter, by default this one.
        cancelled: called some twenty times a second.

    Raises:
        SandboxError: the process cannot be started.
        Cancelled: the run was cancelled. This says nothing about the program.
    """
    environment = None if python is None else BareInterpreter(python)
    sandbox = Sandbox(confinement, workers=1, environment=environment, hash_seed=hash_seed, limits=limits)
    try:
        return sandbox.run_one(program, tracing=tracing, cancelled=cancelled)
    finally:
        sandbox.close()
