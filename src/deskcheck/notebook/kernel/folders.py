"""What the cells of a notebook find around them: a copy of its folder, and links to what lies around that.

The folder is copied as far as it is small; of larger files, and of what lies between the folder and its root,
there are links, which the sandbox lets be read alone. Where nothing confines a kernel, that is copied too, as
far as it is small: a link could be written through. Runs in the kernel's process."""

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
"""Folder that the cells run in, beside it: a copy of the notebook's."""
OF_INSTALLED = "deskcheck-kernel-"
"""How the folder begins that an installed kernel's copy lies in, as `HOME`."""
CHANNELS = ("shell", "iopub", "stdin", "control", "hb")
"""Jupyter's names of the sockets, in the order of their numbers."""

_ENTRIES = 10_000
"""Files and folders that a copy of a folder has at most, below those that are linked to."""
_NOT_COPIED = {".git", "__pycache__", ".ipynb_checkpoints", ".venv", "node_modules"}


def interpreter_on_path() -> None:
    """Commands of cells (``!python``, ``!pip``) find this interpreter and what is installed beside it, as
    where its environment is activated."""
    first = (os.path.dirname(sys.executable), "/usr/local/bin")
    os.environ["PATH"] = os.pathsep.join((*first, os.environ.get("PATH", os.defpath)))


def home_of_ipython() -> None:
    """Make a file that IPython would copy with its mode, which is denied where programs run as the user."""
    readme = Path(".ipython", "profile_default", "startup", "README")
    readme.parent.mkdir(parents=True)
    readme.touch()


def import_as_in_jupyter(program_folder: str) -> None:
    """Let cells import what they import in Jupyter: modules of the current folder, after the standard library
    and before installed packages, and none of the program's folder.

    IPython puts the current folder there itself, but from 9.7 on not under ``python -P``, with which
    everything runs here.
    """
    sys.path[:] = [path for path in sys.path if path != program_folder]
    if "" not in sys.path:
        installed = ("site-packages", "dist-packages")
        places = (place for place, path in enumerate(sys.path) if os.path.basename(path) in installed)
        sys.path.insert(next(places, len(sys.path)), "")


def copy_folder(folder: str, to: str, most_bytes: int) -> int:
    """Copy a folder. Links stand for files that would exceed `most_bytes` in all, for folders beyond the
    first `_ENTRIES` entries, the nearest counted first, and for other file systems. Returns how many of the
    bytes are left."""
    os.makedirs(to, exist_ok=True)
    left, entries, device = most_bytes, _ENTRIES, os.stat(folder).st_dev
    todo = collections.deque([(folder, to)])  # the nearest first
    while todo:
        at, place = todo.popleft()
        try:
            inside = sorted(os.scandir(at), key=lambda entry: entry.name)
            entries -= len(inside)
            if at != folder and (entries < 0 or os.stat(at).st_dev != device):
                os.symlink(at, place)
                continue
            os.makedirs(place, exist_ok=True)
        except OSError:  # not to be read from here: not to be read by a cell either
            continue
        for entry in inside:
            if not entry.is_dir(follow_symlinks=False):
                left = _copy(entry.path, os.path.join(place, entry.name), left)
            elif entry.name not in _NOT_COPIED:
                todo.append((entry.path, os.path.join(place, entry.name)))
    return left


def _copy(path: str, place: str, left: int) -> int:
    try:
        size = os.stat(path).st_size
        if size <= left and os.path.isfile(path):
            shutil.copyfile(path, place)
            return left - size
        os.symlink(path, place)
    except OSError:  # not to be read from here: not to be read by a cell either
        pass
    return left


def copy_below_root(
    folder: str | None, root: str | None, to: str, most_bytes: int, *, linked: bool = False
) -> None:
    """Make `to` stand for the root: with a copy of the folder at its place, and around it links to what lies
    there, or copies (not `linked`). An empty folder where there is none, the folder alone without a root."""
    os.makedirs(to, exist_ok=True)
    if folder is None:
        return
    place, at = to, root or folder
    way = [part for part in os.path.relpath(folder, at).split(os.sep) if part != os.curdir]
    left = copy_folder(folder, os.path.join(to, *way), most_bytes)
    for part in way:
        for name in sorted(os.listdir(at)):
            if name == part or name in _NOT_COPIED:
                continue
            path, here = os.path.join(at, name), os.path.join(place, name)
            if linked:
                os.symlink(path, here)
            elif os.path.isdir(path):
                left = copy_folder(path, here, left)
            else:
                left = _copy(path, here, left)
        at, place = os.path.join(at, part), os.path.join(place, part)


def as_outside(text: str, root: str) -> str:
    """A text that a cell showed, with the paths of what it had a copy of. root: that `HOME` stood for. The
    program's folder was the user's home."""
    home = str(Path.home())
    return _inside(rf"(/{HOME}(?![\w-]))?(?![\w-])").sub(lambda found: root if found[1] else home, text)


def names_what_is_at_home(text: str) -> bool:
    """Whether a path in a text is one in the program's folder, and is there in the user's home."""
    found = {path for path in _inside(r"/([^\s'\"]+)").findall(text) if path.partition("/")[0] != HOME}
    return any(os.path.exists(os.path.join(Path.home(), path)) for path in found)


def _inside(ends: str) -> re.Pattern[str]:
    """Paths that begin with the folder of the program, or of an installed kernel's copy."""
    above = re.escape(os.path.realpath(tempfile.gettempdir()))
    folders = rf"(?:{SCRATCH}|{above}/{PREFIX}\w+)/program|{above}/{OF_INSTALLED}\w+"
    return re.compile(rf"(?<![\w/])(?:{folders}){ends}")


def time_zone() -> str:
    """The machine's, by its name (``Europe/Berlin``): what `TZ` says, where ``/etc/localtime`` leads, or what
    Debian's ``/etc/timezone`` says; UTC where none does."""
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


def root_of(folder: Path, given: Path | None = None) -> Path:
    """The root that was given for a folder; without one, the top of the git repository that a folder lies in;
    the folder itself where there is none, or where that is the user's home or holds it.

    Raises InputError: the folder does not lie below the one that was given.
    """
    folder = folder.resolve()
    if given is not None:
        if not given.is_dir():
            raise InputError(f"--root {given}: there is no such folder.")
        if not folder.is_relative_to(given.resolve()):
            raise InputError(f"--root {given}: {folder} does not lie in it. Name a folder above it.")
        return given.resolve()
    home = Path.home().resolve()
    for each in (folder, *folder.parents):
        if each == home or each in home.parents:
            break
        if (each / ".git").exists():
            return each
    return folder
