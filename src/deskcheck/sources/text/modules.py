"""Source files of importable modules, and the origin of these files. No module is imported.

`importlib.util.find_spec("a.b")` imports ``a``, so `find_source` searches the folders of each package itself.
"""

import difflib
import importlib.metadata
import os
import platform
import re
import sysconfig
from dataclasses import dataclass, field
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from sys import stdlib_module_names
from typing import Any

from deskcheck.recording import InputError
from deskcheck.sources.text.python import absolute, modified

_IDENTIFIERS = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The origin of a source file: these fields of the `Program` objects that are made from it."""

    source: str
    """Label for display, such as ``CPython 3.12.1: Lib/heapq.py``, or the path of the user's file."""
    licence: str | None = None
    train_ok: bool = False
    """Whether the licence is known to permit training."""
    date: str | None = None
    """Day of the last change, ``2026-01-31``; None for installed and standard modules."""
    path: str | None = None
    """Folder for the import path; None for installed and standard modules, which need none."""
    extra: dict[str, Any] = field(default_factory=dict)


def is_module_name(text: str) -> bool:
    return _IDENTIFIERS.fullmatch(text) is not None


def find_source(module: str, near: list[str], path: list[str] | None = None) -> Path:
    """Source file of an importable module: ``json.decoder -> .../lib/python3.12/json/decoder.py``.

    near: names that the error may suggest, besides standard modules. path: import path, or else `sys.path`.
    Raises InputError if the module does not exist, or has no Python source.
    """
    parts = module.split(".")
    locations: list[str] | None = None
    origin: str | None = None
    for depth in range(1, len(parts) + 1):
        name = ".".join(parts[:depth])
        # `find_spec` would not name the file of a frozen module such as `os`; a search of the path does.
        spec = PathFinder.find_spec(name, path if locations is None else locations)
        if spec is None and depth == 1:
            spec = _spec_by_other_finders(name)
        if spec is None:
            raise InputError(_missing(module, name, locations, near))
        origin = spec.origin
        locations = list(spec.submodule_search_locations or [])
        if depth < len(parts) and not locations:
            raise InputError(f"{module}: {name} is a module, not a package: it has no {parts[depth]}.")
    if origin is None or not origin.endswith(".py"):
        kind = "a folder without __init__.py" if locations else f"compiled ({origin})"
        raise InputError(f"{module}: is {kind}: it has no Python source to read.")
    return Path(origin)


def _spec_by_other_finders(name: str) -> Any:
    """The spec of a built-in module, or of one that is installed in place by a finder of its installer."""
    try:
        return find_spec(name)
    except (ImportError, ValueError):  # ValueError: a module like __main__, which has no spec
        return None


def _missing(module: str, name: str, locations: list[str] | None, near: list[str]) -> str:
    if locations is None:
        names = {*stdlib_module_names, *near}
    else:  # inside a package that was found
        package = name.rpartition(".")[0]
        entries = (entry for folder in locations if Path(folder).is_dir() for entry in Path(folder).iterdir())
        names = {f"{package}.{entry.stem}" for entry in entries if entry.suffix == ".py" or entry.is_dir()}
    close = difflib.get_close_matches(name, sorted(names), n=3, cutoff=0.7)
    hint = f"Did you mean {' or '.join(close)}?" if close else "Is it installed where deskcheck is?"
    return f"{module}: no module, file or folder has the name {name}. {hint}"


def import_name(file: Path) -> tuple[str, Path]:
    """(module name, folder for the import path): `src/a/b.py -> a.b, src` if `a` has an ``__init__.py``."""
    file = absolute(file)
    parts = [] if file.stem == "__init__" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), folder


def import_name_in(folder: Path, file: Path) -> tuple[str, Path, str]:
    """The results of `import_name`, and a name that no other file in the folder has, for ids of programs.

    ``src/a/b.py`` in ``src`` has the name ``a.b`` if ``a`` is a package, and otherwise ``a/b``.
    """
    module, root = import_name(file)
    subfolder = os.path.relpath(root, folder.resolve())
    return module, root, module if subfolder.startswith(".") else f"{Path(subfolder).as_posix()}/{module}"


def origin_of_file(file: Path, display_path: str, root: Path) -> Origin:
    """The origin of the user's own file. Its licence is not known, so models may not be trained on it."""
    return Origin(
        source=display_path, date=modified(file), path=str(root), extra={"file": str(absolute(file))}
    )


def origin_of_module(module: str, file: Path) -> Origin:
    """The origin of a module: the standard library, an installed distribution, or the user."""
    resolved = file.resolve()
    if {"site-packages", "dist-packages"} & set(resolved.parts):
        return _origin_of_installed(module, resolved)
    library = Path(sysconfig.get_path("stdlib")).resolve()
    if resolved.is_relative_to(library):
        version = platform.python_version()
        library_path = resolved.relative_to(library).as_posix()
        return Origin(
            source=f"{platform.python_implementation()} {version}: Lib/{library_path}",
            licence="PSF-2.0",
            train_ok=True,
            extra={"version": version},
        )
    depth = module.count(".") + (resolved.name == "__init__.py")
    return origin_of_file(resolved, str(file), resolved.parents[depth])


def _origin_of_installed(module: str, file: Path) -> Origin:
    for name in importlib.metadata.packages_distributions().get(module.partition(".")[0], []):
        distribution = importlib.metadata.distribution(name)
        for entry in distribution.files or []:
            if Path(str(entry.locate())).resolve() == file:
                licence, permissive = stated_licence(distribution.metadata)
                return Origin(
                    source=f"{name} {distribution.version}: {entry.as_posix()}",
                    licence=licence,
                    train_ok=permissive,
                    extra={"distribution": name, "version": distribution.version},
                )
    return Origin(source=str(file))


_NOISE = {"the", "license", "licence", "version", "v", "software", "new", "modified", "revised", "simplified"}
_PERMISSIVE = [
    set(words.split())
    for words in (
        *("mit", "mit 0", "bsd", "bsd 2 clause", "bsd 3 clause", "0 bsd", "apache", "apache 2", "apache 2.0"),
        *("psf", "psf 2.0", "psfl", "python foundation", "python 2.0", "python 2.0.1", "isc", "isc iscl"),
    )
]


def stated_licence(metadata: importlib.metadata.PackageMetadata) -> tuple[str | None, bool]:
    """(licence in the words of the distribution, whether it is known to be permissive): ``"MIT", True``.

    The licence is the first of: ``License-Expression`` (PEP 639); ``License``, if it is a name and not a
    text; the classifiers. It is permissive if all its parts are MIT, BSD, Apache, PSF or ISC.
    """
    expression = _first(metadata, "License-Expression")
    if expression:
        return expression, _permissive(expression)
    name = _first(metadata, "License")
    if name and name.lower() != "unknown" and "\n" not in name and len(name) <= 80:
        return name, _permissive(name)
    classifiers = [line for line in metadata.get_all("Classifier") or [] if line.startswith("License ::")]
    names = " AND ".join(line.rpartition("::")[2].strip() for line in classifiers)
    return (names, _permissive(names)) if names else (None, False)


def _first(metadata: importlib.metadata.PackageMetadata, name: str) -> str:
    return next(iter(metadata.get_all(name) or []), "").strip()


def _permissive(licences: str) -> bool:
    return all(
        set(re.findall(r"[a-z]+|\d+(?:\.\d+)*", licence.lower())) - _NOISE in _PERMISSIVE
        for licence in re.split(r"\s+(?:AND|OR)\s+", licences)
    )
