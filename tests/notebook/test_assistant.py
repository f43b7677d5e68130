"""Running kernels asked from outside: idle, busy, ended, restarted, without deskcheck, of another language."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskcheck.errors import InputError, KernelError
from deskcheck.view.assistant.asking import Asker, condition
from deskcheck.view.assistant.running import RunningKernel, chosen, conditions, kernels_here, kernels_of
from tests.notebook.front_end import Kernel, busy, has_subshells, release
from tests.notebook.jupyter import until

jupyter_client = pytest.importorskip(
    "jupyter_client", reason="would have proved that running kernels are asked"
)
ipykernel = pytest.importorskip("ipykernel", reason="would have proved that running kernels are asked")

SUBSHELLS = has_subshells()


def test_nothing_is_typed(bare: Kernel, tmp_path: Path) -> None:
    """A kernel that has not loaded us answers; its history, count, output and names are as they were."""
    bare.run("x = 1\nx")
    file, asker = tmp_path / "kernel.json", Asker()
    facts = "import json; print(json.dumps([get_ipython().execution_count, In[:-1], list(Out), sorted(globals())]))"
    before = bare.run(facts, store_history=False).said["stdout"]
    for _ in range(2):
        reply = asker.ask(file, {"names": ["x"]})
        assert (reply.data["context"], reply.beside) == ("x: int = 1\n", False)
    assert bare.run(facts, store_history=False).said["stdout"] == before
    assert bare.run("x").reply["execution_count"] == 2
    with pytest.raises(InputError, match="unknown variable 'y'"):
        asker.ask(file, {"names": ["y"]})
    with pytest.raises(InputError, match="an invalid character"):
        asker.ask(file, {"names": ["\ud800"]})
    assert condition(file) == ("idle", "python")


def test_while_a_cell_runs(bare: Kernel, tmp_path: Path) -> None:
    """On ipykernel 7 a kernel answers beside the cell, with what it holds at that moment, and what the cell
    prints stays the cell's; an older one says that it is busy. In the end all is answered again."""
    bare.run("x = 1")
    file, asker = tmp_path / "kernel.json", Asker(wait_s=0.2)
    assert asker.ask(file, {"names": ["x"]}).data["context"] == "x: int = 1\n"
    cell = busy(bare, tmp_path, "x = 2")
    assert condition(file)[0] == "busy"
    if SUBSHELLS:
        reply = asker.ask(file, {"names": ["x"]})
        assert (reply.data["context"], reply.beside) == ("x: int = 2\n", True)
    else:
        with pytest.raises(KernelError, match=r"a cell runs, and did not end within 0\.2 s"):
            asker.ask(file, {"names": ["x"]})
    release(tmp_path)
    ran = bare.wait(cell)
    assert ran.said == {"stdout": "ended\n"}
    assert ran.reply["status"] == "ok"
    reply = asker.ask(file, {"names": ["x"]})
    assert (reply.data["context"], reply.beside) == ("x: int = 2\n", False)
    if SUBSHELLS:
        asked = bare.send("import asyncio\nx = 3\nwhile x == 3: await asyncio.sleep(0.01)")
        until(lambda: asker.ask(file, {"names": ["x"]}).data["context"] == "x: int = 3\n", "the cell runs")
        assert asker.ask(file, {"names": ["x"]}).beside
        bare.manager.interrupt_kernel()
        assert bare.wait(asked).reply["ename"] in ("KeyboardInterrupt", "CancelledError")
        threads = "import threading; print([t.name for t in threading.enumerate() if 'ubshell' in t.name])"
        assert bare.run(threads).said["stdout"] == "[]\n"


@pytest.mark.slow
def test_busy_before_it_is_known_and_ended(bare: Kernel, tmp_path: Path) -> None:
    """A kernel that has not loaded us and runs a cell cannot answer; afterwards it can, also when it was
    restarted on its connection file; one that was stopped or killed is said not to answer."""
    file, asker = tmp_path / "kernel.json", Asker(wait_s=0.2)
    cell = busy(bare, tmp_path)
    said = "has not loaded deskcheck" if SUBSHELLS else "did not end within 0.2 s"
    with pytest.raises(KernelError, match=said):
        asker.ask(file, {})
    release(tmp_path)
    assert bare.wait(cell).said == {"stdout": "ended\n"}
    assert asker.ask(file, {"ask": "cells"}).data["cells"]["cells"] == [1]
    bare.manager.restart_kernel(now=True)
    bare.client.wait_for_ready(timeout=60)
    assert asker.ask(file, {"ask": "cells"}).data["cells"]["cells"] == []
    process = bare.manager.provisioner.process
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)  # its threads may still answer when the signal is sent
    try:
        with pytest.raises(KernelError, match="the kernel does not answer"):
            asker.ask(file, {})
    finally:
        process.send_signal(signal.SIGCONT)
    process.kill()
    process.wait()
    with pytest.raises(KernelError, match="It has ended and left the file behind"):
        asker.ask(file, {})
    assert conditions(kernels_of([file]))[0].line() == "kernel  does not answer: ended, or stopped  python3"


