"""A core that was compiled for one release of a Python version is refused by another that is laid out otherwise."""

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CACHED = Path.home() / ".cache" / "deskcheck" / "roots" / "testing"
MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"

RECORDED = """
import json, platform, sys
sys.path.insert(0, sys.argv[1])
from deskcheck.tracer import tracer_class
namespace, blocks = {}, []
code = "class A:\\n    def __init__(self, v):\\n        self.v = [v]\\ndef f(n):\\n    return [A(i) for i in range(n)]"
exec(compile(code, "prog.py", "exec"), namespace)
tracer = tracer_class()({"prog.py": "prog.py"}, blocks.append)
tracer.start()
namespace["f"](300)
tracer.stop()
print(json.dumps([platform.python_version(), tracer_class().__name__, len(blocks)]))
"""


def others() -> list[list[str]]:
    """Commands of other releases of this Python's version."""
    found = [[f"/usr/bin/python{MINOR}"]] if Path(f"/usr/bin/python{MINOR}").exists() else []
    if (CACHED / "usr" / "bin" / f"python{MINOR}").exists():
        found.append([str(ROOT / "tools" / "python-root"), "3.14", f"python{MINOR}"])
    return found


@pytest.mark.slow
def test_another_release_records_or_refuses() -> None:
    """It does not crash: the core is used where all that it reads stands where it was, else the reference."""
    asked = 0
    for command in others():
        done = subprocess.run(
            [*command, "-S", "-c", RECORDED, str(ROOT / "src")], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        version, tracer, blocks = json.loads(done.stdout)
        asked += version != platform.python_version()
        assert blocks > 0
        if (platform.python_version(), version) == ("3.13.0", "3.13.15"):
            assert tracer == "ReferenceTracer", "fields of the runtime moved"
    if not asked:
        pytest.skip("no other release of this Python: would have proved that it is not crashed by ours")
