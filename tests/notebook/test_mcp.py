"""`deskcheck notebooks mcp`: two kernels, asked by the official client, and by frames written by hand."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.notebook.front_end import Kernel, busy, has_subshells, release

REASON = "would have proved that an assistant can ask kernels: pip install 'deskcheck[mcp]'"
pytest.importorskip("ipykernel", reason=REASON)
COMMAND = [sys.executable, "-m", "deskcheck", "notebooks", "mcp"]


@pytest.fixture
def kernels(tmp_path: Path) -> Iterator[tuple[Kernel, Kernel]]:
    """Two, with their connection files in a runtime folder."""
    pytest.importorskip("mcp", reason=REASON)
    made: list[Kernel] = []
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    try:
        for name in ("one", "two"):
            folder = tmp_path / name
            folder.mkdir()
            made.append(Kernel(folder))
            facts = json.loads((folder / "kernel.json").read_text())
            facts["jupyter_session"] = f"/work/{name}.ipynb"
            (runtime / f"kernel-{name}-1.json").write_text(json.dumps(facts))
        yield made[0], made[1]
    finally:
        for each in made:
            each.close()


def test_the_official_client(kernels: tuple[Kernel, Kernel], tmp_path: Path) -> None:
    """Tools and their parameters are listed; each kernel is asked by its name, idle or busy; what cannot be
    asked is an error that the assistant reads; secrets are masked; nothing has run in the kernels."""
    import anyio
    from mcp import Client, MCPError, StdioServerParameters, stdio_client

    one, two = kernels
    one.run("frame = {'a': [1.5]}\napi_token = 'swordfish-9'\nlong = list(range(200))")
    two.run("other = 'two'")
    environment = {**os.environ, "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}
    parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environment)

    async def asks() -> None:
        async with Client(stdio_client(parameters)) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            for name in ("kernels", "context", "variable", "cells"):
                assert tools[name].annotations is not None
                assert tools[name].annotations.read_only_hint

            async def said(tool: str, error: bool = False, **arguments: Any) -> str:
                result = await client.call_tool(tool, arguments)
                assert result.is_error is error, result
                (part,) = result.content
                text: str = part.text
                assert "swordfish" not in text
                return text

            listed = (await said("kernels")).splitlines()
            assert sorted(listed) == [
                f"{name}-1  idle  python  python3  /work/{name}.ipynb" for name in ("one", "two")
            ]
            assert "2 kernels run: name one of" in await said("context", error=True)
            text = await said("context", kernel="one.ipynb")
            assert "frame: dict = {'a': [1.5]}\n" in text
            assert "api_token: str = [masked]\n" in text
            assert await said("context", kernel="two", names=["other"]) == "other: str = 'two'\n"
            found = json.loads(await said("context", kernel="one", code="frame[b]", form="json"))
            assert [row["name"] for row in found["variables"]] == ["frame"]
            assert found["not_in_the_kernel"] == ["b"]
            assert "160 more" in await said("context", kernel="one", names=["long"])
            assert "198, 199]" in await said("variable", kernel="one", name="long")
            assert "api_token = '[masked]'" in await said("cells", kernel="one")
            wrong: list[tuple[str, dict[str, Any], str]] = [
                ("context", {"kernel": "three"}, "unknown kernel 'three'. The kernels are: "),
                ("context", {"kernel": "two", "names": ["frame"]}, "unknown variable 'frame'"),
                ("context", {"token": 5}, "'token' was unexpected). Parameters: kernel, names, code, tokens"),
                ("context", {"tokens": -1}, "tokens: -1 is less than the minimum of 0"),
                ("context", {"names": "frame"}, "names: 'frame' is not of type 'array'"),
                (
                    "context",
                    {"kernel": "two", "names": ["other"], "code": "other"},
                    "give either names or code",
                ),
                ("variable", {"kernel": "two"}, "'name' is a required property"),
                ("variable", {"kernel": "two", "name": "other.upper()"}, "must be the name of a variable"),
                ("cells", {"kernel": "two", "last": 0}, "last: 0 is less than the minimum of 1"),
            ]
            for tool, arguments, problem in wrong:
                assert problem in await said(tool, error=True, **arguments)
            with pytest.raises(MCPError, match=r"unknown tool 'run'\. The tools are kernels, context"):
                await client.call_tool("run", {"code": "1"})
            cell = busy(two, tmp_path, "other = 3")
            text = await said("context", error=not has_subshells(), kernel="two", names=["other"])
            if has_subshells():
                assert text == "(a cell is running: values may be from different moments)\nother: int = 3\n"
            release(tmp_path)
            assert two.wait(cell).reply["execution_count"] == 2

    anyio.run(asks)
    for kernel in kernels:
        assert kernel.run("'deskcheck' in globals()", store_history=False).reply["status"] == "ok"
    assert one.run("1").reply["execution_count"] == 2


def test_frames(bare: Kernel, tmp_path: Path) -> None:
    """Without a library: requests and replies of the protocol, revision 2025-06-18, one JSON-RPC object on each
    line, and nothing else on standard output; the server ends with its input."""
    pytest.importorskip("mcp", reason=REASON)
    bare.run("x = 'ä'\nprint('noise')")
    process = subprocess.Popen(
        [*COMMAND, "--kernel", str(tmp_path / "kernel.json")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    put, get = process.stdin, process.stdout
    assert put is not None
    assert get is not None

    def send(**message: Any) -> None:
        put.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        put.flush()

    def asked(number: int, method: str, **params: Any) -> Any:
        send(id=number, method=method, params=params)
        reply = json.loads(get.readline())
        assert (reply.pop("jsonrpc"), reply.pop("id")) == ("2.0", number)
        return reply

    try:
        client = {"name": "by hand", "version": "1"}
        found = asked(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)[
            "result"
        ]
        assert found["protocolVersion"] == "2025-06-18"
        assert [*found["capabilities"]] == ["tools"]
        assert found["serverInfo"]["name"] == "deskcheck"
        send(method="notifications/initialized")
        tools = asked(2, "tools/list")["result"]["tools"]
        assert [tool["name"] for tool in tools[:4]] == ["kernels", "context", "variable", "cells"]
        assert all(tool["inputSchema"]["type"] == "object" for tool in tools)
        called = asked(3, "tools/call", name="context", arguments={"names": ["x"]})["result"]
        assert called["content"] == [{"type": "text", "text": "x: str = 'ä'\n"}]
        assert not called.get("isError")
        called = asked(4, "tools/call", name="variable", arguments={"name": "y"})["result"]
        assert called["isError"] is True
        assert called["content"][0]["text"].startswith("unknown variable 'y'")
        assert asked(5, "tools/call", name="none", arguments={})["error"]["code"] == -32602
        assert asked(6, "ping")["result"] == {}
        put.close()
        assert get.read() == ""
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        get.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "serving assistants needs the package mcp, which is not installed"),
        (["--kernel", "none.json"], "none.json: cannot be read (No such file or directory)"),
    ],
)
def test_what_cannot_be_served(options: list[str], said: str, tmp_path: Path) -> None:
    """It is said in a line, and standard output, where the protocol is spoken, stays empty."""
    if options:
        pytest.importorskip("mcp", reason=REASON)
    hidden = "import sys; sys.modules['mcp'] = None; " if not options else ""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{hidden}from deskcheck.cli import main; main()",
            "notebooks",
            "mcp",
            *options,
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
