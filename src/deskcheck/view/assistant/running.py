"""Finds the running kernels of this user by their connection files.

Jupyter, VS Code and jupyter_client write such a file for each kernel into the user's runtime folder. Some
files remain after their kernel. A reader of the key in a file can run code in the kernel, so its contents are
not passed on.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from deskcheck.errors import InputError, MissingExtra
from deskcheck.files import read_file, read_json

_AT_ONCE = 8
_MOST = 200
"""Maximum number of connection files that are read, the newest ones."""


@dataclass(frozen=True, slots=True)
class RunningKernel:
    """A kernel that may still run."""

    file: Path
    """The connection file."""
    id: str
    """The id in Jupyter."""
    notebook: str | None = None
    """Path of the notebook when the kernel was started, if the file contains it."""
    spec: str | None = None
    """The name of its kernelspec."""


def kernels_of(files: Iterable[Path]) -> list[RunningKernel]:
    """The kernels of some connection files. Raises InputError for other files and unreadable ones."""
    return [*map(_read, files)]


def kernels_here(folder: Path | None = None) -> list[RunningKernel]:
    """The kernels in the user's runtime folder, the newest first, whether they still run or not.

    Raises MissingExtra if jupyter_client, which knows this folder, is not installed.
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
        # For a session without a name, front ends write only the folder.
        notebook if isinstance(notebook, str) and not notebook.endswith("/") and notebook else None,
        spec if isinstance(spec, str) and spec else None,
    )


@dataclass(frozen=True, slots=True)
class Condition:
    """The state of a kernel."""

    kernel: RunningKernel
    state: str
    """``idle``, ``busy``, or ``silent`` if it does not answer."""
    language: str | None = None

    def line(self) -> str:
        """The line about the kernel in a list."""
        about = {"idle": "idle", "busy": "busy: a cell runs", "silent": "does not answer: ended, or stopped"}
        parts = [self.kernel.id, about[self.state], self.language, self.kernel.spec, self.kernel.notebook]
        return "  ".join(part for part in parts if part)


def conditions(kernels: Sequence[RunningKernel]) -> list[Condition]:
    """The states of kernels, in their order. All are asked at once."""
    from deskcheck.view.assistant.asking import condition

    if not kernels:
        return []
    with ThreadPoolExecutor(min(_AT_ONCE, len(kernels))) as pool:
        states = list(pool.map(lambda kernel: condition(kernel.file), kernels))
    return [Condition(kernel, *state) for kernel, state in zip(kernels, states, strict=True)]


def chosen(kernels: Sequence[RunningKernel], name: str | None) -> RunningKernel:
    """The kernel with this id, beginning of an id, or file name of a notebook; without a name the only one
    that answers.

    Raises InputError if none matches, or several.
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
        raise InputError(f"kernel={name!r} matches {_listed(matches)}: give the complete id.")
    raise InputError(f"unknown kernel {name!r}. The kernels are: {_listed(kernels) or 'none'}.")


def _is_notebook(path: str | None, name: str) -> bool:
    return path is not None and name in (path, Path(path).name)


def _listed(kernels: Sequence[RunningKernel]) -> str:
    names = [f"{kernel.id} ({kernel.notebook})" if kernel.notebook else kernel.id for kernel in kernels[:10]]
    return ", ".join(names) + (f" and {len(kernels) - 10} more" if len(kernels) > 10 else "")
