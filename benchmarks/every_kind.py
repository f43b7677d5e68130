"""One project's own tests, asked in every kind of question, by four models that need no network.

    pip download --no-deps --no-binary :all: cachetools==8.0.2 -d sdists
    python -m benchmarks.every_kind sdists/cachetools-8.0.2.tar.gz --out runs/every-kind \
        --page docs/explanation/every-kind.md

A source distribution or a folder. Its tests run and their calls are recorded in OUT/recorded; the answers
are in OUT/asked and OUT/asked-nano. The same command goes on with the answers, and reads what it has
recorded: tests that pass addresses as arguments would add other calls each time.

The models: the oracle, which knows the answers; the oracle with faults at a stated rate; the best guess
without looking at the program; and nano, which is trained on single steps of other programs. Exit status 1
where the oracle is not right everywhere, or the oracle with faults is off its rate by more than four standard
errors.
"""

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.projects import unpacked
from deskcheck import SuiteSettings
from deskcheck.ask import AskSettings, Generation, Result, Sampling, ask
from deskcheck.ask.questions.questions import QUESTIONS
from deskcheck.ask.results.statistics import bounds_text
from deskcheck.recorder.suite import find_suite, record_suite
from deskcheck.recording.reader import Recordings

RATE = 0.05
"""Of the answers of ``deskcheck/erring`` so many are wrong."""
SURE = 4
"""Standard errors: beyond them lies one run in 16,000, by chance."""
MODELS = ("deskcheck/oracle", "deskcheck/erring", "deskcheck/guess")
NANO = "taught/nano"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.every_kind",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("project", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/every-kind"))
    parser.add_argument("--limit", type=int, default=200, help="samples of each kind")
    parser.add_argument("--nano", type=int, default=10, help="samples of each kind that nano is asked")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", type=Path, help="write the page here, too")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    folder = given.project if given.project.is_dir() else unpacked(given.project, given.out)
    recorded = given.out / "recorded"
    ran = _ran(folder, recorded, given.out / "recorded.json", given.seed)
    results = _asked(recorded, MODELS, given.limit, given.seed, given.out / "asked")
    nano = _asked(recorded, (NANO,), given.nano, given.seed, given.out / "asked-nano")
    text = page(folder.name, recorded, ran, [*results, *nano], given.limit, given.nano, given.seed)
    print(text)
    if given.page:
        given.page.write_text(text, encoding="utf-8")
    faults = [*_faults(results)]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def _ran(folder: Path, recorded: Path, told: Path, seed: int) -> dict[str, Any]:
    """What the tests came to, in the words of `SuiteSummary`: they run once."""
    if not told.exists():
        summary = record_suite(find_suite(str(folder)), recorded, SuiteSettings(seed=seed))
        told.write_text(json.dumps({"tests": summary.tests, "functions": summary.functions}))
    found: dict[str, Any] = json.loads(told.read_text())
    return found


def _asked(recorded: Path, models: Sequence[str], limit: int, seed: int, out: Path) -> list[Result]:
    settings = AskSettings(
        sampling=Sampling(limit=limit, seed=seed), generation=Generation(max_tokens=256, seed=seed)
    )
    return ask(recorded, [*QUESTIONS], models, out=out, settings=settings)


def _faults(results: Iterable[Result]) -> Iterable[str]:
    for result in results:
        if result.model == "deskcheck/oracle" and result.score is not None and result.score < 1:
            yield f"{result.question}: the oracle scores {result.score:.3f}"
    erring = [r for r in results if r.model == "deskcheck/erring" and r.score is not None]
    count = sum(r.n for r in erring)
    if count:
        share = sum(r.score * r.n for r in erring if r.score is not None) / count
        if abs(share - (1 - RATE)) > SURE * math.sqrt(RATE * (1 - RATE) / count):
            yield f"with a rate of {RATE} the oracle with faults is right in {share:.3f} of {count}"


def page(
    name: str,
    recorded: Path,
    ran: dict[str, Any],
    results: Sequence[Result],
    limit: int,
    nano: int,
    seed: int,
) -> str:
    recordings = Recordings(recorded)
    outcomes = Counter(str(recording.outcome) for recording in recordings)
    by_kind: dict[str, dict[str, Result]] = {}
    for result in results:
        by_kind.setdefault(result.question, {})[result.model] = result
    asked = {kind: found for kind, found in by_kind.items() if found[MODELS[0]].n}
    total = sum(found[MODELS[0]].n for found in asked.values())
    share = sum((found[MODELS[1]].score or 0) * found[MODELS[1]].n for found in asked.values()) / total
    passed = ", ".join(f"{count} {outcome}" for outcome, count in sorted(ran["tests"].items()))
    kept = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    lines = [
        "# One project, every question",
        "",
        "This page shows the result of asking every kind of question about one project: how many",
        "questions of each kind there are, how models that need no network answer them, and why some",
        "recordings are not asked about. It is for people who plan a private benchmark of a project. The",
        f"recordings are of the calls that the tests of {name} make. This command makes recordings",
        "and questions from the project's source distribution:",
        "",
        f"    python -m benchmarks.every_kind {name}.tar.gz --limit {limit} --nano {nano} --seed {seed}",
        "",
        f"Tests: {passed}.",
        f"Recorded: {sum(outcomes.values())} calls of {ran['functions']} functions ({kept}).",
        f"{total} questions of {len(asked)} kinds.",
        "",
        "## Scores",
        "",
        "The share of right answers, with its 95 % interval, clustered by program.",
        "",
        "- `oracle` answers from the recording.",
        f"- `erring` is the oracle with faults in {100 * RATE:g} % of its answers. Of all its answers",
        f"  here, the share {share:.3f} is right. So scoring neither forgives wrong answers nor loses",
        "  right ones.",
        "- `guess` is a cheap baseline: it looks at the question and not at the program. If it is far",
        "  above 0, the kind has few possible answers: True or False, or one of some lines. Compare your",
        "  model's score with it.",
        "- `nano` is the small model that comes with deskcheck. It was trained on single steps of other",
        f"  programs. It is asked at most {nano} questions of each kind.",
        "",
        "| kind | questions | functions | `oracle` | `erring` | `guess` | `nano` |",
        "|---|---:|---:|---|---|---|---|",
    ]
    for kind, found in asked.items():
        first = found[MODELS[0]]
        scores = " | ".join(_score(found.get(model)) for model in (*MODELS, NANO))
        lines.append(f"| `{kind}` | {first.n} | {first.programs} | {scores} |")
    lines += [
        "",
        "## What was not asked",
        "",
        "For each kind, the number of recordings without a question of this kind, by reason. In the",
        'reasons, "it" is the call.',
        "",
        "| kind | number of recordings and reason |",
        "|---|---|",
    ]
    for kind, found in by_kind.items():
        excluded = sorted(found[MODELS[0]].excluded.items(), key=lambda each: -each[1])
        lines.append(
            f"| `{kind}` | {'; '.join(f'{count} {reason}' for reason, count in excluded) or 'none'} |"
        )
    return "\n".join(lines) + "\n"


def _score(result: Result | None) -> str:
    if result is None or result.score is None:
        return "not asked"
    return f"{result.score:.3f} ({bounds_text(result.low, result.high, form='.2f')})"


if __name__ == "__main__":
    sys.exit(main())
