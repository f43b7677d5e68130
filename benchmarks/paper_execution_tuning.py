"""The tables of Execution Tuning (arXiv:2503.05703), small: by commands, with seeds and intervals.

    make paper-execution-tuning [CRUXEVAL=FILE] [MBPP=FILE] [BUDGET=UPDATES]
    python -m benchmarks.paper_execution_tuning FOLDER [--cruxeval FILE] [--mbpp FILE] [--updates N]

Small models are trained from nothing on generated programs, one for each way to tell a run and seed, with the
same number of updates. They are asked about other generated programs, and about the sets that are named.
Parts: recordings, lessons, training, answers, page. The same command goes on where it was ended.
"""

import argparse
import json
import random
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from benchmarks._commands import run, run_here
from deskcheck.ask.results.logs import read_logs
from deskcheck.ask.results.results import Result
from deskcheck.ask.results.rows import by_sample
from deskcheck.ask.results.statistics import Interval, interval_text, mean_interval, paired_difference

TAUGHT = {
    "direct": ["--question", "output"],
    "reverse": ["--question", "input"],
    "scratchpad": ["--notation", "scratchpad"],
    "compact": ["--notation", "compact"],
    "dynamic": ["--notation", "dynamic", "--jump", "1,2,4"],
    "instruction": ["--notation", "dynamic_instruction", "--steps", "60"],
    "mix": ["--notation", "dynamic", "--jump", "1,2,4", "--mix", "MIX:0.3"],
}
"""Model -> how its lessons are made."""
_STEPS, _INSTRUCTION = "dynamic_scratchpad", "dynamic_instruction"
_JUMPS = [f"{_STEPS}:jump=1+2+4:choose={choose}" for choose in ("likelihood", "search", "oracle")]
ASKED = {
    "direct": ["direct"],
    "reverse": ["direct"],
    "scratchpad": ["scratchpad"],
    "compact": ["compact"],
    "dynamic": [_STEPS, *_JUMPS],
    "mix": [_STEPS],
    "instruction": [_INSTRUCTION],
}
"""Model -> the methods by which it is asked for outputs."""
ROWS = [
    ("direct output", "direct", "direct"),
    ("scratchpad", "scratchpad", "scratchpad"),
    ("compact scratchpad", "compact", "compact"),
    ("dynamic, Line-1", "dynamic", _STEPS),
    ("dynamic, Instruction-1", "instruction", _INSTRUCTION),
    ("dynamic, Line-n by likelihood", "dynamic", _JUMPS[0]),
    ("dynamic, Line-n by search", "dynamic", _JUMPS[1]),
    ("dynamic, Line-n by oracle (a bound)", "dynamic", _JUMPS[2]),
    ("dynamic, Line-1, 30 % other data", "mix", _STEPS),
]
STEPPED = {
    "scratchpad": "scratchpad",
    "compact": "compact",
    "dynamic": "dynamic",
    "instruction": "dynamic_instruction",
    "mix": "dynamic",
}


def recordings(folder: Path, options: argparse.Namespace) -> None:
    """Runs to learn from; runs of other programs; runs of the sets that are named; long ones."""
    ours = "difficulty=1-1,inputs=4"
    for name, source in {
        "train": f"generated:{options.programs},{ours},seed=1",
        "asked": f"generated:{options.asked},difficulty=1-1,inputs=1,seed=77",
        "long": "family:binary_counter,texts=0,inputs=paper",
        **{name: f"{name}:{path}" for name in ("cruxeval", "mbpp") if (path := getattr(options, name))},
    }.items():
        own = name in ("train", "asked", "long")
        run(
            *("record", source, "--out", f"{folder}/{name}"),
            *("--granularity", "line" if name == "long" else "instruction"),
            *(["--sandbox", "trusted"] if own else []),
            *(["--no-repeat"] if name == "train" else []),
        )


def lessons(folder: Path, options: argparse.Namespace) -> None:
    """The same runs, told in each way."""
    mix = folder / "mix.jsonl"
    if not mix.exists():
        mix.write_text("".join([json.dumps(example) + "\n" for example in _other_data(20_000)]))
    for name, how in TAUGHT.items():
        run_here(
            *("lessons", f"{folder}/train", "--out", f"{folder}/lessons-{name}", "--no-ids"),
            *("--budget", "2500", "--validation", "0", "--test", "0"),
            *(part.replace("MIX", str(mix)) for part in how),
        )


