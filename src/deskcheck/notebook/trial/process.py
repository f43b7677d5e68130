"""The process in which cells are tried out: IPython's shell without a kernel, in a session of the sandbox.

A kernel has threads and sockets, which a fork does not keep. Here outputs go to a list, and the report of a
cell is the value of the piece that ran it (`trial.Trials`). Widgets, comms and `input` raise.
"""

import base64
import builtins
import hashlib
import importlib
import io
import json
import os
import signal
import sys
import time
from dataclasses import replace
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from deskcheck.notebook.kernel.cell import Collected
from deskcheck.notebook.kernel.commands import run_command
from deskcheck.notebook.kernel.folders import HOME, copy_below_root, home_of_ipython, interpreter_on_path
from deskcheck.notebook.state.capture import Capture, StateLimits
from deskcheck.notebook.state.digests import codes
from deskcheck.notebook.state.settings import LibrarySetting, changed, read_settings
from deskcheck.notebook.trajectory.trajectory import to_dict
from deskcheck.sandbox.decoder import GOES_ON, Message

_WAITING_CHARS = 1 << 16
"""Characters of printed text that are collected before they become an output."""
_FILE_BYTES = 16 << 20
"""Maximum size of a file that is hashed."""

_shell: "_Shell"
_capture: Capture
_settings: dict[str, LibrarySetting] = {}
"""Settings of the loaded libraries after the last cell."""


def begin(settings: dict[str, Any]) -> None:
    """Make the shell. settings: see `trial.Trials`."""
    global _shell, _capture, _settings
    interpreter_on_path()
    home_of_ipython()
    os.environ["IPYTHONDIR"] = os.path.abspath(".ipython")
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # as ipykernel does
    # A fork loses threads.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["JE_ARROW_MALLOC_CONF"] = "background_thread:false"  # pyarrow's, which pandas imports
    copy_below_root(settings["folder"], None, HOME)
    os.makedirs(os.path.join(HOME, settings["inside"]), exist_ok=True)
    os.chdir(os.path.join(HOME, settings["inside"]))
    builtins.input = _input
    config = Config()
    config.HistoryManager.enabled = False  # it would have a thread
    _shell = _Shell.instance(config=config)
    _shell.colors = "nocolor"
    _capture = Capture(StateLimits(**settings["state"]))
    for name in ("stdout", "stderr"):
        setattr(sys, name, _Stream(name, _shell.cell_outputs))
    _capture.after_cell(_shell.user_ns, _shell.user_ns_hidden, "")
    for module in settings["modules"]:
        importlib.import_module(module)
    _settings = read_settings(_shell.user_ns)


def cell(source: str, wall_s: float, chars: int) -> str:
    """Run a cell. Returns its report as JSON: `status`, `outputs`, `state`, `inside`, `aliases`, `settings`,
    `late`."""
    global _settings
    vars(builtins).pop("_", None)  # the session's; IPython has its own, unless it finds one there
    outputs = _shell.cell_outputs
    outputs.begin(chars)
    late = False

    def stop(number: int, frame: Any) -> None:
        nonlocal late
        late = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, wall_s)
    began = time.perf_counter()
    try:
        result = _shell.run_cell(source, store_history=True)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    took = time.perf_counter() - began
    names = _shell.user_ns
    state = _capture.after_cell(names, _shell.user_ns_hidden, source)
    inside = {name: code for name in state["variables"] if (code := codes(names[name], names)) is not None}
    settings_before, _settings = _settings, read_settings(names)
    settings = changed(settings_before, _settings)
    return json.dumps(
        {
            "status": "ok" if result.success else "error",
            "late": late,
            "wall_s": round(took, 6),
            "outputs": outputs.outputs(),
            "state": state,
            "inside": inside,
            "aliases": _aliases(),
            "settings": {name: [s.value, s.incidental, s.new] for name, s in settings.items()},
        },
        default=repr,
    )


def digests(paths: list[str]) -> str:
    """Digests of files below the program's folder, as JSON. null: the file cannot be read, or is large."""
    by_path: dict[str, str | None] = {}
    above = os.environ["HOME"]
    for path in paths:
        try:
            with open(os.path.join(above, path), "rb") as stream:
                content = stream.read(_FILE_BYTES + 1)
        except OSError:
            by_path[path] = None
            continue
        complete = len(content) <= _FILE_BYTES
        by_path[path] = hashlib.blake2b(content, digest_size=12).hexdigest() if complete else None
    return json.dumps(by_path)


