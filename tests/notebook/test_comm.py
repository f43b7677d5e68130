"""The comm target of a kernel that has loaded us, asked as a front end asks it: over jupyter_client alone."""

import json
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.notebook.front_end import WAIT_S, Kernel

pytest.importorskip("jupyter_client", reason="would have proved that a kernel answers over a comm")
pytest.importorskip("ipykernel", reason="would have proved that a kernel answers over a comm")


class Comm:
    """A front end's end of a comm that it opened."""

    def __init__(self, kernel: Kernel, target: str = "deskcheck.context") -> None:
        self.kernel, self.id, self.target = kernel, uuid.uuid4().hex, target

    def send(self, kind: str, data: Any) -> list[tuple[str, Any]]:
        """What the kernel says to a message, by the kinds of its messages."""
        client = self.kernel.client
        name = {"target_name": self.target} if kind == "comm_open" else {}
        message = client.session.msg(kind, {"comm_id": self.id, "data": data} | name)
        client.shell_channel.send(message)
        found: list[tuple[str, Any]] = []
        while True:
            heard = client.get_iopub_msg(timeout=WAIT_S)
            if heard["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                continue
            if heard["msg_type"] == "status" and heard["content"]["execution_state"] == "idle":
                return found
            if heard["msg_type"].startswith("comm_"):  # else what the kernel writes into its log
                assert heard["content"]["comm_id"] == self.id
                found.append((heard["msg_type"], heard["content"]["data"]))

    def ask(self, **question: Any) -> Any:
        ((kind, data),) = self.send("comm_msg", question)
        assert kind == "comm_msg"
        return data


SESSION = """\
import json
frame = {"a": [1.5, 2.5]}
def double(x: int, *, by=2) -> int:
    "Twice. Or more."
    return x * by
db_password = "swordfish-9"
hooks = []
get_ipython().events.register("post_execute", lambda: hooks.append(1))
class Loud:
    def __repr__(self): hooks.append("repr"); return "loud"
    def __getattr__(self, name): hooks.append(name); raise AttributeError(name)
loud = Loud()
before = "x = 'swordfish-9'"
"""


def test_answers_without_a_cell(kernel: Kernel) -> None:
    """Variables, one of them in depth, and cells are told; no cell is counted or kept, nothing of the user's
    runs for a question that opens the comm, no name of ours appears, secrets are masked."""
    kernel.run(SESSION)
    facts = "print(json.dumps([get_ipython().execution_count, In[:-1], list(Out), hooks, sorted(globals())]))"
    before = json.loads(kernel.run(facts, store_history=False).said["stdout"])
    comm = Comm(kernel)
    ((kind, told),) = comm.send("comm_open", {"names": ["frame", "double"], "budget": 300})
    assert kind == "comm_msg"
    assert told["status"] == "ok"
    assert told["context"].splitlines() == [
        "frame: dict = {'a': [1.5, 2.5]}",
        'double: function(x: int, *, by=2) -> int, "Twice."',
    ]
    once = Comm(kernel).send("comm_open", {"form": "json", "once": True})
    ((kind, told),) = once
    assert kind == "comm_close"
    rows = {row["name"]: row for row in told["context"]["variables"]}
    assert {"frame", "double", "db_password", "hooks", "Loud", "loud", "before"} == {*rows}
    assert "swordfish" not in json.dumps(once)
    after = json.loads(kernel.run(facts, store_history=False).said["stdout"])
    assert after[:3] == before[:3]
    assert after[4] == before[4]
    assert after[3] == [1] * (len(before[3]) + 1)  # the hook ran for the cells alone
    depth = {"ask": "variable", "name": "frame", "budget": 100}
    assert comm.ask(**depth)["context"] == "frame: dict = {'a': [1.5, 2.5]}\n"
    cells = comm.ask(ask="cells", last=1, budget=1000)["cells"]
    assert cells["text"].startswith("# In [2]\nimport json\n")
    assert cells["text"].count("[masked]") == 2
    assert "swordfish" not in cells["text"]
    assert comm.ask(ask="cells", budget=1)["cells"] == {"text": "", "cells": [], "left_out": 2}
    assert "loud" not in kernel.run("print(hooks)", store_history=False).said["stdout"]
    assert "repr" not in kernel.run("print(hooks)", store_history=False).said["stdout"]


def test_what_cannot_be_asked(kernel: Kernel) -> None:
    """Errors of a question are data, and the comm goes on; late questions and unloaded kernels close it."""
    kernel.run("x = 1")
    comm = Comm(kernel)
    assert comm.send("comm_open", {}) == []
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"names": ["y"]}, "unknown variable 'y'"),
        ({"names": "x"}, "names='x' must be a list of names"),
        ({"names": ["x; import os"]}, "must be a list of names"),
        ({"ask": "variable"}, "name the variable"),
        ({"ask": "variable", "name": "x.y"}, "name='x.y' must be the name of a variable"),
        ({"ask": "run", "code": "1"}, "ask='run': unknown. The questions are context, variable, cells"),
        ({"ask": ["context"]}, "The questions are context, variable, cells"),
        ({"mask": False}, "unknown mask. The parameters are names, code, budget"),
        ({"budget": True}, "budget=True must be a number of tokens"),
        ({"budget": 10**9}, "budget=1000000000 must be a number of tokens, 0 to 100,000"),
        ({"form": "xml"}, "form='xml' must be text or json"),
        ({"code": "x" * 300_000}, "... must be code of up to 200,000 characters"),
        ({"names": ["x"], "code": "x"}, "give either names or code"),
        ({"names": ["In"]}, "names that IPython assigns are not shown"),
    ]
    for question, said in wrong:
        answer = comm.ask(**question)
        assert answer["status"] == "error", question
        assert answer["ename"] == "InputError"
        assert said in answer["evalue"]
    assert comm.send("comm_msg", ["x"])[0][1]["evalue"] == "a question is an object, not list."
    assert comm.ask(names=["x"])["context"] == "x: int = 1\n"
    late = Comm(kernel).send("comm_open", {"once": True, "until": time.time() - 1})
    assert late == [("comm_close", {})]
    kernel.run("%unload_ext deskcheck")
    assert Comm(kernel).send("comm_open", {"names": ["x"]}) == [("comm_close", {})]


@pytest.mark.slow
def test_a_recording_goes_on(kernel: Kernel, tmp_path: Path) -> None:
    """Questions leave no trace in a recording of the kernel."""
    from deskcheck.notebook import read_trajectory

    path = tmp_path / "a.trajectory.parquet"
    kernel.run(f"%deskcheck record {path}")
    kernel.run("x = [1]", "a")
    assert Comm(kernel).send("comm_open", {"names": ["x"]})[0][1]["context"] == "x: list = [1]\n"
    kernel.run("x.append(2)", "a")
    kernel.run("%deskcheck stop", "b")
    assert [one.source for one in read_trajectory(path).executions] == ["x = [1]", "x.append(2)"]
