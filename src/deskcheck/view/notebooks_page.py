"""The report of a check of notebooks as a page: one HTML file that needs nothing else, in light and dark.

It has no script. What stands in notebooks is text in it: escaped, with an escape for every character that
does not print; its Content-Security-Policy allows its own style and nothing besides.
"""

import html
import platform
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from deskcheck._version import __version__
from deskcheck.notebook.check.check import (
    CellReport,
    CellStatus,
    NotebookReport,
    NotebookStatus,
    Report,
)
from deskcheck.notebook.check.diff import DiffRow
from deskcheck.view.notebooks import below, common_folder, reason, unconfined, verdict, word
from deskcheck.view.page import BASE_STYLE, digest, visible

_COLOURS = {
    "same": "#17794f",
    "normalised": "#4f9a72",
    "no_stored_output": "#66717d",
    "different": "#d98e04",
    "not_repeatable": "#8e5bd0",
    "confined": "#1f7a8c",
    "failed": "#c8323c",
    "timed_out": "#8f4a1f",
    "not_run": "#9aa5b1",
    "unreadable": "#a3305f",
    "no_kernel": "#4a6285",
    "harness_error": "#5a1f8f",
}
_LIGHT = ("normalised", "different", "not_run")
"""Of these colours white does not stand out."""
_RULE = (
    "A cell is the same if its standard output, the text/plain of each result and display in order, and "
    "class and message of an exception are what is stored, character by character, and there are as many "
    "images. "
    "Pixels, HTML, standard error, tracebacks and times are not compared."
)
_MEANING = {
    "same": "gives what is stored",
    "normalised": "gives what is stored after the normalisers that are named",
    "no_stored_output": "ran; nothing is stored to compare it with",
    "different": "gives something else, in every fresh run",
    "not_repeatable": "fresh runs differ",
    "confined": "a limit or rule of the sandbox affected it; the notebook may be right",
    "failed": "an exception that is not stored leaves it, or the kernel died",
    "timed_out": "stopped at a limit",
    "not_run": "the time was over before, or its tag says so",
    "unreadable": "the file is incomplete, or is not a notebook",
    "no_kernel": "for another language than the kernel",
    "harness_error": "deskcheck itself failed on it, or it ended the process that ran it, three times",
}
_SOURCE_LINES = 30
_LINE_CHARS = 300

_STYLE = (
    "\n"
    + BASE_STYLE
    + """.bar { display: block; width: 100%; height: 1.1rem; border-radius: .3rem; background: var(--line); }
.bar.small { height: .55rem; width: 9rem; flex: none; align-self: center; }
.tally { display: grid; grid-template-columns: 5rem 1fr; gap: .5rem 1rem; align-items: center;
  margin: 1rem 0 .75rem; }
.filters { display: flex; flex-wrap: wrap; gap: .35rem .9rem; }
.filters label { cursor: pointer; white-space: nowrap; }
.key { display: inline-block; width: .75rem; height: .75rem; border-radius: .2rem; vertical-align: -1px;
  margin-right: .3rem; }
.badge { border-radius: .25rem; padding: 0 .45rem; font-size: .8rem; line-height: 1.35rem;
  white-space: nowrap;
  display: inline-block; min-width: 7.3rem; text-align: center; flex: none; }
.columns { display: grid; gap: 0 2.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); }
table { border-collapse: collapse; width: 100%; } th { text-align: left; font-weight: 600;
  color: var(--soft); }
td, th { padding: .15rem .6rem .15rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
details.nb { border: 1px solid var(--line); border-radius: .4rem; margin: .4rem 0; }
details.nb > summary { display: flex; gap: .75rem; align-items: center; padding: .4rem .7rem;
  cursor: pointer; list-style: none; }
details.nb > summary::-webkit-details-marker { display: none; }
details.nb[open] > summary { border-bottom: 1px solid var(--line); background: var(--wash); }
h2, p, td:first-child, .path, .why { overflow-wrap: anywhere; }
.path { flex: 1; } .counts { color: var(--soft); font-size: .85rem;
  text-align: right; }
.inside { padding: .4rem .8rem .8rem; }
.cell { border-top: 1px solid var(--line); padding: .45rem 0; } .cell:first-child { border: 0; }
.cell > .head { display: flex; gap: .75rem; align-items: baseline; } .where { color: var(--soft);
  width: 7.5rem; flex: none; }
pre { margin: .4rem 0 0; padding: .5rem .7rem; background: var(--wash); border-radius: .3rem;
  overflow-x: auto;
  font: 12.5px/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.diff { padding: .3rem 0; } .diff span.r { display: block; padding: 0 .7rem; white-space: pre;
  min-width: fit-content; }
.diff .minus { background: var(--minus); } .diff .plus { background: var(--plus); }
  .diff .what { color: var(--soft); }
.minus mark { background: var(--minus-mark); color: inherit; } .plus mark { background: var(--plus-mark);
  color: inherit; }
details > summary.soft { cursor: pointer; }
:focus-visible { outline: 2px solid #3b7ddd; outline-offset: 1px; }
@media (max-width: 40rem) { body { padding: 1rem .9rem 3rem; } .tally { grid-template-columns: auto 1fr; }
  details.nb > summary, .cell > .head { flex-wrap: wrap; gap: .2rem .75rem; } .bar.small { display: none; }
  .counts { flex-basis: 100%; text-align: left; } .where { width: auto; } .path { min-width: 60%; } }
@media print { details.nb:not([open]) > :not(summary) { display: none; } }
"""
)


