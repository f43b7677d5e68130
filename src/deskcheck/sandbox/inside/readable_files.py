"""What a program may read of a folder of its user's: not what is hidden, or looks like a key or a secret.

A program is given the folder that its file lies in, for the modules and data there. Beside them lie the
user's own things: ``.env``, ``.git``, keys. Names decide, since nobody says what is secret. Standard library
only.
"""

import itertools
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

MOST = 100_000
"""Entries of a folder, at any depth, that are looked at. The program cannot read the rest."""

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
"""What is there is not the same for every process."""
_SECRET_MODULE = re.compile(r"secrets?|credentials?|passwords?", re.IGNORECASE)
_PYTHON = (".py", ".pyi", ".pyc", ".so")


def can_open(path: str, *, writes: bool) -> bool:
    """Whether this process can open a file, or make it: outside of the sandbox, whether only that is in the
    way."""
    if not writes:
        return os.access(path, os.R_OK)
    return os.access(path if os.path.exists(path) else os.path.dirname(path), os.W_OK)


def is_private(name: str) -> bool:
    """Whether the name of a file or folder says that it is its user's alone."""
    if name.startswith("."):
        return True
    stem, _, suffix = name.partition(".")
    if suffix and f".{suffix}".endswith(_PYTHON):
        return _SECRET_MODULE.fullmatch(stem) is not None
    return _SECRET.fullmatch(name) is not None


@dataclass(slots=True)
class FilesBeside:
    """Of a folder: paths that may be read at any depth; folders whose names may be listed; links to some of
    these. left_out: the rest, which is private or too much."""

    readable: list[str] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def look(folder: str, *, max_files: int = MOST) -> FilesBeside:
    """What may be read of a folder. A folder that cannot be read gives nothing."""
    files = FilesBeside()
    root = os.path.realpath(folder)
    if not os.path.isdir(root):
        return files
    if _look_into(folder, root, files, [max_files]):
        files.readable, files.listed, files.links = [folder], [], []
    return files


def _look_into(folder: str, root: str, files: FilesBeside, entries_left: list[int]) -> bool:
    """Add what lies in a folder; False if any of it may not be read. The caller takes it back if all may."""
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
