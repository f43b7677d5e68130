"""What a check loads, and servers that several kernels come out of: nothing of one is in the next."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from deskcheck.errors import SandboxError
from deskcheck.notebook.check.check import check_notebooks
from deskcheck.notebook.kernel.kernel import Kernel
from deskcheck.notebook.kernel.servers import Servers
from deskcheck.notebook.settings import CheckSettings
from deskcheck.notebook.trajectory.trajectory import Status
from deskcheck.sandbox.limits import Limits
from tests.notebook.books import cell, printed, save, shown

pytest.importorskip("ipykernel", reason="would have proved that kernels share servers and nothing else")

LIMITS = Limits(cpu_s=200, wall_s=1000, memory_bytes=2 << 30, output_bytes=64 << 20)
HEAVY = {"pyarrow", "pandas", "numpy", "jupyter_client", "ipykernel", "http.server"}
NOT_ITS_OWN = {"deskcheck.teach", "deskcheck.notation", "deskcheck.ask", "deskcheck.sources"}


def test_a_check_loads_what_it_needs(tmp_path: Path) -> None:
    """Without --out no Parquet is written, and no other command's modules are loaded."""
    save(tmp_path / "one.ipynb", cell("1 + 1", shown("2")))
    code = (
        "import json, sys\nfrom deskcheck.cli import main\n"
        "sys.argv = ['deskcheck', 'notebooks', 'check', 'one.ipynb', '--fail-on', 'none']\n"
        "try: main()\nexcept SystemExit as end: assert not end.code\n"
        "print(json.dumps([*sys.modules]))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "1 of 1 notebooks reproduce" in ran.stdout
    loaded = {*json.loads(ran.stdout.splitlines()[-1])}
    assert loaded & (HEAVY | NOT_ITS_OWN) == set()


LEAVE = """
import sys, os, builtins, random, threading
sys.left = builtins.left = 1; os.environ["LEFT"] = "1"; os.chdir("/")
for folder in (os.path.expanduser("~"), os.environ["TMPDIR"], "/dev/shm"):
    open(os.path.join(folder, "left"), "w").close()
import subprocess; subprocess.Popen(["sleep", "1000"])
threading.Thread(target=threading.Event().wait, daemon=True).start()
random.seed(1); random.random()
"""
LOOK = """
import sys, os, builtins, random
print(hasattr(sys, "left"), hasattr(builtins, "left"), "LEFT" in os.environ, os.path.basename(os.getcwd()))
for folder in (os.path.expanduser("~"), os.environ["TMPDIR"], "/dev/shm"):
    print("left" in os.listdir(folder), end=" ")
commands = []
for pid in os.listdir("/proc"):
    if pid.isdigit():
        with open(f"/proc/{pid}/cmdline") as stream:
            commands.append(stream.read())
print(any("sleep" in each for each in commands))
random.seed(1); print(random.random() == 0.13436424411240122)
"""


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.slow
def test_nothing_of_one_kernel_is_in_the_next(many: bool) -> None:
    """The second kernel of a server finds no variable, file, process or setting of the first."""
    with Servers(many=many, max_servers=1) as servers:
        with Kernel(limits=LIMITS, servers=servers) as kernel:
            assert kernel.run(LEAVE).status is Status.OK
            first = kernel.server
        with Kernel(limits=LIMITS, servers=servers) as kernel:
            assert kernel.server is first
            ran = kernel.run(LOOK)
    assert "".join(o.text or "" for o in ran.outputs).split() == (
        "False False False notebook False False False False True".split()
    )


def test_a_server_that_was_killed_is_replaced() -> None:
    """A kernel whose server is gone says so; the next one gets another."""
    with Servers(many=False, max_servers=1) as servers:
        with Kernel(limits=LIMITS, servers=servers) as kernel:
            assert kernel.server is not None
            kernel.server.process.kill()
            kernel.server.process.wait()
            kernel._thread.join(20)  # type: ignore[union-attr]  # it sees that the server is gone
            with pytest.raises(SandboxError):
                kernel.run("1")
        with Kernel(limits=LIMITS, servers=servers) as kernel:
            assert kernel.run("1").status is Status.OK


@pytest.mark.slow
def test_runs_that_are_kept_give_the_same_report(tmp_path: Path) -> None:
    """In memory or in files, of one notebook or of several: what is found is the same."""
    paths = [
        save(tmp_path / "a.ipynb", cell("1 + 1", shown("3")), cell("print('\\ud800')", printed("?\n"))),
        save(tmp_path / "b.ipynb", cell("print(x)", printed("1\n")), cell("# \ud800\n'a'", shown("'a'"))),
    ]
    settings = CheckSettings(runs=2)

    def found(*given: Path, out: Path | None = None) -> list[object]:
        report = check_notebooks(given, settings, out=out).to_dict()
        for notebook in report["notebooks"]:
            for each in (notebook, *notebook["cells"]):
                each.pop("seconds", None)
                each.pop("wall_s", None)
        return list(report["notebooks"])

    unkept = found(*paths)
    for one, other in zip(unkept, found(*paths, out=tmp_path / "out"), strict=True):
        assert one == other
    assert unkept == [*found(paths[0]), *found(paths[1])]
    assert [each["status"] for each in unkept] == ["different", "failed"]  # type: ignore[index]