def notebooks_page(report: Report) -> str:
    """The report as HTML. Sources and outputs are shown as text: nothing of a notebook runs or is loaded."""
    said = f"{verdict(report)} notebooks reproduce"
    stored = report.by_status[NotebookStatus.NO_STORED_OUTPUT]
    nothing = f"{stored} had nothing stored that they could be compared with · " if stored else ""
    python = report.environment.python if report.environment else platform.python_version()
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC · deskcheck {__version__} · Python {python}"
    runs = "one fresh run" if report.runs == 1 else f"up to {report.runs} fresh runs"
    where = ", in a sandbox without a network"
    if report.kernel is not None:
        where = f". {unconfined(report.kernel)}"
    folder = common_folder(report)
    policy = "default-src 'none'; base-uri 'none'; form-action 'none'"
    style = _STYLE + "".join(_status_style())
    meanings = (f"<tr><td>{_badge(name)}</td><td>{text}</td></tr>" for name, text in _MEANING.items())
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}; style-src {digest(style)}">
<title>{said}</title><style>{style}</style></head><body><main>
<h1>{said}</h1>
<p class="facts">{nothing}{made} · {runs} of each{_text(where)}</p>
<div class="tally"><span>notebooks</span>{_bar(report.by_status.items())}
<span>cells</span>{_bar(report.cells.items())}</div>
<div class="filters"><span class="soft">show (notebooks · cells)</span>{"".join(_filters(report))}</div>
<div class="columns">{"".join(_tables(report))}</div>
<h2>Notebooks <span class="soft">in {_text(folder)}</span></h2>
{"".join(_notebook(notebook, folder) for notebook in report.notebooks)}
<h2>What is compared</h2><p>{_RULE} The guide &ldquo;Check whether notebooks reproduce&rdquo; describes
the normalisers. Used were: {", ".join(report.normalisers) or "none"}.</p>
<table>{"".join(meanings)}</table>
</main></body></html>
"""


def _text(text: object) -> str:
    return html.escape(visible(str(text), lines=True), quote=True)


def _badge(status: str) -> str:
    return f'<span class="badge c-{status}">{word(status)}</span>'


def _bar(counted: Iterable[tuple[str, int]], kind: str = "") -> str:
    """How many of which status, as lengths. Not as styles of elements, which the policy forbids."""
    counts, parts, start = dict(counted), "", 0
    for name in _COLOURS:
        if count := counts.get(name, 0):
            shape = f'class="c-{name}" x="{start}" width="{count}" height="1"'
            parts += f"<rect {shape}><title>{count} {word(name)}</title></rect>"
            start += count
    said = ", ".join(f"{counts[name]} {word(name)}" for name in _COLOURS if counts.get(name))
    return (
        f'<svg class="bar {kind}" viewBox="0 0 {start or 1} 1" preserveAspectRatio="none" role="img" '
        f'aria-label="{said or "none"}">{parts}</svg>'
    )


def _filters(report: Report) -> Iterator[str]:
    notebooks, cells = report.by_status, report.cells
    for name in _COLOURS:
        a = notebooks[NotebookStatus(name)] if name in {*NotebookStatus} else 0
        b = cells[CellStatus(name)] if name in {*CellStatus} else 0
        if a or b:
            yield (
                f'<label title="{_MEANING[name]}"><input type="checkbox" id="f-{name}" checked>'
                f'<span class="key c-{name}"></span>{word(name)} '
                f'<span class="soft">{a} · {b}</span></label>'
            )


def _status_style() -> Iterator[str]:
    for name, colour in _COLOURS.items():
        ink = "#14181d" if name in _LIGHT else "#fff"
        yield f".c-{name} {{ background: {colour}; fill: {colour}; color: {ink}; }}\n"
    for name in NotebookStatus:
        yield f"body:has(#f-{name}:not(:checked)) .s-{name} {{ display: none; }}\n"


def _tables(report: Report) -> Iterator[str]:
    if report.failures:
        rows = [(_text(category), first, cells) for category, first, cells in report.failures]
        yield _table("Why cells fail", ("exception", "first in notebooks", "cells"), rows)
    if report.missing_modules:
        modules = [(_text(name), count) for name, count in report.missing_modules.most_common(20)]
        yield _table("Modules that are not there", ("module", "notebooks"), modules)
    if report.fired:
        fired = [(_text(name), count) for name, count in report.fired.most_common()]
        yield _table("The same after normalisers", ("normaliser", "cells"), fired)


def _table(title: str, heads: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    head = f"<th>{heads[0]}</th>" + "".join(f'<th class="n">{name}</th>' for name in heads[1:])
    body = "".join(
        f"<tr><td>{row[0]}</td>"
        + "".join(f'<td class="n">{number or ""}</td>' for number in row[1:])
        + "</tr>"
        for row in rows
    )
    return f"<section><h2>{title}</h2><table><tr>{head}</tr>{body}</table></section>"


def _notebook(notebook: NotebookReport, folder: str) -> str:
    counts = ", ".join(f"{n} {word(status)}" for status, n in notebook.counts.most_common())
    notes = [text for text in (notebook.detail, *notebook.notes) if text]
    said = "".join(f'<p class="soft">{_text(text)}</p>' for text in notes)
    counts += f" · {notebook.seconds:.1f} s"
    path = _text(below(notebook.path, folder))
    nothing = (CellStatus.SAME, CellStatus.NO_STORED_OUTPUT)
    quiet = [cell for cell in notebook.cells if cell.status in nothing and cell.note is None]
    rest = [cell for cell in notebook.cells if cell not in quiet]
    alike = ""
    for status in nothing:
        numbers = [cell.number for cell in quiet if cell.status is status]
        if numbers:
            alike += f'<p class="soft">{word(status)}: cells {_numbers(numbers)}</p>'
    return f"""<details class="nb s-{notebook.status}"><summary>{_badge(notebook.status)}
