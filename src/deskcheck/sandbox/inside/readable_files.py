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
"""Entries of a folder, and of what lies below it, that are looked at. What comes after is not given."""

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
    stem, _, rest = name.partition(".")
    if rest and f".{rest}".endswith(_PYTHON):
        return _SECRET_MODULE.fullmatch(stem) is not None
    return _SECRET.fullmatch(name) is not None


@dataclass(slots=True)
class FilesBeside:
    """Of a folder: paths that may be read with all that lies below them; folders of which the names may be
    listed; links, which lead to some of these. left_out: what else is there, private or too much."""

    readable: list[str] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def look(folder: str, *, most: int = MOST) -> FilesBeside:
    """What may be read of a folder. A folder that cannot be read gives nothing."""
    found = FilesBeside()
    root = os.path.realpath(folder)
    if not os.path.isdir(root):
        return found
    if _look_into(folder, root, found, [most]):
        found.readable, found.listed, found.links = [folder], [], []
    return found


def _look_into(folder: str, root: str, found: FilesBeside, left: list[int]) -> bool:
    """Add what lies in a folder; False if any of it may not be read. The caller takes it back if all may."""
    whole = True
    found.listed.append(folder)
    for entry in _entries(folder):
        left[0] -= 1
        if left[0] < 0 or is_private(entry.name):
            found.left_out.append(entry.path)
            whole = False
        elif entry.is_symlink():
            # Where the folder is given as a whole, the kernel looks at what its links lead to.
            if _leads_to_what_is_given(entry.path, root):
                found.links.append(entry.path)
            else:
                found.left_out.append(entry.path)
        elif entry.is_dir(follow_symlinks=False):
            before = len(found.readable), len(found.listed), len(found.links)
            if _look_into(entry.path, root, found, left):
                for kept, length in zip((found.readable, found.listed, found.links), before, strict=True):
                    del kept[length:]
                found.readable.append(entry.path)
            else:
                whole = False
        elif stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
            found.readable.append(entry.path)
        else:  # a socket, a pipe, a device: another program's door
            found.left_out.append(entry.path)
            whole = False
    return whole


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