def _other_data(count: int) -> Iterator[dict[str, object]]:
    """Word problems of one step, as chats."""
    chance = random.Random(3)
    for _ in range(count):
        name, thing = chance.choice(["Ada", "Ben", "Eva", "Tom"]), chance.choice(["apples", "books", "coins"])
        a, b = chance.randrange(2, 90), chance.randrange(2, 90)
        more = chance.random() < 0.5 or a < b
        question = (
            f"{name} has {a} {thing} and {'gets' if more else 'gives away'} {b}. How many are there now?"
        )
        yield {
            "messages": [
                {"role": "user", "content": question},
                {
                    "role": "assistant",
                    "content": f"{a} {'+' if more else '-'} {b} = {a + b if more else a - b}",
                },
            ]
        }


def training(folder: Path, options: argparse.Namespace) -> None:
    """A model for each way and seed."""
    for seed in range(options.seeds):
        for name in TAUGHT:
            run_here(
                *(
                    "teach",
                    f"{folder}/lessons-{name}",
                    "--out",
                    f"{folder}/{name}-{seed}",
                    "--seed",
                    str(seed),
                ),
                *("--steps", str(options.updates), "--batch-size", "16", "--steps-per-program", "8"),
                *("--layers", "2", "--hidden-size", "64", "--learning-rate", "0.004"),
                *("--eval-every", "1000"),
            )


def answers(folder: Path, options: argparse.Namespace) -> None:
    """Outputs, inputs, single steps and long runs."""
    for name, methods in ASKED.items():
        models = [f"taught/{folder}/{name}-{seed}" for seed in range(options.seeds)]
        for asked in _sets(folder):
            out = folder / f"answers-{name}-{asked}"
            if (out / "results.json").exists():
                continue
            shutil.rmtree(out, ignore_errors=True)
            kinds = "output,input" if methods == ["direct"] and asked == "asked" else "output"
            run(
                *("ask", f"{folder}/{asked}", "--question", kinds, "--method", ",".join(methods)),
                *(part for model in models for part in ("--model", model)),
                *("--no-explain", "--limit", str(options.asked), "--max-steps", "80"),
                *("--max-tokens", str(options.tokens), "--out", str(out)),
            )
    for seed in range(options.seeds):
        for name, notation in STEPPED.items():
            _step(folder, name, seed, "asked", ["--notation", notation, "--each", "12", "--budget", "80"])
        _step(folder, "dynamic", seed, "long", ["--each", "100", "--budget", "400"])


def _sets(folder: Path) -> list[str]:
    return [name for name in ("asked", "cruxeval", "mbpp") if (folder / name).exists()]


def _step(folder: Path, name: str, seed: int, asked: str, options: Sequence[str]) -> None:
    out = folder / f"steps-{name}-{asked}-{seed}.json"
    if not out.exists():
        run_here(
            "models",
            "step",
            f"{folder}/{asked}",
            "--model",
            f"{folder}/{name}-{seed}",
            *options,
            "--out",
            str(out),
        )


# -- the page ----------------------------------------------------------------------------------------


def page(folder: Path, options: argparse.Namespace) -> None:
    """The tables, as Markdown: into --publish, or printed."""
    text = "\n\n".join(
        [_head(options), *_outputs(folder, options), _steps(folder, options), _long(folder, options)]
    )
    if options.publish:
        options.publish.write_text(text + "\n", encoding="utf-8")
    print(text)


def _head(options: argparse.Namespace) -> str:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout
    return (
        "# Execution Tuning, small\n\n"
        "Written by `make paper-execution-tuning` "
        f"({options.seeds} seeds, {options.updates} updates of 16 lessons, models of 2 layers of 64, "
        f"{options.programs} generated programs to learn from, {options.asked} others asked about; commit "
        f"{commit.strip() or 'unknown'}). Intervals are 95 %, clustered by program, over all seeds together; "
        "differences are paired. [The page](../docs/reproduce/execution-tuning.md) compares them with the "
        "paper."
    )


def _results(folder: Path, name: str, asked: str, method: str, question: str) -> list[Result]:
    found = read_logs([folder / f"answers-{name}-{asked}"]).results
    return [r for r in found if r.solver == method and r.question == question]


def _pooled(results: Sequence[Result]) -> tuple[dict[str, float], dict[str, str]]:
    """Sample -> its mean score over the seeds, and its program."""
    by_seed = [by_sample(result.samples, "score") for result in results]
    clusters = {row.id: row.cluster for result in results for row in result.samples}
    return {id_: fmean([scores[id_] for scores in by_seed]) for id_ in by_seed[0]}, clusters


def _value(found: Interval, form: str = ".3f") -> str:
    return f"{found.value:{form}} ({interval_text(found, form=form)})"


