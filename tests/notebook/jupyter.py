"""A real Jupyter server with the extension, and what stands in the notebooks that it serves."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.notebook.books import book, code

WAIT_S = 120.0
"""For anything that a server, a kernel or a page has to do on a busy machine; nothing waits longer than it takes."""


def until(true: Callable[[], Any], what: str) -> Any:
    """What `true` gives as soon as it gives something."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        found = true()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"not within {WAIT_S:g} s: {what}")


def content(cells: Sequence[tuple[str, str]], minor: int = 5) -> dict[str, Any]:
    """A notebook of (id, source), as a file holds it; cells have ids from nbformat 4.5 on."""
    made = [code(source) | ({"id": id_} if minor >= 5 else {}) for id_, source in cells]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return book(*made, minor=minor, metadata={"kernelspec": spec})


class Server:
    """A Jupyter server that runs from construction until it is stopped, and requests to it.

    program: module to run, ``jupyter_server`` or ``jupyterlab``. home: all that it writes lies below. root:
    folder of the notebooks, by default home. environment: variables beside those of this process.
    """

    def __init__(
        self,
        home: Path,
        *options: str,
        program: str = "jupyter_server",
        root: Path | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.home = home
        variables = {
            **os.environ,
            "HOME": str(home),
            "IPYTHONDIR": str(home / "ipython"),
            "JUPYTER_CONFIG_DIR": str(home / "config"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
            "JUPYTER_TOKEN": "token",
            **(environment or {}),
        }
        command = [sys.executable, "-m", program, "--no-browser", "--allow-root", "--ip=127.0.0.1"]
        command += ["--port=0", f"--ServerApp.root_dir={root or home}"]
        command += ["--ServerApp.jpserver_extensions={'deskcheck': True}"]
        with open(home / "log", "ab") as log:
            self.process = subprocess.Popen(
                [*command, *options], env=variables, stdout=log, stderr=log, cwd=home
            )
        try:
            until(self._url, "the server can be reached")
        except BaseException:
            self.kill()
            raise

    def _url(self) -> str | None:
        assert self.process.poll() is None, self.log
        try:
            facts = json.loads((self.home / "runtime" / f"jpserver-{self.process.pid}.json").read_text())
            self.url = str(facts["url"])
            self.ask("GET", "status")
        except (OSError, ValueError):  # it is neither written nor listening at once
            return None
        return self.url

    @property
    def log(self) -> str:
        return (self.home / "log").read_text()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """What the REST interface answers."""
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self.url}api/{path}", data, {"Authorization": "token token"}, method=method)
        with urlopen(request, timeout=WAIT_S) as reply:
            text = reply.read()
        return json.loads(text) if text else None

    def stop(self) -> None:
        """End it as Ctrl-C and systemd do, and wait for that."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(WAIT_S)
        finally:
            self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
