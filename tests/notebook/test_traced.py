"""`%%deskcheck trace` in a real kernel, and in IPython without one."""

import subprocess
import sys

import pytest

from tests.notebook.front_end import Kernel

pytest.importorskip("jupyter_client", reason="would have proved that a cell is traced in a kernel")
pytest.importorskip("ipykernel", reason="would have proved that a cell is traced in a kernel")


def test_a_cell_runs_as_it_would(kernel: Kernel) -> None:
    """Output, last value, names, `await` and errors are those of the cell; the page comes after them, and the
    recording holds functions of earlier cells, and nothing of IPython's own names."""
    kernel.run("data = [3, 5]\ndef double(x):\n    y = x + x\n    return y")
    code = "import asyncio\ntotal = 0\nfor n in data:\n    total += double(n)\nprint(total)\nawait asyncio.sleep(0)\ntotal"
    ran = kernel.run(f"%%deskcheck trace kept\n{code}")
    assert ran.reply["status"] == "ok"
    assert ran.said["stdout"] == "16\n"
    assert [kind for kind in ran.kinds if kind in ("execute_result", "display_data")] == [
        "execute_result",
        "display_data",
    ]
    assert kernel.run("print(total, n, _)").said["stdout"] == "16 5 16\n"
    asked = (
        "names = {name for event in kept.trace for name in event.globals}\n"
        "calls = [event.function for event in kept.trace if event.kind == 'call']\n"
        "print(names, calls.count('double'), kept.run_result.stdout, sorted({e.file for e in kept.trace}))"
    )
    said = kernel.run(asked).said["stdout"]
    names = said.split("}")[0]
    assert {name for name in ("'data'", "'total'", "'double'", "'n'") if name in names} == {
        "'data'",
        "'total'",
        "'double'",
        "'n'",
    }
    assert not {name for name in ("'In'", "'Out'", "'_i'", "'get_ipython'", "'_'") if name in names}
    assert " 2 16\n" in said
    assert "'cell'" in said
    failed = kernel.run("%%deskcheck trace\nlate = 1\n1/0")
    assert (failed.reply["status"], failed.reply["ename"]) == ("error", "ZeroDivisionError")
    assert failed.kinds.index("error") < failed.kinds.index("display_data")
    assert kernel.run("print(late)").said["stdout"] == "1\n"


def test_the_magic_alone_traces(kernel: Kernel) -> None:
    """`%%deskcheck` without a word, and with options only, is `%%deskcheck trace`; `context` stays what it is."""
    for line in ("%%deskcheck", "%%deskcheck --max-events 50", "%%deskcheck trace"):
        ran = kernel.run(f"{line}\ncount = 7\nprint(count)")
        assert ran.reply["status"] == "ok"
        assert ran.said["stdout"] == "7\n"
        assert ran.kinds.count("display_data") == 1
    told = kernel.run("%%deskcheck context\ncount = 8")
    assert "display_data" not in told.kinds
    assert kernel.run("print(count)").said["stdout"] == "7\n"


def test_without_a_kernel_it_is_the_table() -> None:
    """IPython in a terminal prints it; what cannot be traced is refused with a word, and not run."""
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "def run(text): return shell.run_cell(text, store_history=True)\n"
        "run('%load_ext deskcheck')\n"
        "run('%%deskcheck trace --max-events 4\\nfor i in range(9):\\n    last = i')\n"
        "print('LAST', shell.user_ns['last'])\n"
        "run('%%deskcheck trace --max-events none\\nnever = 1')\n"
        "run('%%deskcheck trace\\n%%time\\nnever = 1')\n"
        "run('%deskcheck trace')\n"
        "print('NEVER', 'never' in shell.user_ns)\n"
        "run('%unload_ext deskcheck')\n"
        "assert not [f for f in shell.input_transformers_cleanup if 'deskcheck' in repr(f)]\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "events are missing at the end: the limit on events was reached" in ran.stdout
    assert "LAST 8" in ran.stdout
    assert "NEVER False" in ran.stdout
    for word in ("--max-events", "a second cell magic", "write %%deskcheck trace above"):
        assert word in ran.stderr


def test_a_function_of_a_cell_is_shown_where_it_stands(kernel: Kernel) -> None:
    """The text of the program is the cell's: each event's line is the line of that text."""
    kernel.run(
        "import deskcheck\n\ndef last(xs):\n    # two lines above\n    for x in xs:\n        pass\n    return x"
    )
    asked = (
        "r = deskcheck.trace(last, [1, 2])\n"
        "lines = r.program.code.split('\\n')\n"
        "print([lines[event.line - 1].strip() for event in r.trace if event.kind == 'line'])"
    )
    expected = ["for x in xs:", "pass", "for x in xs:", "pass", "for x in xs:", "return x"]
    assert kernel.run(asked).said["stdout"] == f"{expected}\n"
