"""The level `strict` in a root that `chroot` made, as a build system or an installer has it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.processes import search_path

PROGRAM = """
import sys
from deskcheck.recording.program import Program
from deskcheck.sandbox import Sandbox

code = "import os; print(os.getcwd()); print([os.path.exists(p) for p in ('/outside', '/../outside', '/etc/inside')])"
with Sandbox(level="strict", workers=1) as sandbox:
    result = sandbox.run_one(Program(id="p", code=code))
print(result.outcome, result.stdout, result.stderr, end="")
"""
LEAVE_OUT = {"proc", "sys", "dev", "tmp"}


@pytest.mark.level("strict")
@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None,
    reason="needs root and unshare: would make another root",
)
def test_a_root_that_is_no_mount_point(tmp_path: Path) -> None:
    """A program runs there as anywhere; of the mounts that are made nothing is seen outside."""
    root = tmp_path / "root"
    folders = [path for path in Path("/").iterdir() if path.is_dir() and path.name not in LEAVE_OUT]
    made = "set -e\n"
    for path in folders:
        if path.is_symlink():
            made += f"mkdir -p {root}; ln -s {os.readlink(path)} {root}{path}\n"
        else:
            made += f"mkdir -p {root}{path}; mount --rbind {path} {root}{path}\n"
    for name in ("/proc", "/dev"):
        made += f"mkdir -p {root}{name}; mount --rbind {name} {root}{name}\n"
    made += (
        f'mkdir {root}/tmp; mount --bind /tmp {root}/tmp; exec chroot {root} {sys.executable} -c "$PROGRAM"'
    )
    environment = {"PATH": os.environ["PATH"], "PROGRAM": PROGRAM, "PYTHONPATH": search_path()}
    before = Path("/proc/self/mounts").read_text()
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", made], capture_output=True, text=True, check=False, env=environment
    )
    assert done.stdout.rstrip(" ") == "returned /scratch/program\n[False, False, False]\n", (
        done.stdout + done.stderr
    )
    assert Path("/proc/self/mounts").read_text() == before
