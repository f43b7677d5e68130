"""What the tests of tracers share that run programs in processes of their own, or need the native tracer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tracer import agree

SOURCE = Path(__file__).parents[2] / "src"

needs_native = pytest.mark.skipif(
    not agree.native_is_built(),
    reason="the native tracer is not built here (python setup.py build_ext --inplace): nothing to compare",
)


def printed(code: str, *arguments: object, **variables: str) -> str:
    """What a script prints in a process of its own, which has to end well."""
    child = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONHASHSEED": "0", **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert child.returncode == 0, f"status {child.returncode}\n{child.stderr[-3000:]}"
    return child.stdout


def printed_alone(program: str) -> str:
    """What a program prints without us."""
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    ).stdout
