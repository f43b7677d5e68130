"""Changing parts of a program's text at the positions of its syntax tree, without touching the rest."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from deskcheck.sources.text.python import quiet_parse


@dataclass(frozen=True, slots=True)
class TextEdit:
    """A replacement of the characters from `start` to `end` by `text`."""

    start: int
    end: int
    text: str


def edited(code: str, *edits: TextEdit) -> str:
    """The text after the edits, which must not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        code = code[: edit.start] + edit.text + code[edit.end :]
    return code


class Places:
    """The positions of the nodes of a syntax tree in their text.

    tree: the syntax tree. parents: the parent of every node but the module.

    Raises:
        SyntaxError: the text is not Python of this version.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        self.tree = quiet_parse(code)
        self.parents: Mapping[ast.AST, ast.AST] = {
            child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)
        }
        # The parser ends lines only at \n, \r and \r\n, and counts columns in bytes of UTF-8.
        self._starts = [0]
        self._lines: list[bytes] = []
        for line in code.replace("\r\n", "\n\n").replace("\r", "\n").split("\n"):
            self._lines.append(line.encode("utf-8", "surrogatepass"))
            self._starts.append(self._starts[-1] + len(line) + 1)
        self.exact = "\r" not in code and "\f" not in code
        """Whether positions are exact. They are not in a text with unusual line ends."""

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The ancestors of a node, the nearest first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def at(self, line: int, column: int) -> int:
        """The index of the character at a line (from 1) and a column in bytes."""
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
        """Replace the operator `old` between two operands by `new`.

        None if its position is not clear, because a comment between the operands may contain it too.
        """
        start, end = self.end(before), self.start(after)
        gap = self.code[start:end]
        if gap.count(old) != 1 or "#" in gap:
            return None
        offset = start + gap.index(old)
        return TextEdit(offset, offset + len(old), new)

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node
