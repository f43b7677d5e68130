"""The figures of `benchmarks.execution_tuning` as a page: what was taught, what was right."""

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import pyarrow.parquet as pq

from benchmarks._execution import LENGTHS, METHODS, Answered, family_of, nearest_length, tokens_of_lesson
from benchmarks._page import machine, published, table
from deskcheck.ask.results.statistics import Interval, bounds_text, mean_interval, paired_difference
from deskcheck.notation import Divergence, moments
from deskcheck.notation.edits import edit_text, names_of
from deskcheck.notation.forms.dynamic import transitions
from deskcheck.notation.layout import asked_state, program_text, step_prompt
from deskcheck.recording.reader import Recordings
from deskcheck.teach.small.batches import read_texts, shards

BEGIN, END = "<!-- figures: written by benchmarks/execution_tuning.py -->", "<!-- end of the figures -->"
LONG = 500
"""Runs of more line events are long executions."""
_PROGRAMS = 3
"""An interval is given where so many programs have right answers, and so many wrong ones."""


def page(folder: Path, options: argparse.Namespace) -> None:
    """Tables and plots of what came out, between the marks of --publish, if that is given."""
    rows, far = _answered(folder, "asked"), _answered(folder, "far")
    beside = options.publish.parent if options.publish else folder
    usual = _usual(folder)
    parts = [_trained(folder, options), _told(folder)]
    for seen, what in (
        (True, "Texts that were trained, other inputs"),
        (False, "Texts that were not trained"),
    ):
        some = [row for row in rows if row.seen is seen]
        plot = beside / f"execution-tuning-{'seen' if seen else 'unseen'}.svg"
        _plot(some, plot)
        parts += [
            f"### {what}",
            f"![Share of right results over the length of the run, by notation]({plot.name})",
            _accuracy(some),
            _by_family(some, usual),
            _fitting(some),
            _runs(some),
            _steps(some),
            _difference(some),
        ]
    if far:
        parts += ["### Far beyond the lengths that were taught", _far(far)]
    text = "\n\n".join([*filter(None, parts), f"Machine: {machine()}."]) + "\n"
    if options.publish:
        options.publish.write_text(published(text, options.publish, BEGIN, END), encoding="utf-8")
    else:
        print(text)


def _answered(folder: Path, name: str) -> list[Answered]:
    files = sorted(folder.glob(f"{name}-*.json"))
    return [Answered.from_dict(row) for file in files for row in json.loads(file.read_text())]


# -- what was taught ---------------------------------------------------------------------------------


def _trained(folder: Path, options: argparse.Namespace) -> str:
    """How much each notation was read, how long that took, and the loss it came to."""
    lines = []
    for method in METHODS:
        answered = sorted(folder.glob(f"asked-{method}-*.json"))
        models = [folder / file.stem.replace("asked", "model", 1) for file in answered]
        if not models:
            continue
        kept = json.loads((folder / f"lessons-{method}" / "lessons.json").read_text())["summary"]["kept"]
        lessons = kept["train"][method]["lessons"]
        ends = [
            [json.loads(line) for line in (model / "metrics.jsonl").read_text().splitlines()[-5:]]
            for model in models
        ]
        run = json.loads((models[0] / "run.json").read_text())["training"]
        read = run["steps"] * run["rows"]
        tokens = read * tokens_of_lesson(folder / f"lessons-{method}", min(run["rows"], run["each"]))
        lines.append(
            [
                method,
                str(len(models)),
                str(lessons),
                f"{read / lessons:.0f}",
                f"{tokens / 1e6:.1f}",
                str(run["steps"]),
                _range([end[-1]["seconds"] / 60 for end in ends], ".0f"),
                _range([fmean(point["loss"] for point in end) for end in ends], ".3f"),
            ]
        )
    head = [
        *("notation", "models", "lessons", "times each was read", "million tokens read"),
        *("updates", "minutes", "loss in the end"),
    ]
    return (
        f"{table(head, lines)}\n\nLoss: nats a token of the answer, mean of the last five points of the "
        "curve."
    )