def _outputs(folder: Path, options: argparse.Namespace) -> Iterator[str]:
    for asked in _sets(folder):
        lines = ["| representation | outputs right | by seed | minus direct | n |", "|---|---|---|---|---|"]
        base, _ = _pooled(_results(folder, "direct", asked, "direct", "output"))
        for title, name, method in ROWS:
            results = _results(folder, name, asked, method, "output")
            scores, clusters = _pooled(results)
            mean = mean_interval(list(scores.values()), [clusters[id_] for id_ in scores])
            seeds = ", ".join(f"{result.score:.3f}" for result in results)
            both = scores.keys() & base.keys()
            less = paired_difference({i: base[i] for i in both}, {i: scores[i] for i in both}, clusters)
            against = "" if name == "direct" else _value(less, "+.3f")
            lines.append(f"| {title} | {_value(mean)} | {seeds} | {against} | {len(scores)} |")
        yield f"## Output prediction: {_SETS[asked]}\n\n" + "\n".join(lines)
    lines = ["| taught | question | right | minus taught this question alone | n |", "|---|---|---|---|---|"]
    for question, alone in (("output", "direct"), ("input", "reverse")):
        base, _ = _pooled(_results(folder, alone, "asked", "direct", question))
        for name, title in (("direct", "output"), ("reverse", "input")):
            scores, clusters = _pooled(_results(folder, name, "asked", "direct", question))
            mean = mean_interval(list(scores.values()), [clusters[id_] for id_ in scores])
            both = scores.keys() & base.keys()
            less = paired_difference({i: base[i] for i in both}, {i: scores[i] for i in both}, clusters)
            against = "" if name == alone else _value(less, "+.3f")
            lines.append(f"| {title} | {question} | {_value(mean)} | {against} | {len(scores)} |")
    yield "## Forward and reverse\n\n" + "\n".join(lines)


_SETS = {"asked": "generated programs", "cruxeval": "CRUXEval", "mbpp": "MBPP"}


def _told(folder: Path, name: str, asked: str, seed: int) -> dict[str, object]:
    told: dict[str, object] = json.loads((folder / f"steps-{name}-{asked}-{seed}.json").read_text())
    return told


def _steps(folder: Path, options: argparse.Namespace) -> str:
    lines = ["| representation | exact steps after a true past, by seed | steps | free runs right, by seed |"]
    lines.append("|---|---|---|---|")
    for name, notation in STEPPED.items():
        each, whole, count = [], [], 0
        for seed in range(options.seeds):
            told = _told(folder, name, "asked", seed)
            found, steps = told["each"], told["steps"]
            each.append(_value(_interval(found)))
            whole.append(f"{steps['whole']} of {steps['runs']}")  # type: ignore[index]
            count = found["n"]  # type: ignore[index]
        title = notation if name != "mix" else f"{notation}, 30 % other data"
        lines.append(f"| {title} | {'; '.join(each)} | {count} | {'; '.join(whole)} |")
    return "## Single steps\n\n" + "\n".join(lines)


def _long(folder: Path, options: argparse.Namespace) -> str:
    lines = ["| seed | exact steps from true states | longest exact run | half of runs exact after |"]
    lines.append("|---|---|---|---|")
    for seed in range(options.seeds):
        told = _told(folder, "dynamic", "long", seed)
        steps = told["steps"]
        horizon = steps["horizon"]  # type: ignore[index]
        half = "-" if horizon is None or horizon["value"] is None else f"{horizon['value']:.1f}"
        if horizon is not None and horizon["low"] is not None:
            high = "never" if horizon["high"] is None else f"{horizon['high']:.1f}"
            half += f" ({horizon['low']:.1f} to {high})"
        longest = steps["longest"]  # type: ignore[index]
        lines.append(f"| {seed} | {_value(_interval(told['each']))} | {longest} | {half} |")
    return "## Long executions: a binary counter that was never trained\n\n" + "\n".join(lines)


def _interval(found: object) -> Interval:
    assert isinstance(found, dict)
    return Interval(**found)


PARTS = {part.__name__: part for part in (recordings, lessons, training, answers, page)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=PARTS, action="append", help="this part alone; may be given again")
    parser.add_argument("--cruxeval", default="", metavar="FILE")
    parser.add_argument("--mbpp", default="", metavar="FILE")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=300, help="of 16 lessons, for each model")
    parser.add_argument("--programs", type=int, default=150, help="to learn from")
    parser.add_argument("--asked", type=int, default=20, help="samples of each set")
    parser.add_argument("--tokens", type=int, default=250, help="of an answer, at most")
    parser.add_argument("--publish", type=Path, metavar="PAGE")
    options = parser.parse_args()
    for part in options.only or PARTS:
        PARTS[part](options.folder, options)


if __name__ == "__main__":
    main()
