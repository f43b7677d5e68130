"""The kernels of this user that run now, found by their connection files.

Jupyter, VS Code and jupyter_client write such a file for each kernel into the user's runtime folder, and
leave some behind. Its key lets whoever reads it run code in the kernel: nothing of it is handed out."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from deskcheck.errors import InputError, MissingExtra
from deskcheck.files import read_file, read_json

_AT_ONCE = 8
_MOST = 200
"""Connection files that are looked at, the newest."""


@dataclass(frozen=True, slots=True)
class RunningKernel:
    """file: its connection file. id: as Jupyter calls it. notebook: its path when the kernel was started, as
    far as the file says."""

    file: Path
    id: str
    notebook: str | None = None
    spec: str | None = None
    """The name of its kernelspec."""


def kernels_of(files: Iterable[Path]) -> list[RunningKernel]:
    """The kernels of some connection files. Raises InputError: one is none, or cannot be read."""
    return [*map(_read, files)]


def kernels_here(folder: Path | None = None) -> list[RunningKernel]:
    """Those of the user's runtime folder, the newest first, whether they still run or not.

    Raises MissingExtra: jupyter_client is not installed, which says where that folder is.
    """
    if folder is None:
        try:
            from jupyter_core.paths import jupyter_runtime_dir
        except ImportError as error:
            raise MissingExtra("jupyter_client", "mcp", "finding running kernels") from error
        folder = Path(jupyter_runtime_dir())
    kernels = []
    for file in sorted(folder.glob("kernel-*.json"), key=_age)[:_MOST]:
        with suppress(InputError):
            kernels.append(_read(file))
    return kernels


def _age(file: Path) -> float:
    try:
        return -file.stat().st_mtime
    except OSError:  # it has just ended
        return 0.0


def _read(file: Path) -> RunningKernel:
    try:
        content = read_json(read_file(file))
        problem = "is not a connection file"
    except OSError as error:
        content, problem = None, f"cannot be read ({error.strerror})"
    except ValueError:
        content, problem = None, "is not JSON"
    if not isinstance(content, dict) or not {"shell_port", "control_port", "key"} <= content.keys():
        raise InputError(f"{file}: {problem}. Name the connection file of a kernel, kernel-....json.")
    notebook, spec = content.get("jupyter_session"), content.get("kernel_name")
    return RunningKernel(
        file,
        file.stem.removeprefix("kernel-"),
        # A front end that gives a session no name leaves the folder.
        notebook if isinstance(notebook, str) and not notebook.endswith("/") and notebook else None,
        spec if isinstance(spec, str) and spec else None,
    )


@dataclass(frozen=True, slots=True)
class Condition:
    """How a kernel is. state: ``idle``, ``busy``, or ``silent``, if it does not answer at all."""

    kernel: RunningKernel
    state: str
    language: str | None = None

    def line(self) -> str:
        """For a list."""
        about = {"idle": "idle", "busy": "busy: a cell runs", "silent": "does not answer: ended, or stopped"}
        parts = [self.kernel.id, about[self.state], self.language, self.kernel.spec, self.kernel.notebook]
        return "  ".join(part for part in parts if part)


def conditions(kernels: Sequence[RunningKernel]) -> list[Condition]:
    """How each of them is, in their order; they are asked at once."""
    from deskcheck.view.assistant.asking import condition

    if not kernels:
        return []
    with ThreadPoolExecutor(min(_AT_ONCE, len(kernels))) as pool:
        states = list(pool.map(lambda kernel: condition(kernel.file), kernels))
    return [Condition(kernel, *state) for kernel, state in zip(kernels, states, strict=True)]


def chosen(kernels: Sequence[RunningKernel], name: str | None) -> RunningKernel:
    """The kernel of an id, of the beginning of an id, or of a notebook's file name; without a name the only
    one that answers.

    Raises InputError: there is none, or several.
    """
    if name is None:
        alive = [kernel.kernel for kernel in conditions(kernels) if kernel.state != "silent"]
        if len(alive) == 1:
            return alive[0]
        if not alive:
            raise InputError(
                "no kernel runs. Start a notebook; if its connection file is elsewhere, "
                "start the server with --kernel FILE."
            )
        raise InputError(f"{len(alive)} kernels run: name one of {_listed(alive)}.")
    matches = [kernel for kernel in kernels if kernel.id == name]
    matches = matches or [kernel for kernel in kernels if name and kernel.id.startswith(name)]
    matches = matches or [kernel for kernel in kernels if _is_notebook(kernel.notebook, name)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise InputError(f"kernel={name!r} may be each of {_listed(matches)}: give the whole id.")
    raise InputError(f"there is no kernel {name!r}; there are {_listed(kernels) or 'none'}.")


def _is_notebook(path: str | None, name: str) -> bool:
    return path is not None and name in (path, Path(path).name)


def _listed(kernels: Sequence[RunningKernel]) -> str:
    names = [f"{kernel.id} ({kernel.notebook})" if kernel.notebook else kernel.id for kernel in kernels[:10]]
    return ", ".join(names) + (f" and {len(kernels) - 10} more" if len(kernels) > 10 else "")
