"""The command line in this process: what a user types, what is printed, the exit status.

An interpreter that starts for each command costs more than most commands do. Where the process itself is the point
(signals, pipes, an interpreter without an extra), a test starts one: `PROCESS`.
"""

import contextlib
import io
import os
import sys
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

from deskcheck.cli import main
from deskcheck.recording import SandboxError
from tests.conftest import refused

PROCESS = [sys.executable, "-m", "deskcheck"]


def deskcheck(*arguments: object, cwd: Path) -> CompletedProcess[str]:
    """`deskcheck ARGUMENTS` in a folder, by the function that the console script calls."""
    command = ["deskcheck", *map(str, arguments)]
    printed, said, status = io.StringIO(), io.StringIO(), 0
    before = Path.cwd()
    os.chdir(cwd)
    try:
        with (
            mock.patch.object(sys, "argv", command),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(said),
        ):
            main()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        os.chdir(before)
    if any(f"the level {level.value!r} cannot be had here" in said.getvalue() for level in refused()):
        raise SandboxError(said.getvalue())  # the test is skipped, and says what it would have proved
    return CompletedProcess(command, status, printed.getvalue(), said.getvalue())
