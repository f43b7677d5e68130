"""The functions of a recorded program, their calls of each other, and the results of their calls.

The graph has the functions at the top level of the program that ran in the main thread. It is made from the
recording; the source only gives the places of functions.
"""

import ast
import json
from dataclasses import dataclass, field

from deskcheck.recording import Kind, Recording, render
from deskcheck.recording.program import code_lines
from deskcheck.sources.text.python import quiet_parse

SHOWN_CALLS = 4
"""Number of stored calls of a function: the first ones, and the last."""
SHOWN_VALUE_CHARS = 300


@dataclass(slots=True)
class RecordedFunction:
    """A function at the top level of a program."""

    name: str
    callees: list[str] = field(default_factory=list)
    """The functions that it called, in the order of their first calls."""
    calls: list[str] = field(default_factory=list)
    """The stored calls, each as ``f(x=1) -> 2`` or with the exception that left it."""
    count: int = 0
    """Number of all calls."""

    def note(self, call: str) -> None:
        """Adds a call."""
        self.count += 1
        if len(self.calls) == SHOWN_CALLS:
            self.calls.pop()
        self.calls.append(call)


def functions_of(code: str) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions at the top level of a program by name. Later ones replace those of the same name."""
    try:
        body = quiet_parse(code).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return {}
    return {node.name: node for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


def call_graph(recording: Recording) -> dict[str, RecordedFunction]:
    """The functions that ran, by name, in the order in which they were first called."""
    top_level = functions_of(recording.program.code)
    graph: dict[str, RecordedFunction] = {}
    names: dict[int, str] = {}
    begun: dict[int, str] = {}
    for event in recording.trace:
        name = event.function.partition(".")[0]
        if event.file != recording.program.filename or name not in top_level:
            continue
        if event.kind is Kind.CALL:
            names[event.frame] = name
            caller = json.loads(event.row.caller)["frame"] if event.row.caller else None
            if event.function == name:  # not a function inside of one
                graph.setdefault(name, RecordedFunction(name))
                arguments = ", ".join(f"{key}={_text(value)}" for key, value in event.locals.items())
                begun[event.frame] = f"{name}({arguments})"
                above = names.get(caller) if caller is not None else None
                if above is not None and above != name and name not in graph[above].callees:
                    graph[above].callees.append(name)
        elif event.kind is Kind.RETURN and event.frame in begun:
            value = "" if event.value is None else _text(event.value)
            graph[name].note(f"{begun.pop(event.frame)} -> {value}")
        elif event.kind is Kind.UNWIND and event.frame in begun:
            graph[name].note(f"{begun.pop(event.frame)} is left by an exception")
    for frame, call in begun.items():
        graph[names[frame]].note(f"{call} did not end")
    return graph


def _text(value: object) -> str:
    text = render(value)  # type: ignore[arg-type]
    return text if len(text) <= SHOWN_VALUE_CHARS else text[:SHOWN_VALUE_CHARS] + "..."


def bottom_up(graph: dict[str, RecordedFunction]) -> list[str]:
    """The functions in an order in which callees come before their callers.

    In a cycle, the function that was called first is last.
    """
    order: list[str] = []
    visited: set[str] = set()
    for start in graph:
        stack = [(start, iter(graph[start].callees))] if start not in visited else []
        visited.add(start)
        while stack:
            name, callees = stack[-1]
            following = next((callee for callee in callees if callee not in visited), None)
            if following is None:
                order.append(name)
                stack.pop()
            else:
                visited.add(following)
                stack.append((following, iter(graph[following].callees)))
    return order


def source_of(code: str, name: str) -> str:
    """The text of a function with its decorators; empty if there is no such function."""
    node = functions_of(code).get(name)
    if node is None or node.end_lineno is None:
        return ""
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return "\n".join(code_lines(code)[first - 1 : node.end_lineno])


def with_function(code: str, name: str, text: str) -> str:
    """A program with a new text for one of its functions. The whole text replaces the function.

    The program is unchanged if the text does not define the function.
    """
    node = functions_of(code).get(name)
    if node is None or node.end_lineno is None or name not in functions_of(text):
        return code
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    lines = code_lines(code)
    return "\n".join([*lines[: first - 1], *code_lines(text.strip("\n")), *lines[node.end_lineno :]])
