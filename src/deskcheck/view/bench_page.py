"""A benchmark of a project as a page: one HTML file that needs nothing else, in light and dark.

It has no script. Names, reasons and the texts of failures are text in it: escaped, with an escape for every
character that does not print; its Content-Security-Policy allows its own style and nothing besides.
"""

import html
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby

from deskcheck.ask.questions.questions import QUESTIONS
from deskcheck.ask.results.project_benchmark import QUESTIONS_FILE, RECORDINGS, Benchmark, BenchmarkFunction
from deskcheck.ask.results.statistics import bounds_text, few_clusters
from deskcheck.view.page import BASE_STYLE, digest, visible

_STYLE = (
    BASE_STYLE
    + """
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; color: var(--soft); }
td, th { padding: .15rem .6rem .15rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
pre { margin: .4rem 0 0; padding: .5rem .7rem; background: var(--wash); border-radius: .3rem;
  font: 12.5px/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
main { max-width: 62rem; margin: 0 auto; }
.figures { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr));
  margin: 1.25rem 0; }
.figure { background: var(--wash); border: 1px solid var(--line); border-radius: .5rem;
  padding: .7rem .9rem; }
.figure b { display: block; font-size: 1.5rem; line-height: 1.25; font-variant-numeric: tabular-nums; }
.figure span { color: var(--soft); font-size: .87rem; }
.share { display: block; width: 100%; height: .8rem; border-radius: .3rem; background: var(--line); }
.share rect { fill: #17794f; }
.wide { overflow-x: auto; }
h1, h2, p, summary, td { overflow-wrap: anywhere; } td:first-child { min-width: 9rem; }
td.n, th.n { white-space: nowrap; padding-left: .6rem; }
th.n { overflow-wrap: normal; }
.upright th.n { writing-mode: vertical-rl; transform: rotate(180deg); text-align: left; white-space: nowrap;
  padding: .3rem 0; vertical-align: bottom; }
.upright th { vertical-align: bottom; } .upright td:first-child { min-width: 15rem; }
code { font: .92em/1.4 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.made { font-size: .8rem; color: var(--soft); border: 1px solid var(--line); border-radius: .3rem;
  padding: 0 .35rem; white-space: nowrap; }
.about { display: block; color: var(--soft); }
.bad { color: #b3261e; } .good { color: #17794f; }
@media (prefers-color-scheme: dark) { .bad { color: #f0867d; } .good { color: #6fc99b; }
  .share rect { fill: #3fa577; } }
details { border-top: 1px solid var(--line); padding: .3rem 0; }
summary { cursor: pointer; padding: .15rem 0; }
@media (max-width: 40rem) { body { padding: 1rem .9rem 3rem; } td, th { padding-right: .3rem; }
  table { font-size: .8rem; } td.n, th.n { padding: .15rem 0 .15rem .3rem; }
  th.n { white-space: normal; font-size: .7rem; } td:first-child { min-width: 5.3rem; }
  .upright td:first-child { min-width: 8rem; }
  .about { display: none; } }
"""
)
_FAILING = 100


