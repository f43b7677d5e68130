"""The tools of the MCP server, as data and functions.

Those for kernels only read variables, and secrets are masked in the kernel. Those for recordings are in
`recordings`: the two that record run code, in the sandbox.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskcheck.errors import DeskcheckError, InputError
from deskcheck.notebook.jupyter.comm import MOST_TOKENS
from deskcheck.view.assistant import recordings
from deskcheck.view.assistant.asking import Asker, Reply
from deskcheck.view.assistant.running import RunningKernel, chosen, conditions, kernels_here, kernels_of

_BESIDE = "(a cell is running: values may be from different moments)\n"
_TOO_FEW = "There are too few tokens to show anything.\n"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the server."""

    about: str
    """Description for the assistant."""
    schema: dict[str, Any]
    """JSON Schema 2020-12 of the parameters."""
    call: Callable[["Tools", Mapping[str, Any]], str]
    """Function of the tools and the parameters."""
    runs_code: bool = False


class Tools:
    """The tools for some kernels, and for the recordings of a folder.

    files: connection files of the kernels; without files, all kernels of the user. Raises InputError for a
    file that is not a connection file.
    """

    def __init__(self, files: Sequence[Path] = (), recorded: recordings.RecordingTools | None = None) -> None:
        kernels_of(files)
        self._files = files
        self._asker = Asker()
        self.recorded = recorded or recordings.RecordingTools()

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The result of a tool, for parameters that fit its schema. Raises DeskcheckError."""
        return TOOLS[name].call(self, arguments)

    def there(self) -> list[RunningKernel]:
        return kernels_of(self._files) if self._files else kernels_here()

    def ask(self, kernel: str | None, question: Mapping[str, Any]) -> Reply:
        return self._asker.ask(chosen(self.there(), kernel).file, question)


def _kernels(tools: Tools, arguments: Mapping[str, Any]) -> str:
    return "\n".join(kernel.line() for kernel in conditions(tools.there())) or "No kernel runs."


def _context(tools: Tools, arguments: Mapping[str, Any]) -> str:
    question = {part: arguments.get(part) for part in ("names", "code", "form")}
    reply = tools.ask(
        arguments.get("kernel"), question | {"ask": "context", "budget": arguments.get("tokens", 2000)}
    )
    context = reply.data["context"]
    if isinstance(context, dict):
        beside = {"beside_a_cell": True} if reply.beside else {}
        return json.dumps(context | beside, ensure_ascii=False)
    if arguments.get("code") is None:
        nothing = "The kernel has no variables, or there are too few tokens to show one.\n"
    else:
        nothing = "This code needs no variables of the kernel, or is not valid Python.\n"
    return _with_warning(context or nothing, reply)


def _variable(tools: Tools, arguments: Mapping[str, Any]) -> str:
    question = {"ask": "variable", "name": arguments["name"], "budget": arguments.get("tokens", 4000)}
    reply = tools.ask(arguments.get("kernel"), question)
    return _with_warning(reply.data["context"] or _TOO_FEW, reply)


def _cells(tools: Tools, arguments: Mapping[str, Any]) -> str:
    question = {"ask": "cells", "last": arguments.get("last", 20), "budget": arguments.get("tokens", 2000)}
    reply = tools.ask(arguments.get("kernel"), question)
    cells = reply.data["cells"]
    if not cells["cells"] and not cells["left_out"]:
        return "No cell has run in this kernel.\n"
    more = f"\n({cells['left_out']} cells before: no room for them)\n" if cells["left_out"] else ""
    return _with_warning(cells["text"] + more, reply)


def _with_warning(text: str, reply: Reply) -> str:
    return (_BESIDE if reply.beside else "") + text


_KERNEL = {
    "type": "string",
    "description": "Its id or the beginning of it, or the file name of its notebook. Not needed if only one "
    "kernel runs.",
}
_NAME = {"type": "string", "minLength": 1, "description": "The name of a variable."}


def _tokens(default: int, minimum: int = 0) -> dict[str, Any]:
    about = "Maximum number of tokens, estimated."
    bounds = {"minimum": minimum, "maximum": MOST_TOKENS, "default": default}
    return {"type": "integer", **bounds, "description": about}


def _schema(required: Sequence[str] = (), **parameters: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": parameters, "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


def _on_recordings(function: Callable[[recordings.RecordingTools, Mapping[str, Any]], str]) -> Any:
    def call(tools: Tools, arguments: Mapping[str, Any]) -> str:
        try:
            return function(tools.recorded, arguments)
        except DeskcheckError as error:  # it may name values of the program
            raise InputError(tools.recorded.answer(iter([str(error)]), 500, "")) from error

    return call


def _integer(about: str, minimum: int = 0, **more: Any) -> dict[str, Any]:
    return {"type": "integer", "minimum": minimum, "description": about, **more}


def _text(about: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": about, **more}


_TEXTS = {"type": "array", "items": {"type": "string"}}
_RECORDING = _text("Its id, such as r1; or a folder of recordings, FOLDER or FOLDER::ID.", minLength=1)
_ABOUT_ONE = {"recording": _RECORDING, "thread": _integer("0 is the main one.", default=0)}

TOOLS = {
    "kernels": Tool(
        "List the user's Jupyter kernels, one a line: id, state, language, kernelspec, notebook.",
        _schema(),
        _kernels,
    ),
    "context": Tool(
        "Describe the variables that a kernel holds now: types, shapes, columns, values, signatures of "
        "functions, imports. Without names and code: all variables, the newest first.",
        _schema(
            kernel=_KERNEL,
            names={
                "type": "array",
                "items": _NAME,
                "description": "Only these variables, in this order. Not together with code.",
            },
            code={
                "type": "string",
                "description": "Only the variables that this code needs, and the names that it lacks. It is "
                "not run.",
            },
            tokens=_tokens(2000),
            form={"type": "string", "enum": ["text", "json"], "default": "text"},
        ),
        _context,
    ),
    "variable": Tool(
        "Describe one variable of a kernel in more depth: more elements, longer texts, deeper objects.",
        _schema(["name"], name=_NAME, kernel=_KERNEL, tokens=_tokens(4000)),
        _variable,
    ),
    "cells": Tool(
        "Show the code of the cells that ran last in a kernel, the oldest first. Their outputs are not kept.",
        _schema(
            kernel=_KERNEL,
            last={
                "type": "integer",
                "minimum": 1,
                "maximum": 1000,
                "default": 20,
                "description": "How many cells.",
            },
            tokens=_tokens(2000),
        ),
        _cells,
    ),
    "record_script": Tool(
        "Run a Python program in the sandbox and record every line with all values. Says how it ended, and "
        "the values where its last exception was raised. Then ask `why`.",
        _schema(
            ["program"],
            program=_text("A file, FILE.py or FILE.pyz, in the server's folder; or the name of a module."),
            module={"type": "boolean", "default": False, "description": "Run it as python -m does."},
            arguments={**_TEXTS, "description": "Its arguments."},
            stdin=_text("Its standard input."),
            tokens=_tokens(600, 100),
        ),
        _on_recordings(recordings.record_script),
        runs_code=True,
    ),
    "record_test": Tool(
        "Run one test with pytest in the sandbox and record it, like record_script.",
        _schema(
            ["test"],
            test=_text("Its id, tests/test_x.py::test_name[parameter].", minLength=1),
            tokens=_tokens(600, 100),
        ),
        _on_recordings(recordings.record_test),
        runs_code=True,
    ),
    "outline": Tool(
        "Show the calls of a recording as a tree, with arguments, results and numbers of events.",
        _schema(
            ["recording"],
            **_ABOUT_ONE,
            event=_integer("Only the call that begins at this event."),
            depth=_integer("Levels of nested calls. By default as many as fit.", 1),
            tokens=_tokens(1000, 100),
        ),
        _on_recordings(recordings.outline),
    ),
    "state_at": Tool(
        "Show where the program was at an event, and the values of all names there.",
        _schema(
            ["recording", "event"],
            **_ABOUT_ONE,
            event=_integer("Number of the event."),
            names={**_TEXTS, "description": "Only these names, with longer values."},
            tokens=_tokens(1000, 100),
        ),
        _on_recordings(recordings.state_at),
    ),
    "why": Tool(
        "Explain a value: the line that last changed it, the values that this line read, the conditions that "
        "let it run, and so on. Without expression and event: the last exception, such as a failed assert. "
        "A line: expression = value  @event file:line `code`; indented below it is what it read.",
        _schema(
            ["recording"],
            **_ABOUT_ONE,
            expression=_text("A name, attribute or item: total, cart.items[0].price.", minLength=1),
            event=_integer("The event to look at. Without expression: what this event returned or raised."),
            steps=_integer("Length of the chain.", 1, maximum=200, default=12),
            tokens=_tokens(1000, 100),
        ),
        _on_recordings(recordings.why_value),
    ),
    "find": Tool(
        "Find events. Give one of expression, changes, calls, exceptions, output. No code runs for it.",
        _schema(
            ["recording"],
            **_ABOUT_ONE,
            expression=_text("Events where this holds: 'x is None and len(items) > 3'."),
            changes=_text("Events that change this name, attribute or item."),
            calls=_text("Calls of a function: f, 'f(3)', 'Cart.add(..., n=2)'."),
            exceptions={"type": "boolean", "description": "Events that raised an exception."},
            output=_text("Events before which the program had written this text."),
            max_matches=_integer("Places to list.", 1, default=10),
            tokens=_tokens(1000, 100),
        ),
        _on_recordings(recordings.find),
    ),
    "diff": Tool(
        "Show where two recordings part, and the values that differ there: a passed and a failed test, or a "
        "program before and after a change.",
        _schema(
            ["a", "b"],
            a=_RECORDING,
            b=_RECORDING,
            thread=_integer("0 is the main one.", default=0),
            max_partings=_integer("Places to show.", 1, default=3),
            tokens=_tokens(1000, 100),
        ),
        _on_recordings(recordings.difference),
    ),
    "source": Tool(
        "Show the recorded text of a file, with the number of times that each line ran.",
        _schema(
            ["recording"],
            **_ABOUT_ONE,
            file=_text("Its name in the recording; by default the program."),
            first=_integer("First line.", 1),
            last=_integer("Last line.", 1),
            tokens=_tokens(1500, 100),
        ),
        _on_recordings(recordings.source),
    ),
}