<span class="path">{path}</span><span class="counts">{counts}</span>
{_bar(notebook.counts.items(), "small")}</summary>
<div class="inside">{said}{"".join(map(_cell, rest))}{alike}</div></details>
"""


def _numbers(numbers: list[int]) -> str:
    """``1-3, 7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def _cell(cell: CellReport) -> str:
    count = f" [{cell.count}]" if cell.count is not None else ""
    lines = cell.source.splitlines()
    more = f"\n... {len(lines) - _SOURCE_LINES} more lines" if len(lines) > _SOURCE_LINES else ""
    source = _text("\n".join(map(_bounded, lines[:_SOURCE_LINES])) + more)
    diff = _pre("what differs", "".join(map(_row, cell.diff)), "diff") if cell.diff else ""
    return f"""<div class="cell"><div class="head"><span class="where">cell {cell.number}{count}</span>
{_badge(cell.status)}<span class="why">{_text(reason(cell))}</span></div>
<details><summary class="soft">source</summary>{_pre("source", source)}</details>{diff}</div>
"""


def _bounded(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else line[: _LINE_CHARS - 1] + "…"


def _pre(label: str, text: str, kind: str = "") -> str:
    """Text that keys can scroll."""
    return f'<pre class="{kind}" role="group" tabindex="0" aria-label="{label}">{text}</pre>'


_SIDES = {"-": "minus", "+": "plus", "@": "what", " ": ""}


def _row(row: DiffRow) -> str:
    text = row.text
    if row.changed is not None:
        start, end = row.changed
        text = f"{_text(text[:start])}<mark>{_text(text[start:end])}</mark>{_text(text[end:])}"
    else:
        text = _text(text)
    side = " " if row.side == "@" else row.side
    return f'<span class="r {_SIDES[row.side]}">{side} {text}</span>'
