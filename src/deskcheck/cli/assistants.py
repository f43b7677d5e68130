"""The command `mcp`: a server for assistants."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from deskcheck.cli.common.options import Panel, with_options
from deskcheck.recorder.settings import Mask, RecordSettings
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from deskcheck.settings import Setting
from deskcheck.tracer.limits import TraceLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class _Served:
    """What the server offers."""

    kernel: Annotated[
        tuple[Path, ...],
        Setting(
            "Serve only this kernel, by its connection file, instead of all kernels of the user. May be "
            "given again.",
            metavar="FILE",
            parse=Path,
        ),
    ] = ()
    out: Annotated[
        Path | None, Setting("Keep the recordings in this folder; `deskcheck view` shows them.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorded:
    """How programs are recorded."""

    sandbox: Annotated[
        Confinement, Setting("Confinement of the programs that an assistant runs. 'trusted': none.")
    ] = Confinement.STRICT
    python: Annotated[str | None, Setting("Interpreter of programs, with the packages that they need.")] = (
        None
    )
    mask: Mask = True
    limits: Limits = field(default_factory=Limits)
    trace_limits: TraceLimits = field(default_factory=TraceLimits)

    def settings(self) -> RecordSettings:
        return RecordSettings(
            sandbox=self.sandbox,
            python=self.python,
            mask=self.mask,
            limits=self.limits,
            trace_limits=self.trace_limits,
            wall_s=3 * self.limits.cpu_s,
            repeat=False,
        )


@with_options
def serve(*, served: Annotated[_Served, Panel(None)], recorded: Annotated[_Recorded, Panel(None)]) -> None:
    """Serve assistants by MCP on standard input and output: recordings of programs, variables of kernels.

    The assistant starts this command, in the folder of the project. Its tools run only programs of that
    folder, in the sandbox, and mask secrets. Kernels are only read (deskcheck help assistants)."""
    from deskcheck.view.assistant.server import serve as serve_assistants

    serve_assistants(served.kernel, out=served.out, settings=recorded.settings())
