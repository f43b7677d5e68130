"""The interpreter for a project's tests: an existing one, or a virtual environment made for them.

The environment gets the project, editable, and the requirements of its tests. `uv` installs them, or pip if
there is no `uv`. Like ``pip install -e .``, this runs the project's own build code as the user, and may
leave build files in the project's folder.
"""

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from ast import literal_eval
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deskcheck.ask.results.project_benchmark import Interpreter
from deskcheck.bench.project import ProjectFiles
from deskcheck.errors import InputError, SandboxError
from deskcheck.files import disk_errors, read_json
from deskcheck.sandbox.environments import PythonFacts, facts_of, named_interpreter

_MARK = "deskcheck.json"
"""File that marks a complete environment."""
_OWN_ENVIRONMENTS = (".venv", "venv", "env")
_INSTALL_S = 1800.0
_HAS = """
import importlib.util, json, sys
from importlib import metadata
found = {"pytest": importlib.util.find_spec("pytest") is not None, "editable": ""}
try:
    told = json.loads(metadata.distribution(sys.argv[1]).read_text("direct_url.json") or "{}")
    found["editable"] = told["url"] if told.get("dir_info", {}).get("editable") else ""
except (metadata.PackageNotFoundError, ValueError, KeyError):
    pass
print(json.dumps(found))
"""
_FOR_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
}
"""Setting of pip -> the environment variable with the same meaning for uv."""

Progress = Callable[[str], None]
"""Takes the name of the current step, several times a second."""


def interpreter_of(
    project: ProjectFiles,
    folder: Path,
    *,
    python: str | None = None,
    more: Sequence[str] = (),
    progress: Progress = lambda what: None,
    note: Callable[[str], None] = lambda text: None,
) -> Interpreter:
    """The interpreter for a project's tests.

    The first of these:

    1. `python`, if it has pytest
    2. the environment in the project's folder, if it has pytest
    3. this interpreter, if the project is installed in it, editable
    4. an environment made in `folder`

    Args:
        more: requirements in addition to those of the project's files. They need a new environment.

    Raises:
        InputError: the interpreter does not exist or is too old, or the requirements cannot be installed.
        SandboxError: this machine cannot make an environment.
    """
    if python is not None:
        path, facts = named_interpreter(python)
        if not more and _has(path, project)["pytest"]:
            return Interpreter(path=path, version=facts.version, how="the interpreter that --python names")
        return _made(project, folder, path, more, progress, note)
    for path, how, is_own in () if more else _candidates(project):
        candidate, has = facts_of(path), _has(path, project)
        of_project = is_own or has["editable"] == project.folder.as_uri()
        if candidate and candidate.runs_our_code and has["pytest"] and of_project:
            return Interpreter(path=path, version=candidate.version, how=how)
    return _made(project, folder, sys.executable, more, progress, note)


def _candidates(project: ProjectFiles) -> Iterator[tuple[str, str, bool]]:
    """Existing interpreters, each with a description, and whether it is in the project's own environment."""
    for name in _OWN_ENVIRONMENTS:
        path = project.folder / name / "bin" / "python"
        if path.exists():
            yield str(path), f"the project's own environment, {name}", True
    yield sys.executable, "the environment that deskcheck runs in", False


