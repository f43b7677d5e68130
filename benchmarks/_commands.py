"""deskcheck's own commands, as a benchmark that is made of them runs them."""

import os
import shlex
import subprocess
import sys


def run(*command: str) -> None:
    """One deskcheck command of this checkout, printed. Raises CalledProcessError where it fails."""
    print("$ deskcheck", shlex.join(command), flush=True)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    subprocess.run([sys.executable, "-m", "deskcheck", *command], check=True, env=env)


def run_here(*command: str) -> None:
    """The same in this process, which saves importing torch again. For commands that start no processes."""
    from deskcheck.cli import app

    print("$ deskcheck", shlex.join(command), flush=True)
    app(list(command), standalone_mode=False)
