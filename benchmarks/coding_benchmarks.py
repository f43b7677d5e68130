"""Whether deskcheck's verdicts about programs are those of the sets' own checks, run in a plain process.

    python benchmarks/coding_benchmarks.py DATA [--mutants 1] [--seed 0] [--sets humaneval,mbpp,...]

DATA: a folder with the published files (see `FILES`). For each task: the set's own reference, its known bug
where it has one, and as many mutants of the reference. Each is judged twice: by deskcheck, in its
sandbox; and here, by the set's own text of tests behind the answer in one process, which passes if it
exits with 0. Nothing of deskcheck's code is in the second. Prints where the two differ; exit status 1 then.
"""

import argparse
import ast
import gzip
import json
import random
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

FILES = {
    "humaneval": "humaneval/HumanEval.jsonl",
    "humanevalfix": "humanevalfix/humanevalpack_python.jsonl.gz",
    "mbpp": "mbpp/mbpp_730.jsonl",
    "humaneval_pro": "code_eval_pro/humaneval_pro.json.gz",
    "mbpp_pro": "code_eval_pro/mbpp_pro.json.gz",
    "p3": "p3/puzzles.json.gz",
}
CPU_S = 10
_WORD = ("fail", "pass")


def rows(path: Path) -> list[dict[str, Any]]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    found: list[dict[str, Any]]
    if text.lstrip().startswith("["):
        found = json.loads(text)
    else:
        found = [json.loads(line) for line in text.splitlines()]
    return found


def answers(name: str, row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(what it is, program) of the set's own answers."""
    if name == "humaneval":
        yield "reference", row["prompt"] + row["canonical_solution"]
    elif name == "humanevalfix":
        yield "reference", row["declaration"] + row["canonical_solution"]
        yield "bug", row["declaration"] + row["buggy_solution"]
    elif name == "mbpp":
        yield "reference", row["code"].replace("\r\n", "\n")
    elif name == "p3":
        if row["sol_bodies"]:
            yield "reference", f"{row['sol_header']}\n{row['sol_bodies'][0]}"
    else:
        parts = ("raw_problem", "raw_solution", "new_problem", "new_solution")
        yield "reference", "\n".join(row[part] for part in parts)


def own_check(name: str, row: dict[str, Any], program: str) -> str:
    """The answer and the set's tests as one script."""
    if name == "humaneval":
        return f"{row['prompt']}    pass\n{program}\n{row['test']}\ncheck({row['entry_point']})\n"
    if name == "humanevalfix":
        return f"{program}\n{row['test']}\n"
    if name == "mbpp":
        return "\n".join([program, row["test_setup_code"], *row["test_list"]])
    if name == "p3":
        long = "import sys\nsys.set_int_max_str_digits(0)\nfrom typing import *\n"
        kind = row["ans_type"].partition("[")[0].lower()
        ends = f"answer = sol()\nassert type(answer) is {kind}\nassert sat(answer) is True\n"
        return f"{long}{program}\n{row['sat']}\n{ends}"
    return f"{program}\n{row['test_code']}\n"


_OTHER = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def mutant(program: str, rng: random.Random, *, last: bool) -> str | None:
    """The program with one operator, comparison or whole number changed, or a value returned as another.
    last: in the last statement of the top level alone, as what stands before it belongs to the task."""
    tree = ast.parse(program)
    ways: list[Callable[[], None]] = []
    for node in ast.walk(tree.body[-1] if last else tree):
        if isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in _OTHER:
            ways.append(partial(setattr, node, "op", _OTHER[type(node.op)]()))
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in _OTHER:
            ways.append(partial(setattr, node, "ops", [_OTHER[type(node.ops[0])](), *node.ops[1:]]))
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            ways.append(partial(setattr, node, "value", node.value + 1))
        elif isinstance(node, ast.Return) and node.value is not None:
            wrapped = ast.Call(ast.Name(rng.choice(["list", "str", "bool", "tuple"])), [node.value], [])
            ways.append(partial(setattr, node, "value", wrapped))
    if not ways:
        return None
    rng.choice(ways)()
    return ast.unparse(ast.fix_missing_locations(tree))


def passes(script: str) -> bool:
    """In a process of its own, with a limit on CPU time."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "script.py").write_text(script)
        done = subprocess.run(
            [sys.executable, "-I", "-X", "int_max_str_digits=0", "script.py"],
            cwd=folder,
            capture_output=True,
            preexec_fn=limit,
            check=False,
        )
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--mutants", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sets", default=",".join(FILES))
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    sys.set_int_max_str_digits(0)  # sources of P3 have numbers of 8,844 digits
    differ = 0
    for name in given.sets.split(","):
        differ += compare(name, given.data / FILES[name], given)
    return int(differ > 0)


def compare(name: str, path: Path, given: argparse.Namespace) -> int:
    from deskcheck.ask.questions.benchmarks import BENCHMARKS
    from deskcheck.ask.scoring.sandbox import score_in, shared

    used = [row for row in rows(path) if name != "p3" or row["sol_bodies"]]
    samples = list(BENCHMARKS[name].samples(str(path)))
    assert len(used) == len(samples), name
    todo = []
    for row, sample in zip(used, samples, strict=True):
        some = list(answers(name, row))
        rng = random.Random(f"{given.seed}:{sample.id}")
        made = [mutant(some[0][1], rng, last=name.startswith("humaneval")) for _ in range(given.mutants)]
        some += [("mutant", text) for text in made if text is not None]
        todo += [(row, sample, what, text) for what, text in some]

    def both(one: tuple[Any, Any, str, str]) -> tuple[bool, bool, str]:
        row, sample, _, text = one
        ours = score_in(shared(), sample, f"[ANSWER]{text}[/ANSWER]")
        return ours.score == 1, passes(own_check(name, row, text)), ours.reason

    counts: Counter[tuple[str, bool, bool]] = Counter()
    with ThreadPoolExecutor(given.workers) as pool:
        for (_, sample, what, text), (ours, theirs, reason) in zip(todo, pool.map(both, todo), strict=True):
            counts[what, ours, theirs] += 1
            if ours != theirs:
                print(f"--- {sample.id} {what}: deskcheck {ours}, own check {theirs}: {reason}\n{text}")
    told = [f"{n} {what} {_WORD[o]}/{_WORD[t]}" for (what, o, t), n in sorted(counts.items())]
    print(f"{name}: deskcheck/own check: {', '.join(told)}", flush=True)
    return sum(n for (_, ours, theirs), n in counts.items() if ours != theirs)


if __name__ == "__main__":
    sys.exit(main())
