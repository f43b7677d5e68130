"""Tasks of inspect_evals as they score, in a sandbox of ours: references must pass, broken answers must fail.

    python benchmarks/inspect_tasks.py humaneval=HumanEval.jsonl [mbpp=FILE bigcodebench=FILE class_eval=FILE]
        [--bugs humanevalpack_python.jsonl.gz] [--sandbox deskcheck:strict] [--limit 40] [--at-once 2]

The tasks' own scorers run, with answers that a solver gives: the references, then programs that only raise;
with --bugs, HumanEvalFix's bugs too. Needs `pip install inspect_evals` beside deskcheck[ask]. The rows come
from files, so no network. Of bigcodebench those rows are taken whose modules are installed.
"""

import argparse
import ast
import gzip
import json
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_evals.bigcodebench.bigcodebench import get_record_to_sample
from inspect_evals.bigcodebench.bigcodebench import verify as bigcodebench_verify
from inspect_evals.class_eval.class_eval import class_eval_scorer
from inspect_evals.class_eval.class_eval import record_to_sample as class_eval_sample
from inspect_evals.humaneval.humaneval import record_to_sample as humaneval_sample
from inspect_evals.humaneval.humaneval import verify as humaneval_verify
from inspect_evals.mbpp.mbpp import record_to_sample as mbpp_sample
from inspect_evals.mbpp.mbpp import verify as mbpp_verify

Row = dict[str, Any]
RAISES = "raise NotImplementedError\n"


def _humaneval(row: Row) -> tuple[Sample, str]:
    return humaneval_sample()(row), row["canonical_solution"]


def _mbpp(row: Row) -> tuple[Sample, str]:
    own: Row = {"prompt": row.get("text"), "source_file": "", "test_imports": []}
    return mbpp_sample(own | row), row["code"].replace("\r\n", "\n")


def _bigcodebench(row: Row) -> tuple[Sample, str] | None:
    answer = row["complete_prompt"] + row["canonical_solution"]
    if not all(map(_is_there, _imported(f"{answer}\n{row['test']}"))):
        return None
    return get_record_to_sample()(row), answer


def _class_eval(row: Row) -> tuple[Sample, str] | None:
    if not all(map(_is_there, _imported(f"{row['solution_code']}\n{row['test']}"))):
        return None
    return class_eval_sample(row), "\n".join([*row["import_statement"], row["solution_code"]])


def _imported(code: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def _is_there(name: str) -> bool:
    return name in sys.stdlib_module_names or find_spec(name) is not None


TASKS: dict[str, tuple[Callable[[Row], tuple[Sample, str] | None], Callable[[], Scorer]]] = {
    "humaneval": (_humaneval, humaneval_verify),
    "mbpp": (_mbpp, mbpp_verify),
    "bigcodebench": (_bigcodebench, bigcodebench_verify),
    "class_eval": (_class_eval, class_eval_scorer),
}


def rows_of(path: Path) -> list[Row]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    found: list[Row] = (
        json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
    )
    return found


@solver
def given_answers() -> Solver:
    """Gives each sample the answer that it carries."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = ModelOutput.from_content("given", state.metadata["given"])
        return state

    return solve


def passed(
    samples: list[Sample], answers: list[str], scorer: Scorer, sandbox: str, at_once: int
) -> tuple[list[str], float]:
    """Ids of the samples whose answers the task's scorer takes for right, and seconds."""
    kind, _, config = sandbox.partition(":")
    for sample, answer in zip(samples, answers, strict=True):
        sample.metadata = (sample.metadata or {}) | {"given": answer}
    task = Task(
        dataset=samples,
        solver=given_answers(),
        scorer=scorer,
        sandbox=(kind, config) if config else kind,
    )
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as logs:
        (log,) = inspect_eval(
            task,
            model="mockllm/model",
            log_dir=logs,
            display="none",
            max_samples=at_once,
            max_sandboxes=at_once,
        )
        if log.status != "success" or log.samples is None:
            raise SystemExit(f"the evaluation ended with {log.status}: {log.error}")
        right = [
            str(sample.id)
            for sample in log.samples
            if sample.scores and all(score.value == "C" for score in sample.scores.values())
        ]
    return right, time.monotonic() - started


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="+", metavar="TASK=FILE")
    parser.add_argument("--bugs", type=Path)
    parser.add_argument("--sandbox", default="deskcheck:strict")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--at-once", type=int, default=2)
    given = parser.parse_args()
    for named in given.tasks:
        name, _, file = named.partition("=")
        to_sample, scorer = TASKS[name]
        rows = rows_of(Path(file))
        found = [pair for row in rows[: given.limit] if (pair := to_sample(row)) is not None]
        broken = [f"    {RAISES}" if name == "humaneval" else RAISES for _ in found]
        kinds = {"references": [answer for _, answer in found], "broken": broken}
        if name == "humaneval" and given.bugs is not None:
            kinds["bugs"] = [row["buggy_solution"] for row in rows_of(given.bugs)[: given.limit]]
        for what, answers in kinds.items():
            samples = [sample.model_copy(deep=True) for sample, _ in found]
            right, seconds = passed(samples, answers, scorer(), given.sandbox, given.at_once)
            print(f"{name}: {what}: {len(right)} of {len(answers)} pass, {seconds:.0f} s", flush=True)
            if what == "references":
                wrong = [str(sample.id) for sample in samples if str(sample.id) not in right]
                print("  do not pass:", ", ".join(wrong) or "none", flush=True)


if __name__ == "__main__":
    main()
