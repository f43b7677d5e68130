"""The tools of the MCP server, as data and functions.

They only read variables: code of an assistant is never run. Secrets are masked in the kernel.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskcheck.notebook.jupyter.comm import MOST_TOKENS
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


class Tools:
    """The tools for some kernels.

    files: connection files of the kernels; without files, all kernels of the user. Raises InputError for a
    file that is not a connection file.
    """

    def __init__(self, files: Sequence[Path] = ()) -> None:
        kernels_of(files)
        self._files = files
        self._asker = Asker()

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


def _tokens(default: int) -> dict[str, Any]:
    about = "Maximum number of tokens, estimated."
    bounds = {"minimum": 0, "maximum": MOST_TOKENS, "default": default}
    return {"type": "integer", **bounds, "description": about}


def _schema(required: Sequence[str] = (), **parameters: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": parameters, "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


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
}