def _aliases() -> list[list[str]]:
    """Groups of two and more names of one object."""
    groups: dict[int, list[str]] = {}
    for name, variable in _capture._last_seen.items():
        if variable.group is not None:
            groups.setdefault(variable.group, []).append(name)
    return [sorted(names) for names in groups.values() if len(names) > 1]


class _Shown:
    """The outputs of the running cell, bounded like those of a kernel."""

    def __init__(self) -> None:
        self.begin(0)

    def begin(self, chars: int) -> None:
        self._collected = Collected(chars)
        self._printed: list[str] = []
        self._stream, self._waiting = "", 0

    def stream(self, name: str, text: str) -> None:
        if name != self._stream or self._waiting > _WAITING_CHARS:
            self._pass_on()
        self._stream = name
        self._waiting += len(text)
        self._printed.append(text)

    def take(self, kind: str, **content: Any) -> None:
        """Add the output that a kernel would send as a message of this kind."""
        self._pass_on()
        self._collected.take(Message(kind, None, content))

    def display(self, kind: str, data: dict[str, Any], metadata: Any, **more: Any) -> None:
        plain = {m: base64.b64encode(v).decode() if isinstance(v, bytes) else v for m, v in data.items()}
        self.take(kind, data=plain, metadata=dict(metadata or {}), **more)

    def outputs(self) -> list[dict[str, Any]]:
        """All outputs, in the form of `trajectory.Output`."""
        self._pass_on()
        return [to_dict(replace(output, at_s=None)) for output in self._collected.outputs]

    def _pass_on(self) -> None:
        if self._printed:
            content = {"name": self._stream, "text": "".join(self._printed), GOES_ON: True}
            self._printed, self._waiting = [], 0
            self._collected.take(Message("stream", None, content))


class _Stream(io.TextIOBase):
    """Standard output or error of the cells. The caller sees text that is written to its descriptor."""

    encoding = "utf-8"
    errors = "strict"

    def __init__(self, name: str, outputs: _Shown) -> None:
        self.name = f"<{name}>"
        self._stream = name
        self._outputs = outputs

    def write(self, text: str, /) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text)}")
        self._outputs.stream(self._stream, text)
        return len(text)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1 if self._stream == "stdout" else 2


class _Results(DisplayHook):  # type: ignore[misc]
    """Adds results of cells to the outputs."""

    shell: Any

    def write_output_prompt(self) -> None:
        return

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        outputs: _Shown = self.shell.cell_outputs
        outputs.display("execute_result", format_dict, md_dict, execution_count=self.prompt_count)

    def finish_displayhook(self) -> None:
        return


class _Displays(DisplayPublisher):  # type: ignore[misc]
    shell: Any

    def publish(self, data: Any, metadata: Any = None, *arguments: Any, **named: Any) -> None:
        kind = "update_display_data" if named.get("update") else "display_data"
        display_id = (named.get("transient") or {}).get("display_id")
        text = None if display_id is None else str(display_id)
        self.shell.cell_outputs.display(kind, data, metadata, transient={"display_id": text})

    def clear_output(self, wait: bool = False) -> None:
        self.shell.cell_outputs.take("clear_output", wait=wait)


class _Shell(InteractiveShell):  # type: ignore[misc]
    displayhook_class = _Results
    display_pub_class = _Displays

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.cell_outputs = _Shown()
        super().__init__(*arguments, **named)
        self.system = lambda command: run_command(self, command)

    def enable_gui(self, gui: Any = None) -> None:
        """Plots are displays, without windows."""

    def ask_exit(self) -> None:
        """End the process: ``exit`` ends a kernel, too."""
        os._exit(0)

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        try:
            value = str(evalue)
        except BaseException as error:  # noqa: BLE001  # the cell's own exception class: whatever it raises
            value = f"<no text: {type(error).__name__}>"
        trace = [self.InteractiveTB.stb2text(stb)]
        self.cell_outputs.take("error", ename=etype.__name__, evalue=value, traceback=trace)


def _input(prompt: object = "", /) -> str:
    raise StdinNotImplementedError(  # what ipykernel says to a client that does not answer
        "raw_input was called, but this frontend does not support input requests."
    )
