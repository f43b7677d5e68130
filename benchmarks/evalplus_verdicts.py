"""Whether the benchmark humaneval_plus gives the verdicts of EvalPlus's own check.

    python benchmarks/evalplus_verdicts.py HumanEval.jsonl humanevalpack_python.jsonl.gz

Makes rows in EvalPlus's form of HumanEval's own calls, and judges each reference and each bug of HumanEvalFix
twice: as a benchmark, and by `evalplus.eval.untrusted_check`. Prints where the two differ; status 1 then.
Needs `pip install --no-deps evalplus` and psutil beside deskcheck; the answers are run by EvalPlus without a
sandbox, so give it these sets alone.
"""

import argparse
import ast
import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

from evalplus.eval import untrusted_check
from evalplus.gen.util import trusted_exec

from deskcheck.ask.questions.benchmarks import benchmark_samples
from deskcheck.ask.scoring.judge import Judge
from deskcheck.ask.scoring.programs import run_tests
from deskcheck.ask.scoring.sandbox import for_many

Row = dict[str, Any]


def rows_of(path: Path) -> list[Row]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    return [json.loads(line) for line in text.splitlines()]


def inputs_of(test: str) -> list[list[Any]]:
    """Arguments of the calls in a test that are literals and survive JSON."""
    found = []
    for node in ast.walk(ast.parse(test)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        if node.func.id != "candidate" or node.keywords:
            continue
        try:
            given = [ast.literal_eval(each) for each in node.args]
            if json.loads(json.dumps(given)) == given:
                found.append(given)
        except (ValueError, TypeError):
            continue
    return found


def plus(row: Row, inputs: list[list[Any]]) -> Row:
    names = ("task_id", "prompt", "canonical_solution", "entry_point")
    return {name: row[name] for name in names} | {
        "base_input": inputs[:2],
        "plus_input": inputs[2:],
        "atol": 1e-4 if row["entry_point"] == "find_zero" else 0,
    }


def theirs(row: Row, answer: str) -> bool:
    inputs = [*row["base_input"], *row["plus_input"]]
    expected = trusted_exec(row["prompt"] + row["canonical_solution"], inputs, row["entry_point"])
    verdict, _ = untrusted_check(
        "humaneval",
        answer,
        inputs,
        row["entry_point"],
        expected=expected,
        atol=row["atol"],
        ref_time=[0.1] * len(inputs),
        fast_check=True,
    )
    return bool(verdict == "pass")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("humaneval", type=Path)
    parser.add_argument("humanevalfix", type=Path)
    given = parser.parse_args()
    bugs = {
        row["task_id"].rpartition("/")[2]: row["declaration"] + row["buggy_solution"]
        for row in rows_of(given.humanevalfix)
    }
    rows = [
        plus(row, inputs) for row in rows_of(given.humaneval) if len(inputs := inputs_of(row["test"])) > 1
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "HumanEvalPlus.jsonl")
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        samples = benchmark_samples([f"humaneval_plus:{file}"])["humaneval_plus"]
    verdicts = passed = differ = 0
    with for_many() as sandbox:
        judge = Judge(sandbox)
        for row, sample in zip(rows, samples, strict=True):
            for what, answer in (("reference", sample.answer), ("bug", bugs[row["task_id"].split("/")[1]])):
                ours = run_tests(sample.data, answer, judge)
                whole = theirs(row, answer if what == "reference" else f"{sample.data['setup']}\n{answer}")
                verdicts, passed = verdicts + 1, passed + whole
                if ours.right != whole:
                    differ += 1
                    print(f"{sample.id}: {what}: right here: {ours.right} {ours.reason}; there: {whole}")
    count = sum(len(row["base_input"]) + len(row["plus_input"]) for row in rows)
    print(f"{len(rows)} tasks, {count} inputs, {verdicts} verdicts: {passed} pass there, {differ} differ")
    return int(differ > 0)


if __name__ == "__main__":
    raise SystemExit(main())
