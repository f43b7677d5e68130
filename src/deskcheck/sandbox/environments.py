"""Environments: named sets of pinned packages, each built once with `venv` and `pip`, then used offline.

An environment has a folder named by the SHA-256 of its pins, Python version and platform. Its description is
written last, so an interrupted build is never used. A name points to an environment.

Building runs the packages' own build code as the user, outside of the sandbox, like ``pip install``. The
requirements of the pinned packages are not pinned: `BuiltEnvironment.freeze` writes them as pins.
"""

import fcntl
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from deskcheck.errors import InputError, SandboxError
from deskcheck.files import cache_folder, read_file, read_json, read_text

_OLDEST = (3, 11)
"""Oldest version of Python that can run deskcheck's own code, which is in the programs' processes."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PYTHON = re.compile(r"3\.\d+(\.\d+)?")
_PIN = re.compile(
    r"""(?P<name> [A-Za-z0-9] (?: [A-Za-z0-9._-]* [A-Za-z0-9] )? ) \s* (?P<extras> \[ [^\]]* \] )?
    \s* === ? \s* (?P<version> [A-Za-z0-9] (?: [A-Za-z0-9.!+_-]* [A-Za-z0-9] )? )
    \s* (?P<marker> ; [^#]*? )? (?P<hashes> (?: \s+ --hash=\S+ )* ) \s*""",
    re.VERBOSE,
)
_DESCRIPTION = "environment.json"
_KEY_CHARACTERS = 24
"""Digits of the SHA-256 in a folder's name: 96 bits. The first line of a script holds some 120 letters."""
_BUILD_S = 3600.0
_FORM = (
    'name = "graphs"\npython = "3.12"\npackages = ["networkx==3.3", "numpy==1.26.4"]\nmodules = ["networkx"]'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentSpec:
    """The specification of an environment: pinned packages (PEP 508, each with ``==``) for a Python version.

    Raises InputError if a package is not pinned, or pinned twice.
    """

    name: str
    python: str | None = None
    """``3.12`` or ``3.12.1``; None is the version of this interpreter."""
    packages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    """Modules to import once, before any program runs."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InputError(
                f"environment {self.name!r}: a name is made of letters, digits, dots, dashes and underscores."
            )
        if self.python is not None and not _PYTHON.fullmatch(self.python):
            raise InputError(
                f"environment {self.name!r}: python = {self.python!r} is not like 3.12 or 3.12.1."
            )
        object.__setattr__(self, "packages", _canonical(self.packages, f"environment {self.name!r}"))

    @classmethod
    def read(cls, file: str | Path) -> "EnvironmentSpec":
        """The specification in a requirements file or TOML (``name``, ``python``, ``packages``, ``modules``).

        If the file does not name the environment, its stem is the name. Raises InputError if the file cannot
        be used.
        """
        path = Path(file)
        try:
            text = read_text(path)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read: {error}") from error
        if path.suffix != ".toml":
            return cls(name=path.stem, packages=tuple(_requirements(text, str(path))))
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{path}: is not TOML: {error}") from error
        kinds: dict[str, type] = {"name": str, "python": str, "packages": list, "modules": list}
        for key, value in table.items():
            if key not in kinds or type(value) is not kinds[key]:
                raise InputError(
                    f"{path}: {key!r} is unknown, or has the wrong type. An environment is\n{_FORM}"
                )
        lists = {key: tuple(table[key]) for key in ("packages", "modules") if key in table}
        if not all(isinstance(item, str) for items in lists.values() for item in items):
            raise InputError(f"{path}: packages and modules are lists of strings.")
        return cls(name=table.get("name", path.stem), python=table.get("python"), **lists)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltEnvironment:
    """A built environment, or an interpreter of the user (`of_interpreter`) with the path `executable`.

    Attributes:
        pins_sha256: the digest of the pins, the Python version and the platform.
        installed: versions of all distributions.
        installed_sha256: the digest of all installed files in the RECORDs, without scripts and pip's own
            notes. Environments with the same digest have the same code.
        distributions: names of distributions, by top-level module.
    """

    name: str
    folder: Path
    python_version: str
    implementation: str
    platform: str
    packages: tuple[str, ...]
    modules: tuple[str, ...]
    pins_sha256: str
    installed: dict[str, str]
    installed_sha256: str
    distributions: dict[str, list[str]] = field(repr=False)
    executable: str | None = None

    @property
    def python(self) -> str:
        """The path of the interpreter."""
        return self.executable or str(self.folder / "bin" / "python")

    def versions(self, modules: Iterable[str]) -> dict[str, str]:
        """The versions of the distributions that top-level modules belong to."""
        names = {name for module in modules for name in self.distributions.get(module, ())}
        return {name: self.installed[name] for name in sorted(names)}

    def freeze(self) -> str:
        """Pins of all installed distributions, as the text of a requirements file."""
        return "".join(f"{name}=={version}\n" for name, version in sorted(self.installed.items()))

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "folder": str(self.folder),
            "python": self.python_version,
            "implementation": self.implementation,
            "platform": self.platform,
            "packages": list(self.packages),
            "modules": list(self.modules),
            "pins_sha256": self.pins_sha256,
            "installed": self.installed,
            "installed_sha256": self.installed_sha256,
        }


# -- what is there ---------------------------------------------------------------------------------


def environments() -> list[BuiltEnvironment]:
    """The built environments, sorted by name."""
    names = _home() / "names"
    if not names.is_dir():
        return []
    return [built for path in sorted(names.glob("*.json")) if (built := _named(path.stem)) is not None]


def find(name: str) -> BuiltEnvironment:
    """The environment with a name. Raises InputError if it is not built."""
    built = _named(name) if _NAME.fullmatch(name) else None
    if built is None:
        names = ", ".join(environment.name for environment in environments()) or "none"
        raise InputError(
            f"unknown environment {name!r}. Built are: {names}. Build one with: deskcheck env build FILE"
        )
    if not os.access(built.python, os.X_OK):
        raise InputError(
            f"environment {name!r}: the Python {built.python_version} that it was built with is gone. "
            f"Build it again: deskcheck env build FILE"
        )
    return built


def remove(name: str) -> None:
    """Remove a name, and its environment unless another name points to it. Raises InputError."""
    environment = _named(name) if _NAME.fullmatch(name) else None
    if environment is None:
        find(name)
        return
    with _locked(environment.folder.name):
        (_home() / "names" / f"{name}.json").unlink(missing_ok=True)
        if not any(same.folder == environment.folder for same in environments()):
            (environment.folder / _DESCRIPTION).unlink(missing_ok=True)  # first: it no longer counts
            shutil.rmtree(environment.folder)


def _home() -> Path:
    return cache_folder() / "environments"


def _described(path: Path) -> Any:
    return read_json(read_file(path), str(path), "Delete it: the environment is then built again.")


def _named(name: str) -> BuiltEnvironment | None:
    try:
        pointer = _described(_home() / "names" / f"{name}.json")
    except FileNotFoundError:
        return None
    return _load(_home() / pointer["key"], name, tuple(pointer["modules"]))


def _load(folder: Path, name: str, modules: tuple[str, ...]) -> BuiltEnvironment | None:
    try:
        description = _described(folder / _DESCRIPTION)
    except FileNotFoundError:
        return None
    packages = tuple(description.pop("packages"))
    return BuiltEnvironment(name=name, folder=folder, modules=modules, packages=packages, **description)


# -- building --------------------------------------------------------------------------------------


def build(
    spec: EnvironmentSpec,
    *,
    wheels: str | Path | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> BuiltEnvironment:
    """Install an environment, or find an earlier build of it, and give it its name.

    A second builder of the same environment waits for the first.

    Args:
        wheels: a folder of wheels to install from, without a package index.
        note: takes the names of slow steps.

    Raises:
        InputError: the Python version is missing, or pip cannot find or install the packages.
        SandboxError: this machine cannot make an environment.
    """
    interpreter, facts = _interpreter(spec)
    pins = {
        "packages": spec.packages,
        "python": facts.version,
        "implementation": facts.implementation,
        "platform": facts.platform,
    }
    pins_sha256 = hashlib.sha256(json.dumps(pins, sort_keys=True).encode()).hexdigest()
    key = pins_sha256[:_KEY_CHARACTERS]
    folder = _home() / key
    with _locked(key):
        environment = _load(folder, spec.name, spec.modules)
        if environment is None or not os.access(environment.python, os.X_OK):
            if folder.exists():  # what a build that was stopped left, or one whose interpreter is gone
                (folder / _DESCRIPTION).unlink(missing_ok=True)
                shutil.rmtree(folder)
            note(f"building {spec.name} with Python {facts.version} in {folder}")
            try:
                _install(spec, interpreter, folder, wheels)
                described = _run([_python(folder), "-I", "-c", _DESCRIBE], "describe what was installed")
                description = {
                    "python_version": facts.version,
                    "implementation": facts.implementation,
                    "platform": facts.platform,
                    "packages": spec.packages,
                    "pins_sha256": pins_sha256,
                    **json.loads(described.stdout),
                }
                _write(folder / _DESCRIPTION, description)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            environment = _load(folder, spec.name, spec.modules)
            assert environment is not None
        (_home() / "names").mkdir(exist_ok=True)
        _write(_home() / "names" / f"{spec.name}.json", {"key": key, "modules": spec.modules})
    return environment


def _python(folder: Path) -> str:
    return str(folder / "bin" / "python")


def _install(spec: EnvironmentSpec, interpreter: str, folder: Path, wheels: str | Path | None) -> None:
    # Without a pip of its own: what is installed is what was asked for, and that takes 0.06 s instead of 4.
    _run([interpreter, "-I", "-m", "venv", "--without-pip", str(folder)], "make a virtual environment")
    if not spec.packages:
        return
    if importlib.util.find_spec("pip") is None:
        raise SandboxError(
            f"building an environment needs pip, which {sys.executable} does not have. Install it with: "
            f"{sys.executable} -m ensurepip (on Debian or Ubuntu: apt-get install python3-pip)"
        )
    pins = folder / "requirements.txt"
    pins.write_text("".join(f"{line}\n" for line in spec.packages))
    pip = [sys.executable, "-I", "-m", "pip", "--python", _python(folder)]
    command = [*pip, "--disable-pip-version-check", "--no-input", "--no-color", "install"]
    if wheels is not None:
        if not Path(wheels).is_dir():
            raise InputError(f"{wheels}: is not a folder of wheels.")
        command += ["--no-index", "--find-links", str(Path(wheels).resolve())]
    # Where the next build removes what a killed one left: pip itself does not.
    temporary = folder / "tmp"
    temporary.mkdir()
    variables = {"TMPDIR": str(temporary)}
    process = _run(
        [*command, "--requirement", str(pins)], "install the packages", fails=True, variables_added=variables
    )
    shutil.rmtree(temporary)
    if process.returncode:
        output = process.stdout + process.stderr
        errors = [line.removeprefix("ERROR: ") for line in output.splitlines() if line.startswith("ERROR: ")]
        # A line may name every version there is: its ends tell.
        short = [line if len(line) < 400 else f"{line[:200]} ... {line[-160:]}" for line in errors[:6]]
        reason = "\n  ".join(short) or _last(output)
        unreached = re.search(r"Retrying \(.*?after connection broken by '(.*)': /", output)
        if unreached:
            raise InputError(
                f"environment {spec.name!r}: pip reaches no package index ({unreached[1]}). Build it where "
                f"there is a network; or download the wheels there (pip download -d WHEELS PINS, with the "
                f"same Python), copy them here and add --wheels WHEELS.\n  {reason}"
            )
        raise InputError(f"environment {spec.name!r}: pip could not install it:\n  {reason}")


def _run(
    command: list[str], what: str, *, fails: bool = False, variables_added: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command of deskcheck to its end.

    Args:
        fails: whether the caller handles a failure.
        variables_added: environment variables in addition to those of this process.
    """
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        process = subprocess.run(
            command,
            env={**variables, **(variables_added or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_BUILD_S,
            check=False,
            umask=0o022,  # programs run as another user, and must be able to read it
        )
    except subprocess.TimeoutExpired as error:
        raise SandboxError(f"could not {what} within {_BUILD_S:g} s: {' '.join(command)}") from error
    if process.returncode and not fails:
        raise SandboxError(f"could not {what}: {_last(process.stderr)}")
    return process


def _last(text: str) -> str:
    return text.strip()[-600:] or "it printed nothing"


def _write(path: Path, value: Any) -> None:
    """Write JSON so that a reader sees either the complete file or none."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".incoming-", delete=False) as stream:
        try:
            json.dump(value, stream)
            stream.close()
            os.chmod(stream.name, 0o644)
            os.replace(stream.name, path)
        except BaseException:
            os.unlink(stream.name)
            raise


@contextmanager
def _locked(key: str) -> Iterator[None]:
    """Hold the lock of one environment. Any end of the process releases it."""
    locks = _home() / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with open(locks / key, "w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


# -- interpreters ----------------------------------------------------------------------------------

_FACTS = """
import platform, sys, sysconfig
print(platform.python_version(), sys.implementation.name, sysconfig.get_platform())
"""


class PythonFacts(NamedTuple):
    """The facts that an interpreter reports about itself."""

    version: str
    implementation: str
    platform: str

    @property
    def runs_our_code(self) -> bool:
        """Whether deskcheck's own code can run in its process."""
        return self.implementation == "cpython" and _numbers(self.version)[:2] >= _OLDEST


@cache
def facts_of(python: str) -> PythonFacts | None:
    """The facts of an interpreter; None if it cannot be run."""
    try:
        ran = subprocess.run(
            [python, "-I", "-c", _FACTS], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = ran.stdout.split()  # a shim of pyenv's for a version that is switched off says nothing here
    return PythonFacts(*words) if ran.returncode == 0 and len(words) == 3 else None


def named_interpreter(python: str) -> tuple[str, PythonFacts]:
    """The absolute path and the facts of the interpreter that --python names.

    Raises InputError if it is missing, is not CPython, or is too old for deskcheck's code in its process.
    """
    path = shutil.which(python)
    if path is None:
        raise InputError(f"--python {python}: is not a program that can be started.")
    path = os.path.abspath(path)
    facts = facts_of(path)
    if facts is None:
        raise InputError(f"--python {python}: is not a Python that can be started.")
    if not facts.runs_our_code:
        raise InputError(
            f"--python {python}: is {facts.implementation} {facts.version}. deskcheck's own code runs in the "
            f"programs' processes and needs CPython {_OLDEST[0]}.{_OLDEST[1]} or later."
        )
    return path, facts


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


# `importlib.metadata` makes an object of every row of every RECORD: 27 s of CPU time for 238 distributions,
# torch among them. Lines of text take 0.2 s.
_DESCRIBE = """
import hashlib, json, os, re, sys

OWN = ("INSTALLER,", "REQUESTED,", "RECORD,", "direct_url.json,")
installed, rows, by_module = {}, [], {}

def text_of(*path):
    try:
        with open(os.path.join(*path), encoding="utf-8", errors="replace") as stream:
            return stream.read().splitlines()
    except OSError:
        return []

for folder in sys.path:
    for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        found = re.fullmatch(r"(.+?)-([^-]+)(-py[^-]*)?[.](dist|egg)-info", entry)
        if found is None:
            continue
        name = re.sub("[-_.]+", "-", found[1]).lower()
        if name in installed:
            continue
        installed[name] = found[2]
        tops = set(text_of(folder, entry, "top_level.txt"))
        for line in text_of(folder, entry, "RECORD"):
            file = line.split(",", 1)[0].split("/")
            if ",sha256=" in line and file[0] != ".." and not line.split("/")[-1].startswith(OWN):
                rows.append(f"{name} {found[2]} {line}")
            if file[0] not in ("..", "__pycache__", entry):
                tops.add(file[0].split(".")[0])
        for module in tops:
            by_module.setdefault(module, []).append(name)
by_module = {module: sorted(names) for module, names in by_module.items()}
digest = hashlib.sha256("".join(f"{row}\\n" for row in sorted(rows)).encode()).hexdigest()
print(json.dumps({"installed": installed, "installed_sha256": digest, "distributions": by_module}))
"""


@cache
def of_interpreter(python: str) -> BuiltEnvironment:
    """An interpreter of the user (a path, or a name on PATH) with its packages, as an environment.

    Nothing is built, and the interpreter needs no package of deskcheck. Raises InputError if it is unusable.
    """
    path, facts = named_interpreter(python)
    described = _run([path, "-I", "-c", _DESCRIBE], "describe what is installed")
    return BuiltEnvironment(
        name=python,
        folder=Path(path).parent.parent,
        python_version=facts.version,
        implementation=facts.implementation,
        platform=facts.platform,
        packages=(),
        modules=(),
        pins_sha256="",
        executable=path,
        **json.loads(described.stdout),
    )


def _interpreter(spec: EnvironmentSpec) -> tuple[str, PythonFacts]:
    """The path and facts of a CPython of the requested version. Raises InputError."""
    this_python = facts_of(sys.executable)
    assert this_python is not None
    if spec.python is None:
        return sys.executable, this_python
    version = _numbers(spec.python)
    if version < _OLDEST:
        raise InputError(
            f"environment {spec.name!r}: Python {spec.python} is too old: deskcheck's own code runs in the "
            f"programs' processes and needs {_OLDEST[0]}.{_OLDEST[1]} or later. Many packages of that time "
            "also install there."
        )
    for candidate in _candidates(version):
        facts = facts_of(candidate)
        if facts and facts.implementation == "cpython" and f"{facts.version}.".startswith(f"{spec.python}."):
            return candidate, facts
    raise InputError(
        f"environment {spec.name!r}: there is no Python {spec.python} here: neither is this one "
        f"({this_python.version}), nor python{version[0]}.{version[1]} on PATH, nor one of pyenv's."
    )


def _candidates(version: tuple[int, ...]) -> Iterator[str]:
    yield sys.executable
    name = f"python{version[0]}.{version[1]}"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = shutil.which(name, path=folder) if folder else None
        if path is not None:
            yield path
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    # A name that ends in a letter (3.13.0t) is another build of that version.
    yield from sorted(map(str, pyenv.glob(f"{version[0]}.{version[1]}.*[0-9]/bin/python")), reverse=True)


# -- pins ------------------------------------------------------------------------------------------


def _requirements(text: str, file: str) -> Iterator[str]:
    """The lines of a requirements file with packages."""
    joined = re.sub(r"\\\n", " ", text)
    for line in joined.splitlines():
        line_text = re.sub(r"(^|\s)#.*", "", line).strip()
        if line_text.startswith("-"):
            raise InputError(
                f"{file}: {line_text}: options of pip are not read here; name each package with its version."
            )
        if line_text:
            yield line_text


def _canonical(packages: Iterable[str], owner: str) -> tuple[str, ...]:
    """The pins, sorted, in canonical spelling (PEP 503), without duplicates."""
    pins: dict[str, str] = {}
    for text in packages:
        pin = _PIN.fullmatch(text.strip())
        if pin is None:
            raise InputError(
                f"{owner}: {text!r} is not pinned: write NAME==VERSION, a version in full. (pip freeze lists "
                "the installed versions.)"
            )
        name = re.sub(r"[-_.]+", "-", pin["name"]).lower()
        extras = ",".join(
            sorted(part.strip() for part in (pin["extras"] or "[]")[1:-1].split(",") if part.strip())
        )
        marker = f" {' '.join(pin['marker'].split())}" if pin["marker"] else ""
        hashes = "".join(f" {digest}" for digest in sorted(pin["hashes"].split()))
        line = f"{name}[{extras}]" if extras else name
        line += f"=={pin['version']}{marker}{hashes}"
        if pins.setdefault(f"{name}{marker}", line) != line:
            raise InputError(f"{owner}: {name} is pinned twice: {pins[f'{name}{marker}']} and {line}.")
    return tuple(sorted(pins.values()))
