"""The tables of Themisto (arXiv:2504.12365), small: by commands, with paired differences and intervals.

    make paper-themisto [NOTEBOOKS=FOLDER] [MODEL=NAME]
    python -m benchmarks.paper_themisto FOLDER [--notebooks FOLDER] [--model NAME]

Without notebooks, scripted people work on small tables: they write cells, execute them, edit them, execute
them again, and make mistakes. What they do is a log in the form of JuNE, from which Themisto was made.
deskcheck executes it anew, at least twice, and asks. By default baselines answer, which need no network.
"""

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks._commands import run
from deskcheck.ask.results.logs import read_logs
from deskcheck.view.report.themisto import themisto_sheets

VIEWS = "none,used,full,time,memory,history"
MODELS = ("deskcheck/guess", "deskcheck/copy")
_NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ida", "Jo")


def recordings(folder: Path, options: argparse.Namespace) -> None:
    """Notebooks, executed anew; `--sandbox trusted` is for our own code alone."""
    if options.notebooks:
        run("record", f"notebooks:{options.notebooks}", "--out", f"{folder}/notebooks")
        return
    log = folder / "log.jsonl"
    if not log.exists():
        folder.mkdir(parents=True, exist_ok=True)
        events = [
            event
            for seed in range(options.seeds)
            for person in range(4)
            for event in _session(folder, seed, person)
        ]
        log.write_text("".join([json.dumps(event) + "\n" for event in events]))
    run("record", f"june:{log}", "--out", f"{folder}/notebooks", "--sandbox", "trusted")


def _session(folder: Path, seed: int, person: int) -> Iterator[dict[str, object]]:
    """A person's work on a table of people, as events of the recorder."""
    chance = random.Random(f"{seed} {person}")
    name, count = f"people-{seed}-{person}", 0
    rows = [(chance.choice(_NAMES), chance.randrange(18, 80)) for _ in range(chance.randrange(20, 60))]
    (folder / f"{name}.csv").write_text("name,age\n" + "".join([f"{n},{age}\n" for n, age in rows]))

    def event(kind: str, cell: str, source: str) -> dict[str, object]:
        nonlocal count
        count += 1
        return {
            "time": f"2026-01-0{seed + 1}T10:{count // 60:02d}:{count % 60:02d}.000Z",
            "kernel_id": name,
            "notebook_name": f"{name}.ipynb",
            "session_id": name,
            "event": kind,
            "cell_index": cell,
            "cell_num": int(cell[1:]),
            "cell_source": source,
            "cell_type": "code",
            "cell_output": None,
        }

    made: set[str] = set()
    for number, source in _work(chance, str((folder / f"{name}.csv").resolve())):
        cell = f"c{number}"
        if cell not in made:
            made.add(cell)
            yield event("create", cell, "")
        yield event("execute", cell, source)
        yield event("finished_execute", cell, source)


def _work(chance: random.Random, file: str) -> Iterator[tuple[int, str]]:
    """Cell number and source of each execution. The same number again: the cell was edited."""
    limit, start = chance.randrange(25, 60), chance.randrange(3)
    yield 0, "import csv\nimport statistics"
    yield 1, f"rows = list(csv.DictReader(open({file!r})))\nlen(rows)"
    yield 2, "ages = [int(row['age']) for row in rows]\nages[:5]"
    yield 2, "ages = [int(row['age']) for row in rows]\nages[:8]"
    yield 3, f"limit = {limit}\nlimit"
    yield 4, "old = [age for age in ages if age > limit]\nlen(old)"
    yield 3, f"limit = {limit + 5}\nlimit"
    yield 4, "old = [age for age in ages if age > limit]\nlen(old)"
    yield 5, "names = sorted({row['name'] for row in rows})\nnames"
    yield 6, f"print('first', names[{start}], ages[{start}])"
    yield 7, "def share(part):\n    return round(len(part) / len(ages), 2)\nshare(old)"
    rest = [
        (8, "max(ages) - min(ages)"),
        (9, "statistics.mean(ages)"),
        (
            10,
            "by_name = {name: [] for name in names}\nfor row in rows:\n    by_name[row['name']].append(row)",
        ),
        (11, f"ages[{chance.randrange(100, 200)}]"),
        (12, "print('done')"),
        (13, f"sorted(ages)[{start}:{start + 4}]"),
        (14, f"total = {limit} * 2 + 1\ntotal"),
    ]
    chance.shuffle(rest)
    yield from rest
    yield 15, "{name: len(by_name[name]) for name in names[:3]}"
    yield 9, "round(statistics.mean(ages), 1)"
    yield 14, "total = len(ages)\ntotal"
    yield 4, "old = [age for age in ages if age >= limit]\nold[:3]"
    yield 7, "def share(part):\n    return round(len(part) / len(ages), 3)\nshare(old)"


def answers(folder: Path, options: argparse.Namespace) -> None:
    """Every model without runtime information, and with each kind of it."""
    if (folder / "answers" / "results.json").exists():
        return
    models = [part for model in (*MODELS, *options.model) for part in ("--model", model)]
    run(
        *("ask", f"{folder}/notebooks", "--question", "cell_output,next_cell", "--state", VIEWS),
        *(*models, "--out", f"{folder}/answers"),
    )


def page(folder: Path, options: argparse.Namespace) -> None:
    """The tables, as `deskcheck report --table themisto` prints them: into --publish, or printed.

    The second has the view `full` alone.
    """
    logs = read_logs([folder / "answers"])
    table, by_need = themisto_sheets(logs.results)
    sheets = table, replace(by_need, rows=[row for row in by_need.rows if row[2] == "full"])
    what = options.notebooks or f"scripted people, {options.seeds} seeds with 4 notebooks each"
    text = f"# Themisto, small\n\nWritten by `make paper-themisto` ({what}).\n\n" + "\n".join(
        f"## {sheet.title}\n\n{sheet.markdown()}\n{sheet.note}\n" for sheet in sheets
    )
    if options.publish:
        options.publish.write_text(text, encoding="utf-8")
    print(text)


PARTS = {part.__name__: part for part in (recordings, answers, page)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=PARTS, action="append", help="this part alone; may be given again")
    parser.add_argument("--notebooks", default="", metavar="FOLDER", help="yours, instead of scripted people")
    parser.add_argument(
        "--model", action="append", default=[], help="beside the baselines; may be given again"
    )
    parser.add_argument("--seeds", type=int, default=3, help="of scripted people, four each")
    parser.add_argument("--publish", type=Path, metavar="PAGE")
    options = parser.parse_args()
    for part in options.only or PARTS:
        PARTS[part](options.folder, options)


if __name__ == "__main__":
    main()