def _told(folder: Path) -> str:
    """How many lessons each family gave, and how many steps of the asked runs were among them."""
    known = _taught_steps(folder)
    lessons = {
        method: Counter(
            family_of(run) for file in shards(folder / f"lessons-{method}") for run in _programs(file)
        )
        for method in METHODS
    }
    runs = Counter(family_of(one.id) for one in Recordings(folder / "trained"))
    lines = [
        [
            family,
            str(runs[family]),
            *[str(lessons[method].get(family, 0)) for method in METHODS],
            f"{known[family]:.2f}" if family in known else "",
        ]
        for family in sorted(runs)
    ]
    return (
        f"{table(['lessons, by family', 'runs', *METHODS, 'steps taught'], lines)}\n\n"
        "A whole trace of more bytes than the budget gives no lesson. Steps taught: the share of the steps "
        "of asked runs, of texts that were trained, of which a lesson of `dynamic` told the same: what the "
        "line reads, and what it does."
    )


def _programs(file: Path) -> list[str]:
    found: list[str] = pq.read_table(file, columns=["program"])["program"].to_pylist()
    return found


def _taught_steps(folder: Path) -> Mapping[str, float]:
    """Of each family, the share of the steps of the asked runs that are in the lessons of `dynamic`."""
    taught = {
        (program, *_step(prompt, completion))
        for file in shards(folder / "lessons-dynamic")
        for program, prompt, completion in read_texts(file, "train")
    }
    texts = {program for program, *_ in taught}
    steps: Counter[str] = Counter()
    known: Counter[str] = Counter()
    for one in Recordings(folder / "asked"):
        program, code = program_text(one.program), one.program.code.splitlines()
        if program not in texts:
            continue
        for before, after in transitions(moments(one.trace, file=one.program.filename)):
            steps[family_of(one.id)] += 1
            known[family_of(one.id)] += (program, *_step(step_prompt(code, before), after)) in taught
    return {family: known[family] / count for family, count in steps.items()}


def _step(prompt: str, completion: str) -> tuple[str, str]:
    """A line with what it reads, and what it does, as `teach.tokens.Edits` tells both."""
    state = asked_state(prompt)
    assert state is not None, "a lesson of dynamic asks about a state"
    line = prompt[len(state) + 1 :].rpartition("+")[0]
    return line + names_of(state, line), edit_text(state, completion, line)


def _usual(folder: Path) -> Mapping[str, set[str]]:
    """Of each family, the asked runs whose result is the most frequent one of the runs that were taught."""
    results: dict[str, Counter[str | None]] = {}
    for one in Recordings(folder / "trained"):
        results.setdefault(family_of(one.id), Counter())[one.run_result.result] += 1
    most = {family: counts.most_common(1)[0][0] for family, counts in results.items()}
    found: dict[str, set[str]] = {family: set() for family in most}
    for one in Recordings(folder / "asked"):
        if one.run_result.result == most[family_of(one.id)]:
            found[family_of(one.id)].add(one.id)
    return found


# -- results -----------------------------------------------------------------------------------------


def _range(values: Sequence[float], form: str) -> str:
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def _interval(rows: Sequence[Answered]) -> Interval | None:
    """Of the share that is right, clustered by program; None where too few programs have any right, or any
    wrong: so few say nothing about others."""
    some = [len({row.program for row in rows if row.right is right}) for right in (True, False)]
    if min(some) < _PROGRAMS:
        return None
    return mean_interval([float(row.right) for row in rows], [row.program for row in rows])


def _mean(rows: Sequence[Answered]) -> float:
    return fmean(row.right for row in rows)


def _shown(rows: Sequence[Answered]) -> str:
    found = _interval(rows)
    if found is None:
        return f"{sum(row.right for row in rows)} of {len(rows)}"
    return f"{found.value:.2f} ({bounds_text(found.low, found.high, form='.2f', between='-')})"


