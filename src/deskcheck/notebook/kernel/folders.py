"""The files that the cells of a notebook find: a copy of its folder, and links to the files around it.

Files of up to a total size are copied. Larger files, and those between the folder and its root, are links
that the sandbox lets cells read. Without a sandbox a cell could write through a link, so these files are
copied too, up to the same size. Runs in the kernel's process.
"""

import collections
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from deskcheck.errors import InputError
from deskcheck.sandbox.linux.cgroup import PREFIX
from deskcheck.sandbox.linux.root import SCRATCH

SOCKETS = ".kernel"
"""Folder of a kernel's sockets, in its program's folder."""
HOME = "notebook"
"""Copy of the notebook's folder, beside it, in which the cells run."""
OF_INSTALLED = "deskcheck-kernel-"
"""Prefix of the folder that has the copy for an installed kernel."""
CHANNELS = ("shell", "iopub", "stdin", "control", "hb")
"""Jupyter's names of the sockets, in the order of their numbers."""

COPY_BYTES = 64 << 20
"""Maximum total size of the copied files."""
_ENTRIES = 10_000
"""Maximum number of files and folders in a copy of a folder."""
_NOT_COPIED = {".git", "__pycache__", ".ipynb_checkpoints", ".venv", "node_modules"}


def interpreter_on_path() -> None:
    """Let commands of cells (``!python``, ``!pip``) find this interpreter and the programs in its folder."""
    first = (os.path.dirname(sys.executable), "/usr/local/bin")
    os.environ["PATH"] = os.pathsep.join((*first, os.environ.get("PATH", os.defpath)))


def home_of_ipython() -> None:
    """Make a file that IPython would copy with its mode, which is denied if programs run as the user."""
    readme = Path(".ipython", "profile_default", "startup", "README")
    readme.parent.mkdir(parents=True)
    readme.touch()


def import_as_in_jupyter(program_folder: str) -> None:
    """Let cells import modules of the current folder, as in Jupyter: after the standard library and before
    installed packages. Modules of the program's folder cannot be imported. Since version 9.7, IPython leaves
    the current folder out under ``python -P``, which deskcheck uses."""
    sys.path[:] = [path for path in sys.path if path != program_folder]
    if "" not in sys.path:
        installed = ("site-packages", "dist-packages")
        places = (index for index, path in enumerate(sys.path) if os.path.basename(path) in installed)
        sys.path.insert(next(places, len(sys.path)), "")


def copy_folder(folder: str, destination: str, most_bytes: int) -> int:
    """Copy a folder. Returns how many of `most_bytes` are left.

    Instead of files beyond `most_bytes` together, of folders beyond the first `_ENTRIES` entries (the nearest
    first) and of other file systems, the copy has links to them.
    """
    os.makedirs(destination, exist_ok=True)
    bytes_left, entries, device = most_bytes, _ENTRIES, os.stat(folder).st_dev
    todo = collections.deque([(folder, destination)])  # the nearest first
    while todo:
        source, target = todo.popleft()
        try:
            inside = sorted(os.scandir(source), key=lambda entry: entry.name)
            entries -= len(inside)
            if source != folder and (entries < 0 or os.stat(source).st_dev != device):
                os.symlink(source, target)
                continue
            os.makedirs(target, exist_ok=True)
        except OSError:  # not to be read from here: not to be read by a cell either
            continue
        for entry in inside:
            if not entry.is_dir(follow_symlinks=False):
                bytes_left = _copy(entry.path, os.path.join(target, entry.name), bytes_left)
            elif entry.name not in _NOT_COPIED:
                todo.append((entry.path, os.path.join(target, entry.name)))
    return bytes_left


def _copy(path: str, target: str, bytes_left: int) -> int:
    try:
        size = os.stat(path).st_size
        if size <= bytes_left and os.path.isfile(path):
            shutil.copyfile(path, target)
            return bytes_left - size
        os.symlink(path, target)
    except OSError:  # not to be read from here: not to be read by a cell either
        pass
    return bytes_left


def copy_below_root(folder: str | None, root: str | None, destination: str, *, linked: bool = False) -> None:
    """Make `destination` a picture of the root: a copy of the folder at its path, and links to the files
    around it, or copies without `linked`. Without a folder it is empty; without a root it is the folder."""
    os.makedirs(destination, exist_ok=True)
    if folder is None:
        return
    target, source = destination, root or folder
    way = [part for part in os.path.relpath(folder, source).split(os.sep) if part != os.curdir]
    bytes_left = copy_folder(folder, os.path.join(destination, *way), COPY_BYTES)
    for part in way:
        for name in sorted(os.listdir(source)):
            if name == part or name in _NOT_COPIED:
                continue
            path, copy = os.path.join(source, name), os.path.join(target, name)
            if linked:
                os.symlink(path, copy)
            elif os.path.isdir(path):
                bytes_left = copy_folder(path, copy, bytes_left)
            else:
                bytes_left = _copy(path, copy, bytes_left)
        source, target = os.path.join(source, part), os.path.join(target, part)


def as_outside(text: str, root: str) -> str:
    """A cell's text with paths of the copy as paths of `root`, and the program's folder as the user's
    home."""
    home = str(Path.home())
    return _inside(rf"(/{HOME}(?![\w-]))?(?![\w-])").sub(lambda match: root if match[1] else home, text)


def names_what_is_at_home(text: str) -> bool:
    """Whether a text has a path in the program's folder that exists in the user's home."""
    paths = {path for path in _inside(r"/([^\s'\"]+)").findall(text) if path.partition("/")[0] != HOME}
    return any(os.path.exists(os.path.join(Path.home(), path)) for path in paths)


def _inside(ends: str) -> re.Pattern[str]:
    """Matches paths that begin with the folder of a program, or of an installed kernel's copy."""
    above = re.escape(os.path.realpath(tempfile.gettempdir()))
    folders = rf"(?:{SCRATCH}|{above}/{PREFIX}\w+)/program|{above}/{OF_INSTALLED}\w+"
    return re.compile(rf"(?<![\w/])(?:{folders}){ends}")


def time_zone() -> str:
    """The machine's time zone by its name (``Europe/Berlin``), from `TZ`, ``/etc/localtime`` or Debian's
    ``/etc/timezone``, else UTC."""
    named = os.environ.get("TZ", "").removeprefix(":")
    if named and not named.startswith("/"):
        return named
    _, _, name = os.path.realpath(named or "/etc/localtime").partition("/zoneinfo/")
    if name:
        return name
    try:
        return Path("/etc/timezone").read_text(encoding="utf-8").strip() or "UTC"
    except OSError:
        return "UTC"


def root_of(folder: Path, root: Path | None = None) -> Path:
    """The root of a folder: `root`, else the top of the git repository around the folder, else the folder.

    A repository at the user's home or above it does not count. Raises InputError: the folder is not below
    `root`.
    """
    folder = folder.resolve()
    if root is not None:
        if not root.is_dir():
            raise InputError(f"--root {root}: no such folder.")
        if not folder.is_relative_to(root.resolve()):
            raise InputError(f"--root {root}: does not contain {folder}. Name a folder above it.")
        return root.resolve()
    home = Path.home().resolve()
    for parent in (folder, *folder.parents):
        if parent == home or parent in home.parents:
            break
        if (parent / ".git").exists():
            return parent
    return folder