def bench_page(found: Benchmark) -> str:
    """The benchmark as HTML: what is in it, what was left out and why, how it was made."""
    version = f" {found.version}" if found.version else ""
    title = f"A benchmark of {found.name}{version}"
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC · deskcheck {found.deskcheck}"
    policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src {digest(_STYLE)}"
    body = "\n".join(
        [
            _figures(found),
            _ask(found),
            _kinds(found),
            _in_it(found),
            _left_out(found),
            _tests(found),
            _made(found),
        ]
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{_text(title)}</title><style>{_STYLE}</style></head><body><main>
<h1>{_text(title)}</h1>
<p class="facts">{_text(made)} · Python {_text(found.interpreter.version)} · {_licence(found)}</p>
{body}
</main></body></html>
"""


def _text(text: object) -> str:
    return html.escape(visible(str(text), lines=True), quote=True)


def _licence(found: Benchmark) -> str:
    if found.licence is None:
        return "no licence is stated: whoever has the code may not pass it on"
    return f"licence: {_text(found.licence['name'])}, as {_text(found.licence['where'])} says"


def _figures(found: Benchmark) -> str:
    asked_about, public = found.public
    from_tests, made, _ = found.origins
    share = f"{100 * asked_about / public:.0f} %" if public else "-"
    boxes = [
        (f"{found.samples:,}", "questions"),
        (f"{found.clusters:,}", "functions: the clusters of every interval"),
        (share, f"of public functions: {asked_about} of {public}"),
        *(
            [(f"{made:,}", f"of these with made inputs; {from_tests:,} with calls of the tests")]
            if made
            else []
        ),
        (
            "1.000" if found.right else "below 1",
            "oracle: scoring takes " + ("every" if found.right else "not every") + " stored answer",
        ),
    ]
    shown = "".join(f'<div class="figure"><b>{big}</b><span>{said}</span></div>' for big, said in boxes)
    kinds = [(kind.name, score.effective) for kind in found.kinds if (score := kind.scores.get("oracle"))]
    few = f'<p class="bad">{_text(said)}</p>' if (said := few_clusters(kinds)) else ""
    bar = (
        f'<svg class="share" viewBox="0 0 {public or 1} 1" preserveAspectRatio="none" role="img" '
        f'aria-label="{asked_about} of {public} public functions are asked about">'
        f'<rect x="0" width="{asked_about}" height="1"></rect></svg>'
    )
    return f'<div class="figures">{shown}</div>{bar}{few}'


def _ask(found: Benchmark) -> str:
    folder = found.folder
    asked = f"deskcheck ask {shlex.quote(f'{folder}/{RECORDINGS}')} --question all --model MODEL"
    elsewhere = (
        f"deskcheck offline score {shlex.quote(f'{folder}/{QUESTIONS_FILE}')} ANSWERS --out {folder}/scores"
    )
    return f"""<h2>Ask a model</h2>
<pre>{_text(asked)}</pre>
<p class="soft">To ask models elsewhere, use the prompts in <code>{QUESTIONS_FILE}</code>, and score their
answers with <code>{_text(elsewhere)}</code>. The file also holds the right answers, and the project's source
and values. It is as private as the project.</p>"""


def _table(heads: Iterable[str], rows: Iterable[Iterable[object]], *, upright: bool = False) -> str:
    """A table whose cells are HTML; the first column is text, the others are numbers. upright: many columns,
    whose names are written upwards."""
    head = "".join(f"<th{_number(at)}>{name}</th>" for at, name in enumerate(heads))
    body = "".join(
        "<tr>" + "".join(f"<td{_number(at)}>{cell}</td>" for at, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    kind = ' class="upright"' if upright else ""
    return f'<div class="wide"><table{kind}><tr>{head}</tr>{body}</table></div>'


def _number(at: int) -> str:
    return ' class="n"' if at else ""


def _kinds(found: Benchmark) -> str:
    rows = []
    for kind in found.kinds:
        about = QUESTIONS[kind.name].about
        row: list[object] = [
            f'<b>{_text(kind.name)}</b><span class="about">{_text(about)}</span>',
            kind.samples,
            kind.functions,
        ]
        for name in ("oracle", "guess"):
            score = kind.scores.get(name)
            if score is None:
                row.append("-")
            elif name == "oracle":
                row.append(f'<span class="{"good" if score.value == 1 else "bad"}">{score.value:.3f}</span>')
            else:
                bounds = bounds_text(score.low, score.high, form=".2f", between="–")  # noqa: RUF001
                row.append(f"{score.value:.3f}<br>{bounds}")
        rows.append(row)
    return (
        "<h2>Questions, and the scores of two baselines</h2>"
        + _table(("kind", "questions", "functions", "oracle", "guess, 95 %"), rows)
        + '<p class="soft">The oracle answers with what was recorded: anything but 1 would be a fault of the '
        "scoring; it does not check the recording. Guess reads the prompt and runs nothing: a model "
        "should score above it. Intervals are clustered by function.</p>"
    )


def _in_it(found: Benchmark) -> str:
    inside = [each for each in found.functions if each.samples]
    kinds = [kind.name for kind in found.kinds if any(each.samples.get(kind.name) for each in inside)]
    parts = []
    for module, group in groupby(inside, key=lambda each: each.module):
        functions = list(group)
        questions = sum(sum(each.samples.values()) for each in functions)
        rows = [
            [_name(each), *(each.samples.get(kind, "") for kind in kinds), sum(each.samples.values())]
            for each in functions
        ]
        parts.append(
            f"<details><summary><code>{_text(module)}</code> "
            f'<span class="soft">{_counted(len(functions), "function")}, '
            f"{_counted(questions, 'question')}</span></summary>"
            + _table(("function", *kinds, "all"), rows, upright=True)
            + "</details>"
        )
    private = sum(not each.public for each in inside)
    also = f", {private} of them private ones that tests or other functions call" if private else ""
    made = sum(each.made for each in inside)
    also += f", {made} with made inputs" if made else ""
    return f'<h2>What is in it <span class="soft">{len(inside)} functions{also}</span></h2>' + "".join(parts)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _name(each: BenchmarkFunction) -> str:
    where = f'<br><span class="soft">{_text(each.file)}:{each.line}</span>' if each.file else ""
    made = ' <span class="made">made inputs</span>' if each.made else ""
    return f"<code>{_text(each.name)}</code>{made}{where}"


def _left_out(found: Benchmark) -> str:
    outside = [each for each in found.functions if each.public and not each.samples]
    reasons = Counter(each.why_not for each in outside)
    parts = []
    for reason, count in reasons.most_common():
        names = ", ".join(
            f"<code>{_text(each.module)}.{_text(each.name)}</code>"
            for each in outside
            if each.why_not == reason
        )
        parts.append(
            f"<details><summary>{_text(reason)} "
            f'<span class="soft">{_counted(count, "function")}</span></summary>'
            f"<p>{names}</p></details>"
        )
    calls = [[_text(reason), f"{count:,}"] for reason, count in found.calls_left_out.items()]
    excluded: dict[str, dict[str, int]] = {}
    for kind in found.kinds:
        for reason, count in kind.excluded.items():
            excluded.setdefault(reason, {})[kind.name] = count
    kinds = [kind.name for kind in found.kinds]
    rows = [[_text(reason), *(counts.get(kind, "") for kind in kinds)] for reason, counts in excluded.items()]
    return (
        f'<h2>Public functions that are not asked about <span class="soft">{len(outside)}</span></h2>'
        + ("".join(parts) or "<p>None.</p>")
        + "<h2>Calls that were not recorded</h2>"
        + (_table(("why", "calls"), calls) if calls else "<p>None.</p>")
        + f'<h2>Recordings that are not asked about <span class="soft">of {found.recorded}</span></h2>'
        + (_table(("why", *kinds), rows, upright=True) if rows else "<p>None.</p>")
    )


def _tests(found: Benchmark) -> str:
    counts = ", ".join(f"{count} {_text(what)}" for what, count in sorted(found.tests.items()))
    parts = [f"<h2>The tests</h2><p>{counts}. They are not asked about: what they call is.</p>"]
    if found.missing:
        rows = [
            [_text(each.what) + (f" ({_text(each.package)})" if each.package else ""), each.tests]
            for each in found.missing
        ]
        parts.append(_table(("missing", "tests that do not run"), rows))
        parts.append(
            '<p class="soft">Install a package by <code>--replace --with-package PACKAGE</code>.</p>'
        )
    if found.network:
        parts.append(f"<p>{len(found.network)} tests need a network that was not there.</p>")
    if found.failing:
        parts.append(f"<details><summary>{len(found.failing)} tests did not pass</summary>")
        parts += _failing(found)
        parts.append("</details>")
    return "".join(parts)


def _failing(found: Benchmark) -> Iterator[str]:
    for test, why in list(found.failing.items())[:_FAILING]:
        yield f"<p><code>{_text(test)}</code></p><pre>{_text(why.strip()[:600])}</pre>"
    if len(found.failing) > _FAILING:
        yield f"<p>... and {len(found.failing) - _FAILING} more</p>"


def _made(found: Benchmark) -> str:
    steps = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in found.wall_s.items())
    cost = ""
    if found.own_s and found.cost_s is not None:
        cost = (
            f" The tests take {found.own_s:.1f} s of CPU time by themselves; recording took "
            f"{found.cost_s:.1f} s."
        )
    if found.inputs_s is not None:
        cost += (
            f" Making inputs for functions of which no call of the tests can be asked about took "
            f"{found.inputs_s:.1f} s: {found.made_inputs} calls."
        )
    if found.made_failed:
        cost += f" No inputs were made: {_text(found.made_failed)}"
    packages = ", ".join(
        f"{_text(name)} {_text(version)}" for name, version in sorted(found.packages.items())
    )
    settings = ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in found.settings.items())
    slow = "" if found.tracer == "native" else " The reference tracer recorded, which is slow."
    return f"""<h2>How it was made</h2>
<p>From {_text(found.project)}, with {_text(found.interpreter.how)}.{cost}{slow} {_text(steps)}.</p>
<p>Of {found.recorded} recorded calls {found.not_repeatable} came out otherwise in a second run; these are not
asked about. Distributions that the tests imported: {packages or "none"}. {_text(settings)}.</p>"""