def _accuracy(rows: Sequence[Answered]) -> str:
    lines = []
    for method in METHODS:
        mine = [row for row in rows if row.method == method]
        if not mine:
            continue
        by_length = [[row for row in mine if nearest_length(row.steps) == events] for events in LENGTHS]
        lines.append([method, *[_shown(some) if some else "" for some in by_length], _shown(mine)])
    return (
        f"{table(['result right, by line events', *map(str, LENGTHS), 'all'], lines)}\n\n"
        "Of all seeds. Intervals are of another program of this kind, the seeds taken as given; where fewer "
        f"than {_PROGRAMS} programs have any right, counts stand in their place."
    )


def _by_family(rows: Sequence[Answered], usual: Mapping[str, set[str]]) -> str:
    lines = []
    for family in sorted({row.family for row in rows}):
        cells = []
        for method in METHODS:
            mine = [row for row in rows if (row.method, row.family) == (method, family)]
            seeds = sorted({row.seed for row in mine})
            by_seed = [_mean([row for row in mine if row.seed == seed]) for seed in seeds]
            spread = f" ({min(by_seed):.2f}-{max(by_seed):.2f})" if any(by_seed) else ""
            cells.append(f"{_mean(mine):.2f}{spread}" if mine else "")
        runs = {row.run for row in rows if row.family == family}
        lines.append([family, str(len(runs)), f"{len(runs & usual[family]) / len(runs):.2f}", *cells])
    return (
        f"{table(['result right, by family', 'runs', 'most frequent', *METHODS], lines)}\n\n"
        "Mean, least and most of the seeds. Most frequent: always the result that most of the taught runs "
        "have."
    )


def _fitting(rows: Sequence[Answered]) -> str:
    """The same runs for every notation: those whose `scratchpad` fits."""
    fits = {row.run for row in rows if row.method == "scratchpad" and row.ran is not None}
    lines = []
    for method in METHODS:
        mine = [row for row in rows if row.method == method and row.run in fits]
        if mine:
            whole = "" if method == "direct" else f"{fmean(row.whole for row in mine):.2f}"
            lines.append([method, _shown(mine), whole])
    if not lines:
        return ""
    families = len({row.family for row in rows if row.run in fits})
    head = [f"the {len(fits)} runs, of {families} families, that all can tell", "result right", "every state"]
    return table(head, lines)


def _runs(rows: Sequence[Answered]) -> str:
    lines = []
    for method in METHODS[1:]:
        mine = [row for row in rows if row.method == method and row.ran is not None]
        if not mine:
            continue
        kinds = Counter(row.ran.agreement.first.value for row in mine if row.ran and row.ran.agreement.first)
        half = _half(mine)
        lines.append(
            [
                method,
                _times(mine),
                str(sum(row.whole for row in mine)),
                str(sum(row.right and not row.whole for row in mine)),
                "more than half" if half is None else str(half),
                ", ".join([f"{kind} {count}" for kind, count in kinds.most_common()]),
            ]
        )
    head = [
        *(
            "runs that fit",
            "asked",
            "every state right",
            "the result alone",
            "steps until half had a mistake",
        ),
        "first mistakes",
    ]
    return (
        f"{table(head, lines)}\n\nSteps until half had a mistake: Kaplan-Meier's median of the steps before "
        "the first; a run that is right tells of its steps and no more."
    )


def _half(rows: Sequence[Answered]) -> int | None:
    """Kaplan and Meier's median: the steps after which half of the runs have had a mistake, runs that ended
    without one taken out where they end. None: it is never half of them."""
    ends = [
        (row.ran.agreement.exact, row.ran.agreement.first not in (None, Divergence.BUDGET))
        for row in rows
        if row.ran
    ]
    alive = 1.0
    for steps in sorted({steps for steps, wrong in ends if wrong}):
        still = sum(end >= steps for end, _ in ends)
        alive *= 1 - sum(wrong and end == steps for end, wrong in ends) / still
        if alive <= 0.5:
            return steps
    return None


