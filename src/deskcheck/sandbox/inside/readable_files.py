"""Chooses the files of a user's folder that a program may read: none that is hidden or named like a secret.

A program gets the folder of its file, for modules and data. The folder may also contain private files of the
user: ``.env``, ``.git``, keys. Names decide, since secrets are not marked. Standard library only.
"""

import itertools
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

MOST = 100_000
"""Largest number of entries of a folder, at any depth, to examine. The program cannot read further ones."""

_KEYS = (
    "age asc cer crt der env gpg jks kdb kdbx key keystore kubeconfig ovpn p12 p8 pem pfx ppk tfstate "
    "tfvars".split()
)
_SECRET = re.compile(
    rf".*\.({'|'.join(_KEYS)})(\.\w+)?|env|(id_)?(rsa|dsa|ecdsa|ed25519)|netrc|htpasswd|pgpass|kubeconfig|"
    r".*(secret|credential|passw(or)?d|passphrase|(api|access|private|service|account|auth)[-_]?key|"
    r"service[-_]?account|access[-_]?token|auth[-_]?token).*",
    re.IGNORECASE,
)
PROCESS_FOLDERS = ("/proc/", "/sys/")
"""Folders whose content differs between processes."""
_SECRET_MODULE = re.compile(r"secrets?|credentials?|passwords?", re.IGNORECASE)
_PYTHON = (".py", ".pyi", ".pyc", ".so")


def can_open(path: str, *, writes: bool) -> bool:
    """Whether this process can open or make a file.

    Outside of the sandbox, that says whether only the sandbox kept a program from it.
    """
    if not writes:
        return os.access(path, os.R_OK)
    return os.access(path if os.path.exists(path) else os.path.dirname(path), os.W_OK)


def is_private(name: str) -> bool:
    """Whether a file or folder is private, judged by its name."""
    if name.startswith("."):
        return True
    stem, _, suffix = name.partition(".")
    if suffix and f".{suffix}".endswith(_PYTHON):
        return _SECRET_MODULE.fullmatch(stem) is not None
    return _SECRET.fullmatch(name) is not None


@dataclass(slots=True)
class FilesBeside:
    """The files of a folder that a program may read."""

    readable: list[str] = field(default_factory=list)
    """Paths that may be read with everything below them."""
    listed: list[str] = field(default_factory=list)
    """Folders whose names may be listed."""
    links: list[str] = field(default_factory=list)
    """Links to readable files."""
    left_out: list[str] = field(default_factory=list)
    """Paths that are private, or that were too many to examine."""


def look(folder: str, *, max_entries: int = MOST) -> FilesBeside:
    """The files of a folder that may be read; empty if the folder cannot be read."""
    files = FilesBeside()
    root = os.path.realpath(folder)
    if not os.path.isdir(root):
        return files
    if _look_into(folder, root, files, [max_entries]):
        files.readable, files.listed, files.links = [folder], [], []
    return files


def _look_into(folder: str, root: str, files: FilesBeside, entries_left: list[int]) -> bool:
    """Add the entries of a folder. Returns whether all may be read; the caller then adds only the folder."""
    is_whole = True
    files.listed.append(folder)
    for entry in _entries(folder):
        entries_left[0] -= 1
        if entries_left[0] < 0 or is_private(entry.name):
            files.left_out.append(entry.path)
            is_whole = False
        elif entry.is_symlink():
            # Where the folder is given as a whole, the kernel looks at what its links lead to.
            if _leads_to_what_is_given(entry.path, root):
                files.links.append(entry.path)
            else:
                files.left_out.append(entry.path)
        elif entry.is_dir(follow_symlinks=False):
            before = len(files.readable), len(files.listed), len(files.links)
            if _look_into(entry.path, root, files, entries_left):
                for paths, length in zip((files.readable, files.listed, files.links), before, strict=True):
                    del paths[length:]
                files.readable.append(entry.path)
            else:
                is_whole = False
        elif stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
            files.readable.append(entry.path)
        else:  # a socket, a pipe, a device: another program's door
            files.left_out.append(entry.path)
            is_whole = False
    return is_whole


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from sorted(itertools.islice(entries, MOST + 1), key=lambda entry: entry.name)
    except OSError:
        return


def _leads_to_what_is_given(link: str, root: str) -> bool:
    target = os.path.realpath(link)
    below = os.path.relpath(target, root)
    if below.partition(os.sep)[0] == os.pardir or not os.path.exists(target):
        return False
    return not any(is_private(part) for part in below.split(os.sep) if part != os.curdir)
