"""Commands of cells (``!ls``), with output as stock kernels show it.

A stock kernel runs them on a terminal, which merges standard error with standard output and ends lines with
``\\r\\n``. The sandbox has no terminal, so a pipe takes both streams, and the line ends are written here.
Programs that look for a terminal do not find one. Runs in the kernel's process."""

import codecs
import os
import subprocess
import sys
from typing import Any

_READ_BYTES = 1 << 16


def run_command(shell: Any, command: str) -> None:
    """Run a command of a cell, and show its output. shell: IPython's shell. Its ``_exit_code`` becomes that
    of the command, or the negative number of the signal that ended it.

    Raises OSError for a command in the background, as stock kernels do.
    """
    if command.rstrip().endswith("&"):
        raise OSError("Background processes not supported.")
    line = shell.var_expand(command, depth=2)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with subprocess.Popen(
        line,
        shell=True,
        executable=os.environ.get("SHELL"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},  # as on a terminal, what is printed first comes first
    ) as process:
        assert process.stdout is not None
        try:
            while read := os.read(process.stdout.fileno(), _READ_BYTES):
                _print(decoder.decode(read))
        except BaseException:  # the cell is interrupted
            process.terminate()
            raise
        _print(decoder.decode(b"", final=True))
    shell.user_ns["_exit_code"] = process.returncode


def _print(text: str) -> None:
    sys.stdout.write(text.replace("\n", "\r\n"))
    sys.stdout.flush()