def _steps(rows: Sequence[Answered]) -> str:
    """Steps by family: pooled, they would be those of the family whose runs go on longest."""
    lines = []
    for family in sorted({row.family for row in rows}):
        cells = []
        for method in METHODS[1:]:
            mine = [row.ran for row in rows if (row.method, row.family) == (method, family) and row.ran]
            judged = sum(ran.agreement.judged for ran in mine)
            right = sum(ran.agreement.exact for ran in mine)
            longest = max((ran.agreement.exact for ran in mine), default=0)
            cells.append(f"{right / judged:.4f}; {longest}" if judged else "")
        lines.append([family, *cells])
    return (
        f"{table(['steps right; longest exact run', *METHODS[1:]], lines)}\n\n"
        "Steps right: of those up to the first mistake, which they hold."
    )


def _far(rows: Sequence[Answered]) -> str:
    lines = []
    for family in sorted({row.family for row in rows}):
        mine = sorted((row for row in rows if row.family == family), key=lambda row: row.seed)
        exact = [str(row.ran.agreement.exact) for row in mine if row.ran]
        lines.append([family, str(mine[0].steps), ", ".join(exact)])
    return table(["one run, text trained", "steps", "exact from its start, by seed"], lines)


def _difference(rows: Sequence[Answered]) -> str:
    """Dynamic against direct on long executions, the same runs and seeds."""
    scores: dict[str, dict[str, float]] = {"direct": {}, "dynamic": {}}
    clusters: dict[str, str] = {}
    by_key: dict[str, Answered] = {}
    for row in rows:
        if row.steps > LONG and row.method in scores:
            key = f"{row.run} {row.seed}"
            scores[row.method][key] = float(row.right)
            clusters[key], by_key[key] = row.program, row
    both = sorted(scores["direct"].keys() & scores["dynamic"].keys())  # of seeds that both have
    if not both:
        return f"No runs of more than {LONG} line events were asked about with both."
    first, second = ({key: scores[method][key] for key in both} for method in ("direct", "dynamic"))
    gained = paired_difference(first, second, {key: clusters[key] for key in both})
    bounds = bounds_text(gained.low, gained.high, form=".0%")
    return (
        f"Runs of more than {LONG} line events, {_times([by_key[key] for key in both])}: with dynamic "
        f"{100 * gained.value:.0f} points more are right than with direct (95 % interval: {bounds}, "
        "clustered by program)."
    )


def _times(rows: Sequence[Answered]) -> str:
    return f"{len({row.run for row in rows})} x {len({row.seed for row in rows})} seeds"


_COLOURS = {"direct": "#888888", "scratchpad": "#d95f02", "compact": "#7570b3", "dynamic": "#1b9e77"}


def _plot(rows: Sequence[Answered], file: Path) -> None:
    """Share of right results over the length of the run, on a logarithmic axis, with 95 % intervals where
    the table has them."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "deskcheck"  # the same figures give the same file
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for place, method in enumerate(METHODS):
        at, values, below, above = [], [], [], []
        for events in LENGTHS:
            some = [row for row in rows if row.method == method and nearest_length(row.steps) == events]
            if some:
                found = _interval(some)
                at.append(events * 1.03 ** (place - 1.5))  # beside one another
                values.append(_mean(some))
                low, high = (None, None) if found is None else (found.low, found.high)
                below.append(0.0 if low is None else values[-1] - low)
                above.append(0.0 if high is None else high - values[-1])
        axes.errorbar(at, values, (below, above), label=method, color=_COLOURS[method], marker="o", capsize=3)
    axes.set(xscale="log", xlabel="line events of the run", ylabel="result right", ylim=(-0.03, 1.03))
    axes.set_xticks(LENGTHS, [str(events) for events in LENGTHS])
    axes.minorticks_off()
    axes.legend(frameon=False)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)