def _has(path: str, project: ProjectFiles) -> dict[str, Any]:
    """Whether an interpreter has pytest, and the source folder of an editable install of the project."""
    try:
        ran = subprocess.run(
            [path, "-I", "-c", _HAS, project.name], capture_output=True, text=True, timeout=60, check=False
        )
        has: dict[str, Any] = read_json(ran.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return {"pytest": False, "editable": ""}
    return has


# -- an environment that is made -------------------------------------------------------------------


def _made(
    project: ProjectFiles,
    folder: Path,
    base: str,
    more: Sequence[str],
    progress: Progress,
    note: Callable[[str], None],
) -> Interpreter:
    """The environment in `folder`, made anew unless an earlier call made the same one there."""
    facts = facts_of(base)
    if facts is None:
        raise SandboxError(f"{base} cannot be started, so no environment can be made.")
    text = _wanted(project, base, facts, more)
    mark = folder / _MARK
    interpreter = Interpreter(
        path=str(folder / "bin" / "python"),
        version=facts.version,
        how=f"an environment made for the tests, {folder}",
        made=True,
    )
    if mark.exists() and mark.read_text("utf-8") == text and os.access(interpreter.path, os.X_OK):
        return interpreter
    with disk_errors(folder, "make an environment"):
        if folder.exists():
            shutil.rmtree(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
    installer = _installer(interpreter.path)
    requirements = [*dict.fromkeys([*project.requirements, *project.plugins, "pytest", *more])]
    listed = [*_project(project), *requirements, *(path.name for path in project.files)]
    note(f"making an environment with {', '.join(listed)}, in {folder}")
    try:
        _run([base, "-I", "-m", "venv", "--without-pip", str(folder)], {}, progress, "make an environment")
        command = [*installer.command, *requirements]
        for path_of_project in _project(project):
            command += ["--editable", path_of_project]
        for path in project.files:
            command += ["--requirement", str(path)]
        status, output = _run(
            command, installer.environment, progress, "install what the tests need", fails=True
        )
        if status:
            raise _not_installed(project, output)
        with disk_errors(mark, "make an environment"):
            mark.write_text(text, encoding="utf-8")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return interpreter


def _project(project: ProjectFiles) -> list[str]:
    if not project.installable:
        return []
    extras = f"[{','.join(project.extras)}]" if project.extras else ""
    return [f"{project.folder}{extras}"]


def _wanted(project: ProjectFiles, base: str, facts: PythonFacts, more: Sequence[str]) -> str:
    """The facts that decide an environment, as text."""
    files = [project.folder / name for name in ("pyproject.toml", "setup.py", "setup.cfg")]
    files += project.files
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None for path in files]
    contents = {
        **asdict(project),
        "base": base,
        "python": facts.version,
        "more": [*more],
        "files": digests,
    }
    return json.dumps(contents, default=str, sort_keys=True)


@dataclass(frozen=True, slots=True)
class _Installer:
    command: list[str]
    environment: dict[str, str]


def _installer(python: str) -> _Installer:
    """The program that installs into an environment: uv, or pip."""
    near = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    uv_path = shutil.which("uv", path=near)
    if uv_path is not None:
        command = [uv_path, "pip", "install", "--quiet", "--python", python]
        settings = _told_to_pip()
        if settings:  # pip takes the best of all its indexes
            command += ["--index-strategy", "unsafe-best-match"]
        return _Installer(command, settings)
    if importlib.util.find_spec("pip") is None:
        raise SandboxError(
            "uv or pip is needed to make an environment for the tests; neither is installed. Install one: "
            f"{sys.executable} -m ensurepip; or name an interpreter that has what the tests need: --python"
        )
    pip = [sys.executable, "-I", "-m", "pip", "--python", python, "--disable-pip-version-check"]
    return _Installer([*pip, "--no-input", "--quiet", "install"], {})


def _told_to_pip() -> dict[str, str]:
    """Settings of pip for package indexes and certificates on this machine, as variables for uv."""
    if importlib.util.find_spec("pip") is None:
        return {}
    ran = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    variables = {}
    for line in ran.stdout.splitlines():
        key, _, value = line.partition("=")
        name = _FOR_UV.get(key.rpartition(".")[2])
        if name is not None and name not in os.environ:
            try:
                variables[name] = str(literal_eval(value))
            except (SyntaxError, ValueError):
                continue
    return variables


def _run(
    command: list[str], environment: dict[str, str], progress: Progress, what: str, *, fails: bool = False
) -> tuple[int, str]:
    """Run a command to its end: its exit status and output. fails: whether the caller handles a failure."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, env={**variables, **environment}, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            for _ in range(int(_INSTALL_S / 0.2)):
                progress(what)
                try:
                    process.wait(0.2)
                    break
                except subprocess.TimeoutExpired:
                    continue
            else:
                raise SandboxError(f"could not {what} within {_INSTALL_S:g} s.")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    if process.returncode and not fails:
        raise SandboxError(f"could not {what}: {text.strip()[-600:]}")
    return process.returncode, text


def _not_installed(project: ProjectFiles, output: str) -> InputError:
    """The error that says why the project or its requirements cannot be installed, and what to do."""
    output = re.sub(r"\x1b\[[0-9;]*m", "", output).strip()
    way_out = "If you have an environment in which its tests run, name its interpreter: --python."
    if re.search(r"Permission denied|Read-only file system|PermissionError", output):
        return InputError(
            f"{project.folder}: cannot be written to, and installing the project writes there. Make a copy. "
            f"{way_out}\n  {_end(output)}"
        )
    if re.search(
        r"(?i)connection|dns error|name resolution|network is unreachable|error sending request", output
    ):
        return InputError(
            f"{project.folder}: no package index can be reached, so what its tests need cannot be installed. "
            f"{way_out}\n  {_end(output)}"
        )
    return InputError(
        f"{project.folder}: the project, or what its tests need, cannot be installed. {way_out}\n"
        f"  {_end(output)}"
    )


def _end(output: str) -> str:
    return "\n  ".join(output[-1500:].splitlines())
