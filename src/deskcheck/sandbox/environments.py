"""Environments: named sets of pinned packages, each built once with `venv` and `pip`, then used offline.

    spec = EnvironmentSpec.read("networkx.toml")     # or a requirements.txt with pins
    environment = build(spec)                        # installs; or finds what is built already
    Sandbox(environment=environment.name)            # programs run with that interpreter and its packages

An environment lies in a folder of its own, under the SHA-256 over its pins, Python version and platform. It
counts from the moment its description stands in it: a build that was stopped is never used. A name points
to one.

Building is what ``pip install`` is: it runs the packages' own build code, outside of the sandbox, as the
user. What it does not do: it does not pin what the pinned packages need themselves. What was installed for
them is told by `BuiltEnvironment.installed`, and `freeze` writes it as pins. setuptools and pip are there
only if asked for.
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
from typing import Any

from deskcheck.errors import InputError, SandboxError
from deskcheck.files import cache_folder, read_file, read_json, read_text

_OLDEST = (3, 11)
"""deskcheck's own code runs in the programs' processes."""
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
"""Of the SHA-256, in a folder's name: 96 bits. The first line of a script has room for some 120 letters."""
_BUILD_S = 3600.0
_FORM = (
    'name = "graphs"\npython = "3.12"\npackages = ["networkx==3.3", "numpy==1.26.4"]\nmodules = ["networkx"]'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentSpec:
    """What an environment is to be: pinned packages (PEP 508, each with ``==``) for a version of Python.

    python: ``3.12`` or ``3.12.1``; None is the version of this interpreter. modules: imported once, before
    any program runs; a program that imports them pays nothing.

    Raises InputError where a package is not pinned, or pinned twice.
    """

    name: str
    python: str | None = None
    packages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

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
        """From a TOML file (``name``, ``python``, ``packages``, ``modules``), or a requirements file.

        Without a name of its own, the file's stem is the name.

        Raises InputError: the file cannot be used; says where and why.
        """
        path = Path(file)
        try:
            text = read_text(path)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read: {error}") from error
        if path.suffix != ".toml":
            return cls(name=path.stem, packages=tuple(_requirements(text, str(path))))
        try:
            given = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{path}: is not TOML: {error}") from error
        kinds: dict[str, type] = {"name": str, "python": str, "packages": list, "modules": list}
        for key, value in given.items():
            if key not in kinds or type(value) is not kinds[key]:
                raise InputError(
                    f"{path}: {key!r} is not known here, or not of its kind. An environment is\n{_FORM}"
                )
        lists = {key: tuple(given[key]) for key in ("packages", "modules") if key in given}
        if not all(isinstance(item, str) for items in lists.values() for item in items):
            raise InputError(f"{path}: packages and modules are lists of strings.")
        return cls(name=given.get("name", path.stem), python=given.get("python"), **lists)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltEnvironment:
    """A built environment. `name` is what it was asked for by.

    executable: the interpreter, where it is not the one in `folder`; then nothing was built, and there are no
    pins (`of_interpreter`). pins_sha256: over the pins, the Python version and the platform: what was asked
    for. installed: every distribution that is there, with its version. installed_sha256: over the files that
    these brought, as their RECORDs tell (but for scripts and pip's own notes): two of the same digest hold
    the same code.
    distributions: by top-level module, whose it is.
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
        """Path of its interpreter."""
        return self.executable or str(self.folder / "bin" / "python")

    def versions(self, modules: Iterable[str]) -> dict[str, str]:
        """Versions of the distributions that top-level modules belong to."""
        names = {name for module in modules for name in self.distributions.get(module, ())}
        return {name: self.installed[name] for name in sorted(names)}

    def freeze(self) -> str:
        """Pins of all that is installed, in the form of a requirements file."""
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
    """The environments that are built, by name."""
    names = _home() / "names"
    if not names.is_dir():
        return []
    return [found for path in sorted(names.glob("*.json")) if (found := _named(path.stem)) is not None]


def find(name: str) -> BuiltEnvironment:
    """The environment of a name. Raises InputError: it is not built."""
    found = _named(name) if _NAME.fullmatch(name) else None
    if found is None:
        known = ", ".join(environment.name for environment in environments()) or "none"
        raise InputError(
            f"no environment is called {name!r}; built are: {known}. Build one with: deskcheck env build FILE"
        )
    if not os.access(found.python, os.X_OK):
        raise InputError(
            f"environment {name!r}: the Python {found.python_version} that it was built with is gone. "
            f"Build it again: deskcheck env build FILE"
        )
    return found


def remove(name: str) -> None:
    """Forget a name, and remove the environment that no other name points to. Raises InputError."""
    found = _named(name) if _NAME.fullmatch(name) else None
    if found is None:
        find(name)
        return
    with _locked(found.folder.name):
        (_home() / "names" / f"{name}.json").unlink(missing_ok=True)
        if not any(other.folder == found.folder for other in environments()):
            (found.folder / _DESCRIPTION).unlink(missing_ok=True)  # first: it no longer counts
            shutil.rmtree(found.folder)


def _home() -> Path:
    return cache_folder() / "environments"


def _described(path: Path) -> Any:
    return read_json(read_file(path), str(path), "Delete it: the environment is then built anew.")


def _named(name: str) -> BuiltEnvironment | None:
    try:
        pointer = _described(_home() / "names" / f"{name}.json")
    except FileNotFoundError:
        return None
    return _load(_home() / pointer["key"], name, tuple(pointer["modules"]))


def _load(folder: Path, name: str, modules: tuple[str, ...]) -> BuiltEnvironment | None:
    try:
        known = _described(folder / _DESCRIPTION)
    except FileNotFoundError:
        return None
    packages = tuple(known.pop("packages"))
    return BuiltEnvironment(name=name, folder=folder, modules=modules, packages=packages, **known)


# -- building --------------------------------------------------------------------------------------


def build(
    spec: EnvironmentSpec,
    *,
    wheels: str | Path | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> BuiltEnvironment:
    """Install an environment, or find it where it was built before; then give it its name.

    wheels: a folder of wheels to install from, with no package index. note: is told what takes long. Whoever
    builds the same at the same time waits, and finds it built.

    Raises:
        InputError: no such Python is here, or pip cannot find or install what is asked for.
        SandboxError: an environment cannot be made here at all.
    """
    interpreter = _interpreter(spec)
    version, implementation, platform = _facts(interpreter)
    asked = {
        "packages": spec.packages,
        "python": version,
        "implementation": implementation,
        "platform": platform,
    }
    pins_sha256 = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    key = pins_sha256[:_KEY_CHARACTERS]
    folder = _home() / key
    with _locked(key):
        found = _load(folder, spec.name, spec.modules)
        if found is None or not os.access(found.python, os.X_OK):
            if folder.exists():  # what a build that was stopped left, or one whose interpreter is gone
                (folder / _DESCRIPTION).unlink(missing_ok=True)
                shutil.rmtree(folder)
            note(f"building {spec.name} with Python {version} in {folder}")
            try:
                _install(spec, interpreter, folder, wheels)
                described = _run([_python(folder), "-I", "-c", _DESCRIBE], "describe what was installed")
                known = {
                    "python_version": version,
                    "implementation": implementation,
                    "platform": platform,
                    "packages": spec.packages,
                    "pins_sha256": pins_sha256,
                    **json.loads(described.stdout),
                }
                _write(folder / _DESCRIPTION, known)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            found = _load(folder, spec.name, spec.modules)
            assert found is not None
        (_home() / "names").mkdir(exist_ok=True)
        _write(_home() / "names" / f"{spec.name}.json", {"key": key, "modules": spec.modules})
    return found


def _python(folder: Path) -> str:
    return str(folder / "bin" / "python")


def _install(spec: EnvironmentSpec, interpreter: str, folder: Path, wheels: str | Path | None) -> None:
    # Without a pip of its own: what is installed is what was asked for, and that takes 0.06 s instead of 4.
    _run([interpreter, "-I", "-m", "venv", "--without-pip", str(folder)], "make a virtual environment")
    if not spec.packages:
        return
    if importlib.util.find_spec("pip") is None:
        raise SandboxError(
            f"building an environment needs pip, which {sys.executable} has not. Install it with: "
            f"{sys.executable} -m ensurepip (on Debian or Ubuntu: apt-get install python3-pip)"
        )
    pins = folder / "requirements.txt"
    pins.write_text("".join(f"{line}\n" for line in spec.packages))
    pip = [sys.executable, "-I", "-m", "pip", "--python", _python(folder)]
    command = [*pip, "--disable-pip-version-check", "--no-input", "--no-color", "install"]
    if wheels is not None:
        if not Path(wheels).is_dir():
            raise InputError(f"{wheels}: is no folder of wheels.")
        command += ["--no-index", "--find-links", str(Path(wheels).resolve())]
    # Where the next build removes what a killed one left: pip itself does not.
    temporary = folder / "tmp"
    temporary.mkdir()
    told = {"TMPDIR": str(temporary)}
    done = _run([*command, "--requirement", str(pins)], "install the packages", fails=True, told=told)
    shutil.rmtree(temporary)
    if done.returncode:
        said = done.stdout + done.stderr
        errors = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")]
        # A line may name every version there is: its ends tell.
        short = [line if len(line) < 400 else f"{line[:200]} ... {line[-160:]}" for line in errors[:6]]
        why = "\n  ".join(short) or _last(said)
        unreached = re.search(r"Retrying \(.*?after connection broken by '(.*)': /", said)
        if unreached:
            raise InputError(
                f"environment {spec.name!r}: pip reaches no package index ({unreached[1]}). Build it where "
                "there is a network; or get the wheels there (pip download -d WHEELS PINS, with the same "
                f"Python), bring them here and add --wheels WHEELS.\n  {why}"
            )
        raise InputError(f"environment {spec.name!r}: pip could not install it:\n  {why}")


_DESCRIBE = """
import hashlib, json, re
from importlib import metadata

OWN = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json")
installed, rows = {}, []
for each in metadata.distributions():
    name = re.sub("[-_.]+", "-", each.metadata["Name"]).lower()
    installed[name] = each.version
    for file in each.files or ():
        if file.hash is not None and ".." not in file.parts and file.name not in OWN:
            rows.append(f"{name} {each.version} {file} {file.hash.mode} {file.hash.value}")
by_module = {
    module: sorted({re.sub("[-_.]+", "-", name).lower() for name in names})
    for module, names in metadata.packages_distributions().items()
}
digest = hashlib.sha256("".join(f"{row}\\n" for row in sorted(rows)).encode()).hexdigest()
print(json.dumps({"installed": installed, "installed_sha256": digest, "distributions": by_module}))
"""


def _run(
    command: list[str], what: str, *, fails: bool = False, told: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command of ours to its end.

    fails: whether the caller looks after a failure. told: variables of its environment beside our own.
    """
    known = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        done = subprocess.run(
            command,
            env={**known, **(told or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_BUILD_S,
            check=False,
            umask=0o022,  # programs run as another user, and must be able to read it
        )
    except subprocess.TimeoutExpired as error:
        raise SandboxError(f"could not {what}: not done after {_BUILD_S:g} s: {' '.join(command)}") from error
    if done.returncode and not fails:
        raise SandboxError(f"could not {what}: {_last(done.stderr)}")
    return done


def _last(text: str) -> str:
    return text.strip()[-600:] or "it said nothing"


def _write(path: Path, value: Any) -> None:
    """Write JSON so that a reader sees all of it or nothing."""
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
    """Alone with one environment. The lock goes with its holder, however that ends."""
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


@cache
def _facts(interpreter: str) -> tuple[str, str, str]:
    """Version, implementation and platform of an interpreter; empty where it cannot be run."""
    try:
        ran = subprocess.run(
            [interpreter, "-I", "-c", _FACTS], capture_output=True, text=True, timeout=60, check=False
        )
    except OSError:
        return "", "", ""
    said = ran.stdout.split()  # a shim of pyenv's for a version that is switched off says nothing here
    return (said[0], said[1], said[2]) if ran.returncode == 0 and len(said) == 3 else ("", "", "")


# `_DESCRIBE` reads every row of every RECORD as an object, which took 27 s of CPU time for 238 distributions,
# torch among them. This reads lines of text, in 0.2 s. Its digest is another than that of `_DESCRIBE`.
_DESCRIBE_QUICKLY = """
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
    """An interpreter of the user's own, with what is installed for it, as an environment. Nothing is built,
    and none of our packages need be there.

    python: its path, or its name on PATH.

    Raises:
        InputError: there is none; it is no CPython, or too old for our code, which runs in its process.
    """
    path = shutil.which(python)
    if path is None:
        raise InputError(f"--python {python}: is no program that can be started.")
    path = os.path.abspath(path)
    version, implementation, platform = _facts(path)
    if not version:
        raise InputError(f"--python {python}: is no Python that can be started.")
    if implementation != "cpython" or tuple(int(part) for part in version.split(".")[:2]) < _OLDEST:
        raise InputError(
            f"--python {python}: is {implementation} {version}. deskcheck's own code runs in the programs' "
            f"processes and needs CPython {_OLDEST[0]}.{_OLDEST[1]} or later."
        )
    described = _run([path, "-I", "-c", _DESCRIBE_QUICKLY], "describe what is installed")
    return BuiltEnvironment(
        name=python,
        folder=Path(path).parent.parent,
        python_version=version,
        implementation=implementation,
        platform=platform,
        packages=(),
        modules=(),
        pins_sha256="",
        executable=path,
        **json.loads(described.stdout),
    )


def _interpreter(spec: EnvironmentSpec) -> str:
    """Path of a CPython of the version that is asked for. Raises InputError."""
    if spec.python is None:
        return sys.executable
    wanted = tuple(int(part) for part in spec.python.split("."))
    if wanted < _OLDEST:
        raise InputError(
            f"environment {spec.name!r}: Python {spec.python} is too old: deskcheck's own code runs in the "
            f"programs' processes and needs {_OLDEST[0]}.{_OLDEST[1]} or later. "
            "Many packages of that time install there too."
        )
    for candidate in _candidates(wanted):
        version, implementation, _ = _facts(candidate)
        if implementation == "cpython" and f"{version}.".startswith(f"{spec.python}."):
            return candidate
    raise InputError(
        f"environment {spec.name!r}: there is no Python {spec.python} here: neither is this one "
        f"({_facts(sys.executable)[0]}), nor python{wanted[0]}.{wanted[1]} on PATH, nor one of pyenv's."
    )


def _candidates(wanted: tuple[int, ...]) -> Iterator[str]:
    yield sys.executable
    name = f"python{wanted[0]}.{wanted[1]}"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        found = shutil.which(name, path=folder) if folder else None
        if found is not None:
            yield found
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    # A name that ends in a letter (3.13.0t) is another build of that version.
    yield from sorted(map(str, pyenv.glob(f"{wanted[0]}.{wanted[1]}.*[0-9]/bin/python")), reverse=True)


# -- pins ------------------------------------------------------------------------------------------


def _requirements(text: str, place: str) -> Iterator[str]:
    """The lines of a requirements file that name packages."""
    joined = re.sub(r"\\\n", " ", text)
    for line in joined.splitlines():
        kept = re.sub(r"(^|\s)#.*", "", line).strip()
        if kept.startswith("-"):
            raise InputError(
                f"{place}: {kept}: options of pip are not read here; name each package with its version."
            )
        if kept:
            yield kept


def _canonical(packages: Iterable[str], place: str) -> tuple[str, ...]:
    """The pins, sorted, each in one spelling (PEP 503), none twice."""
    pins: dict[str, str] = {}
    for text in packages:
        pin = _PIN.fullmatch(text.strip())
        if pin is None:
            raise InputError(
                f"{place}: {text!r} is not pinned: write NAME==VERSION, a version in full. "
                "(What is installed now: pip freeze.)"
            )
        name = re.sub(r"[-_.]+", "-", pin["name"]).lower()
        extras = ",".join(
            sorted(part.strip() for part in (pin["extras"] or "[]")[1:-1].split(",") if part.strip())
        )
        marker = f" {' '.join(pin['marker'].split())}" if pin["marker"] else ""
        hashes = "".join(f" {each}" for each in sorted(pin["hashes"].split()))
        line = f"{name}[{extras}]" if extras else name
        line += f"=={pin['version']}{marker}{hashes}"
        if pins.setdefault(f"{name}{marker}", line) != line:
            raise InputError(f"{place}: {name} is pinned twice: {pins[f'{name}{marker}']} and {line}.")
    return tuple(sorted(pins.values()))
