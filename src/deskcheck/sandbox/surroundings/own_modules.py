"""The modules in a folder or archive, which are recorded with the program that is started there."""

import os
import zipfile
from pathlib import Path

_MANY_FILES = 2000
_OTHERS = ("node_modules", "site-packages", "dist-packages", "__pycache__")


def own_modules(path: str | Path) -> tuple[dict[str, str], list[str]]:
    """The modules of an archive, or in a folder and below: file -> name in events, and the modules' names.

    Hidden folders and environments are left out. If a folder has very many modules, all are left out.
    """
    if os.path.isfile(path):
        try:
            with zipfile.ZipFile(path) as archive:
                names = [name for name in archive.namelist() if name.endswith(".py")]
        except (OSError, zipfile.BadZipFile):
            names = []
        return {f"{path}/{name}": name for name in names}, [*map(_module_name, names)]
    scope: dict[str, str] = {}
    modules: list[str] = []
    for subfolder, folders, files in os.walk(path):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and name not in _OTHERS
            and not os.path.exists(os.path.join(subfolder, name, "pyvenv.cfg"))
        ]
        for name in files:
            if name.endswith(".py"):
                file = os.path.join(subfolder, name)
                label = os.path.relpath(file, path)
                scope[file] = label
                modules.append(_module_name(label))
        if len(scope) > _MANY_FILES:
            return {}, []
    return scope, modules


def _module_name(label: str) -> str:
    return label.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def text_of(file: str) -> str:
    """Text of a module's file, which may be in an archive; empty if it cannot be read."""
    try:
        return Path(file).read_text("utf-8", "replace")
    except NotADirectoryError:
        archive = next((str(folder) for folder in Path(file).parents if folder.is_file()), "")
        try:
            with zipfile.ZipFile(archive) as opened:
                return opened.read(os.path.relpath(file, archive)).decode("utf-8", "replace")
        except (OSError, KeyError, zipfile.BadZipFile):
            return ""
    except OSError:
        return ""
