"""Changing a piece of a text where its syntax tree says it stands: the rest stays as it was written."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from deskcheck.sources.text.python import quiet_parse


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Characters start to end of a text become `text`."""

    start: int
    end: int
    text: str


def edited(code: str, *edits: TextEdit) -> str:
    """The text with edits that do not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        code = code[: edit.start] + edit.text + code[edit.end :]
    return code


class Places:
    """Where the nodes of a text stand in it.

    tree: of the text. parents: of every node but the module.

    Raises:
        SyntaxError: the text is not Python of this version.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        self.tree = quiet_parse(code)
        self.parents: Mapping[ast.AST, ast.AST] = {
            child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)
        }
        # The parser ends lines at \n, \r and \r\n alone, and counts columns in bytes of UTF-8.
        self._starts = [0]
        self._lines: list[bytes] = []
        for line in code.replace("\r\n", "\n\n").replace("\r", "\n").split("\n"):
            self._lines.append(line.encode("utf-8", "surrogatepass"))
            self._starts.append(self._starts[-1] + len(line) + 1)
        self.exact = "\r" not in code and "\f" not in code
        """Whether positions can be had; a text with odd line ends is left alone."""

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes that a node is in, the nearest first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def at(self, line: int, column: int) -> int:
        """The character at a line (from 1) and a column in bytes."""
        before = self._lines[line - 1][:column].decode("utf-8", "surrogatepass")
        return self._starts[line - 1] + len(before)

    def start(self, node: ast.expr | ast.stmt | ast.arg) -> int:
        return self.at(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.arg) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.at(node.end_lineno, node.end_col_offset)

    def text(self, node: ast.expr | ast.stmt) -> str:
        return self.code[self.start(node) : self.end(node)]

    def replace(self, node: ast.expr | ast.stmt | ast.arg, text: str) -> TextEdit:
        return TextEdit(self.start(node), self.end(node), text)

    def between(self, before: ast.expr, after: ast.expr, old: str, new: str) -> TextEdit | None:
        """The operator `old` that stands between two operands becomes `new`; None where that is not clear
        (a comment between them holds it too)."""
        start, end = self.end(before), self.start(after)
        gap = self.code[start:end]
        if gap.count(old) != 1 or "#" in gap:
            return None
        at = start + gap.index(old)
        return TextEdit(at, at + len(old), new)

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node
