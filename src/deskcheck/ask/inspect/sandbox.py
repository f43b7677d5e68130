"""Our workspaces as a sandbox of Inspect AI: ``sandbox="deskcheck"``.

Each sample has a workspace (`deskcheck.sandbox.workspace`): files stay as long as the sample, and a command's
processes end with the command. Not supported: other users, connections from outside, and Inspect's own tool
server (`exec_remote`, the bash session and text editor tools), which has to outlive the command that starts
it.
"""

import errno
import os
import threading
import tomllib
from collections.abc import Callable
from typing import Any, Literal, TypeVar, overload

import anyio
from anyio.to_thread import run_sync
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxConnection,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    sandboxenv,
)
from pydantic import BaseModel, ConfigDict, ValidationError

from deskcheck.errors import ServerLost
from deskcheck.files import read_text
from deskcheck.recording import InputError, Outcome
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.workspace import Completed, Workspace

_USER = "sandbox"
_NOT_FOUND, _NOT_STARTED = 127, 126
"""Exit statuses of a shell for a command that does not exist, or cannot be started."""
_T = TypeVar("_T")


class DeskcheckSandboxConfig(BaseModel):
    """The arguments of `Workspace`. limits: those of each command."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    level: Confinement = Confinement.STRICT
    environment: str | None = None
    readable: tuple[str, ...] = ()
    scratch_bytes: int = 512 << 20
    limits: Limits = Limits(cpu_s=300, wall_s=900, output_bytes=64 << 20, file_bytes=256 << 20)


def _config(config: SandboxEnvironmentConfigType | None) -> DeskcheckSandboxConfig:
    """The configuration of a task, a sample or ``--sandbox deskcheck:CONFIG``, where CONFIG is a level or a
    TOML file of the fields. Raises InputError."""
    if config is None:
        return DeskcheckSandboxConfig()
    if isinstance(config, DeskcheckSandboxConfig):
        return config
    if not isinstance(config, str):
        raise InputError(
            f"the sandbox deskcheck is configured by a DeskcheckSandboxConfig, not by {config!r}."
        )
    name = os.path.basename(config)  # Inspect makes a path of it
    if name in {level.value for level in Confinement}:
        return DeskcheckSandboxConfig(level=Confinement(name))
    try:
        return _validated(tomllib.loads(read_text(config)), config)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        levels = ", ".join(Confinement)
        raise InputError(
            f"deskcheck:{config}: is neither a level ({levels}) nor a TOML file: {error}"
        ) from error


def _validated(fields: dict[str, Any], origin: str) -> DeskcheckSandboxConfig:
    try:
        return DeskcheckSandboxConfig(**fields)
    except ValidationError as error:
        raise InputError(f"{origin}: {error}") from error


def _workspace(config: DeskcheckSandboxConfig) -> Workspace:
    return Workspace(
        config.level,
        limits=config.limits,
        environment=config.environment,
        readable=config.readable,
        scratch_bytes=config.scratch_bytes,
    )


@sandboxenv(name="deskcheck")
class DeskcheckSandboxEnvironment(SandboxEnvironment):
    """A workspace for one sample."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.workspace = workspace
        # The workspace does one thing at a time. Waiting here and not there keeps threads free.
        self._turn = anyio.CapacityLimiter(1)

    @classmethod
    async def task_init(cls, task_name: str, config: SandboxEnvironmentConfigType | None) -> None:
        """Raises SandboxError or InputError once, before any sample, if there can be no workspace."""

        def start() -> None:
            with _workspace(_config(config)):
                pass

        await run_sync(start)

    @classmethod
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        workspace = _workspace(_config(config))
        await run_sync(workspace.__enter__)
        return {"default": cls(workspace)}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        with anyio.CancelScope(shield=True):  # an interrupted sample leaves nothing behind either
            for environment in environments.values():
                await run_sync(environment.as_type(DeskcheckSandboxEnvironment).workspace.close)

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        return _validated(config, "the sandbox deskcheck")

    @classmethod
    def default_concurrency(cls) -> int | None:
        return 2 * (os.cpu_count() or 1)

    def default_polling_interval(self) -> float:
        return 0.2

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a command. One that ran out of time is not tried again."""
        if user not in (None, _USER):
            raise SandboxUserUnsupportedError(
                f"the sandbox deskcheck runs commands as its one user ({_USER}), not as {user!r}."
            )
        data = input.encode() if isinstance(input, str) else input
        stop = threading.Event()

        def run() -> Completed | OSError:
            try:
                return self.workspace.run(
                    cmd,
                    input=data,
                    cwd=cwd,
                    env=env,
                    wall_s=timeout,
                    output_bytes=SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE,
                    cancelled=stop.is_set,
                )
            except PermissionError:
                raise
            except OSError as error:  # the command's failure, not ours: what a shell would say
                return error

        try:
            finished = await self._in_thread(run)
        finally:
            stop.set()
        if isinstance(finished, OSError):
            status = _NOT_FOUND if isinstance(finished, FileNotFoundError) else _NOT_STARTED
            message = f"{finished.filename or cmd[0]}: {finished.strerror}\n"
            return ExecResult(success=False, returncode=status, stdout="", stderr=message)
        stdout, stderr = (data.decode("utf-8", "replace") for data in (finished.stdout, finished.stderr))
        if finished.outcome is Outcome.TIMED_OUT:
            raise TimeoutError(f"{cmd[0]}: {finished.detail}")
        if finished.outcome is Outcome.OUTPUT_LIMIT:
            limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR
            raise OutputLimitExceededError(limit_str=limit, truncated_output=stdout or stderr)
        status = finished.status if finished.status >= 0 else 128 - finished.status  # as a shell says it
        if finished.outcome is Outcome.OUT_OF_MEMORY:
            stderr += f"{cmd[0]}: {finished.detail}\n"
        return ExecResult(success=status == 0, returncode=status, stdout=stdout, stderr=stderr)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        data = contents.encode() if isinstance(contents, str) else contents
        await self._in_thread(lambda: self.workspace.write(file, data))

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        most_bytes = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        try:
            contents = await self._in_thread(lambda: self.workspace.read(file, most_bytes=most_bytes))
        except OSError as error:
            if error.errno == errno.EFBIG:
                limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR
                raise OutputLimitExceededError(limit_str=limit, truncated_output=None) from error
            raise
        return contents.decode("utf-8") if text else contents

    async def connection(self, *, user: str | None = None) -> SandboxConnection:
        """Raises NotImplementedError: a workspace cannot be reached from outside."""
        raise NotImplementedError("the sandbox deskcheck has no way in: it offers no connection.")

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        try:
            return await run_sync(work, abandon_on_cancel=True, limiter=self._turn)
        except ServerLost as error:
            raise SandboxUnavailableError(str(error)) from error
