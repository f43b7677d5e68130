"""Commands that run an interpreter as somebody else than whoever runs the tests: fewer privileges, no new ones."""

import functools
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOBODY = "65534"
CONTAINER = (
    "chown dac_override fsetid fowner mknod net_raw setgid setuid setfcap setpcap net_bind_service sys_chroot "
    "kill audit_write"
).split()
"""The capabilities that Docker gives to a container's root."""
_AS_NOBODY = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all")


@functools.cache
def as_nobody() -> list[str]:
    """A command that runs an interpreter as nobody: this one, or the system's where nobody may come to this."""
    found = _first(_AS_NOBODY)
    if found is None:
        pytest.skip(
            "no setpriv, or no interpreter that nobody may run: would have proved what holds where the sandbox is "
            "an ordinary user's"
        )
    return found


@functools.cache
def as_container() -> list[str]:
    """A command that runs an interpreter, which others may run too, as a container's root."""
    return _with_capabilities(CONTAINER)


@functools.cache
def as_bare_root() -> list[str]:
    """The same without any capability."""
    return _with_capabilities([])


def _with_capabilities(names: list[str]) -> list[str]:
    for_all = _first(_AS_NOBODY)
    bounded = (f"--bounding-set={','.join(['-all', *(f'+{name}' for name in names)])}", "--inh-caps=-all")
    found = None if for_all is None else _first(bounded, for_all[-1])
    if found is None:
        pytest.skip(
            "not root, no setpriv, or no interpreter that all may run: would have proved what holds where the "
            "sandbox is a container's"
        )
    return found


def _first(drop: tuple[str, ...], *pythons: str) -> list[str] | None:
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return None
    for python in pythons or (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        command = [setpriv, *drop, python]
        needs = (
            "import subprocess, sys; assert sys.version_info >= (3, 11); "
            "subprocess.run([sys.executable, '-c', ''], check=True); "  # and not with a privilege that is left
            f"sys.path.insert(0, {str(ROOT / 'src')!r}); import deskcheck.sandbox.process"
        )
        tried = subprocess.run([*command, "-c", needs], capture_output=True, cwd="/", check=False)
        if tried.returncode == 0:
            return command
    return None


def let_all_read(folder: Path) -> None:
    """Other users may read a folder and go through those above it, as far as they are ours. No right is taken away:
    the other worker's tests have the same folders above theirs."""
    for each in (folder, *folder.parents[:-1]):
        facts = each.stat()
        if facts.st_uid == os.geteuid():
            each.chmod(stat.S_IMODE(facts.st_mode) | 0o055)
