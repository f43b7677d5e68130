"""Tables of figures as text: for a page, and as Markdown, LaTeX and CSV for a paper or a spreadsheet."""

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

Entry = str | int | float | None


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column of a table. Columns are compared by identity, because users may give two the same name."""

    name: str
    format: str = ""
    """Format specification of numbers; empty for text."""
    unknown: str = "-"
    """Text for None."""

    @property
    def number(self) -> bool:
        return bool(self.format)

    def shown(self, entry: Entry) -> str:
        """An entry as text."""
        if entry is None:
            return self.unknown
        return format(entry, self.format) if self.format and not isinstance(entry, str) else str(entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table with a note that explains it."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[Entry, ...]]
    note: str = ""

    def without(self, columns: Collection[Column]) -> "Sheet":
        """The table without these columns."""
        remaining = [number for number, column in enumerate(self.columns) if column not in columns]
        return replace(
            self,
            columns=tuple(self.columns[number] for number in remaining),
            rows=[tuple(row[number] for number in remaining) for row in self.rows],
        )

    def shown(self) -> list[list[str]]:
        """The rows as texts."""
        return [
            [column.shown(entry) for column, entry in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def markdown(self) -> str:
        """A table in the Markdown of GitHub."""
        heads = [_markdown(column.name) for column in self.columns]
        rule = ["---:" if column.number else "---" for column in self.columns]
        rows = [[_markdown(text) for text in row] for row in self.shown()]
        return "".join(f"| {' | '.join(row)} |\n" for row in [heads, rule, *rows])

    def latex(self) -> str:
        """A ``tabular`` with the rules of the package booktabs."""
        columns = "".join("r" if column.number else "l" for column in self.columns)
        heads = [_latex(column.name) for column in self.columns]
        lines = [f"\\begin{{tabular}}{{{columns}}}", "\\toprule", f"{' & '.join(heads)} \\\\", "\\midrule"]
        lines += [f"{' & '.join(map(_latex, row))} \\\\" for row in self.shown()]
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])

    def csv(self) -> str:
        """CSV (RFC 4180): numbers with all their digits, empty fields for None."""
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow([_cell(column.name) for column in self.columns])
        writer.writerows([["" if entry is None else _cell(entry) for entry in row] for row in self.rows])
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """The data for a page: the shown table, and the texts to copy."""
        return {
            "name": self.name,
            "title": self.title,
            "note": self.note,
            "heads": [column.name for column in self.columns],
            "numbers": [column.number for column in self.columns],
            "rows": self.shown(),
            "markdown": self.markdown(),
            "latex": self.latex(),
            "csv": self.csv(),
        }


def _line(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def _markdown(text: str) -> str:
    for character in "\\|`*_<>[]":
        text = text.replace(character, "\\" + character)
    return _line(text)


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: "\\" + character for character in "&%$#_{}"},
    # After the end of a row these would be arguments of it.
    "[": "{[}",
    "*": "{*}",
}


def _latex(text: str) -> str:
    return _line("".join(_LATEX.get(character, character) for character in text))


def _cell(entry: Entry) -> Entry:
    """Text that a spreadsheet would take for a formula gets an apostrophe (OWASP, CSV injection)."""
    dangerous = isinstance(entry, str) and entry[:1] in ("=", "+", "-", "@", "\t", "\r")
    return f"'{entry}" if dangerous else entry