def started(folder: Path, *command: str, **environment: str) -> Iterator[Path]:
    """The connection file of a kernel that another interpreter runs."""
    file = folder / "kernel-other.json"
    process = subprocess.Popen(
        [*command, "-f", str(file)],
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def answers() -> bool:
        assert process.poll() is None, "it has ended"
        return file.exists() and condition(file)[0] != "silent"

    try:
        until(answers, "the kernel answers")
        yield file
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def without(tmp_path: Path) -> Iterator[Path]:
    """A kernel of an environment that has all our packages but deskcheck."""
    packages = tmp_path / "packages"
    packages.mkdir()
    for folder in {Path(module.__file__).parents[1] for module in (ipykernel, jupyter_client)}:
        for place in folder.iterdir():
            if "deskcheck" not in place.name and not (packages / place.name).exists():
                (packages / place.name).symlink_to(place)
    # -S: else the environment's own .pth files would bring deskcheck.
    yield from started(
        tmp_path, sys.executable, "-S", "-P", "-m", "ipykernel_launcher", PYTHONPATH=str(packages)
    )


def test_without_deskcheck(without: Path) -> None:
    """It is said where deskcheck is missing."""
    with pytest.raises(
        KernelError, match=r"kernel-other.json: the kernel's environment has no suitable deskcheck"
    ):
        Asker().ask(without, {})
    with pytest.raises(KernelError, match="No module named 'deskcheck'"):
        Asker().ask(without, {})


@pytest.mark.slow
def test_of_another_language(tmp_path: Path) -> None:
    """It is listed, and not asked."""
    pytest.importorskip("bash_kernel", reason="would have proved that a kernel of bash is not asked")
    for file in started(tmp_path, sys.executable, "-m", "bash_kernel"):
        assert condition(file) == ("idle", "bash")
        with pytest.raises(KernelError, match=r"is a kernel for bash\. Ask a kernel for Python"):
            Asker().ask(file, {})


FACTS = {"shell_port": 1, "iopub_port": 1, "stdin_port": 1, "control_port": 1, "hb_port": 1, "key": "k"}


def test_which_kernels_there_are(tmp_path: Path) -> None:
    """The newest first; by id, its beginning or the notebook's name; other files are none."""
    about: dict[str, dict[str, str]] = {
        "a1": {"jupyter_session": "/w/one.ipynb", "kernel_name": "python3"},
        "a2": {"jupyter_session": "/w/"},
        "b1": {},
    }
    for age, (name, facts) in enumerate(about.items()):
        file = tmp_path / f"kernel-{name}.json"
        file.write_text(json.dumps(FACTS | facts))
        os.utime(file, (time.time(), time.time() - age))
    (tmp_path / "kernel-x.json").write_text("{")
    (tmp_path / "kernel-y.json").write_text("[]")
    (tmp_path / "jpserver-1.json").write_text(json.dumps(FACTS))
    (tmp_path / "kernel-z.json").mkdir()
    found = kernels_here(tmp_path)
    assert [each.id for each in found] == ["a1", "a2", "b1"]
    assert found[0] == RunningKernel(tmp_path / "kernel-a1.json", "a1", "/w/one.ipynb", "python3")
    assert chosen(found, "a2") == chosen(found[1:], "a") == found[1]
    assert chosen(found, "one.ipynb") == chosen(found, "/w/one.ipynb") == found[0]
    with pytest.raises(InputError, match=r"kernel='a' matches a1 \(/w/one.ipynb\), a2: give the complete"):
        chosen(found, "a")
    for name in ("c", "", "../kernel-a1", "ne.ipynb"):
        with pytest.raises(
            InputError, match=r"unknown kernel .*\. The kernels are: a1 \(/w/one.ipynb\), a2, b1"
        ):
            chosen(found, name)
    with pytest.raises(InputError, match="no kernel runs"):
        chosen([], None)
    for other, said in (
        ("kernel-x.json", "is not JSON"),
        ("kernel-y.json", "is not a conn"),
        ("no", "cannot be read"),
    ):
        with pytest.raises(InputError, match=said):
            kernels_of([tmp_path / other])
    assert kernels_here(tmp_path / "none") == []
