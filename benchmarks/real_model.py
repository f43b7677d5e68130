"""How the answers of a real model are read: every kind of question, in three ways, with all completions kept.

    python -m benchmarks.real_model model.gguf --out build/real-model
    python -m benchmarks.real_model http://127.0.0.1:8080/v1 --model NAME --limit 30 --out build/real-model
    python -m benchmarks.real_model FOLDER --prompt output=words.txt

MODEL is the address of a server that speaks OpenAI's protocol; a GGUF file, which xllamacpp serves (pip
install xllamacpp); or a folder of Hugging Face, which transformers serves (pip install
'transformers[serving]'). Asked are programs that are generated here, and some that raise: as a continuation
of the prompt with two examples of other programs, of the prompt with deskcheck's own example, of prompts of
yours, and in a chat.
OUT/readings.md has a table, and then each completion with what was read in it, to be judged by hand.
"""

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pyarrow.parquet as pq

PROGRAMS = "generated:30,difficulty=1-3,inputs=1,seed=7"
RAISING = """\
{"code": "def parse(text):\\n    total = 0\\n    for part in text.split(','):\\n        total += int(part)\\n\
    return total\\n", "entry": "parse", "inputs": ["('1,2,x',)", "('4,,5',)", "(None,)"]}
{"code": "def pick(items, at):\\n    chosen = items[at]\\n    items.append(chosen)\\n    return chosen\\n",\
 "entry": "pick", "inputs": ["([1, 2], 5)", "({'a': 1}, 'b')", "([3, 4], 1)"]}
{"code": "def ratio(a, b):\\n    if b < 0:\\n        raise ValueError('negative')\\n    return a / b\\n",\
 "entry": "ratio", "inputs": ["(1, 0)", "(1, -2)", "(3, 4)"]}
"""
WAYS = {"two examples": ("--completion", "--shots", "2"), "own example": ("--completion",), "chat": ()}
SERVE = """\
import sys, time
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port, params.hostnames = sys.argv[1], int(sys.argv[2]), ["127.0.0.1"]
params.n_ctx, params.n_parallel, params.cpuparams.n_threads = 8192, 1, 1
server = xllamacpp.Server(params)
print("ready", flush=True)
sys.stdin.read()
"""
PORT = 8917
SHOWN_CHARS = 600


@contextmanager
def served(model: str) -> Iterator[str]:
    """The address of a server with the model."""
    if "://" in model:
        yield model
        return
    if Path(model).is_dir():
        with served_folder(model) as address:
            yield address
        return
    command = [sys.executable, "-c", SERVE, model, str(PORT)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        if server.stdout.readline() != "ready\n":
            raise SystemExit(f"{model}: is not served. Is it a GGUF file, and xllamacpp installed?")
        time.sleep(1)
        try:
            yield f"http://127.0.0.1:{PORT}/v1"
        finally:
            server.kill()


@contextmanager
def served_folder(model: str) -> Iterator[str]:
    """The address of a server with a model of Hugging Face."""
    program = str(Path(sys.executable).parent / "transformers")
    command = [program, "serve", model, "--port", str(PORT), "--host", "127.0.0.1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            for _ in range(300):
                if server.poll() is not None:
                    raise SystemExit(f"{model}: is not served. Is transformers[serving] installed?")
                try:
                    with urlopen(f"http://127.0.0.1:{PORT}/health", timeout=5):
                        break
                except OSError:
                    time.sleep(1)
            yield f"http://127.0.0.1:{PORT}/v1"
        finally:
            server.kill()


def deskcheck(*arguments: str | Path) -> int:
    done = subprocess.run(
        [sys.executable, "-m", "deskcheck", *map(str, arguments)], stdout=subprocess.DEVNULL
    )
    return done.returncode


def asked(
    out: Path, address: str, model: str, limit: int, prompts: list[str]
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each way of asking, with the rows of its answers. prompts: as for ``ask --prompt``."""
    (out / "raising.jsonl").write_text(RAISING)
    for name, source in (("generated", PROGRAMS), ("raising", out / "raising.jsonl")):
        if not (out / name).exists() and deskcheck("record", source, "--out", out / name):
            raise SystemExit(f"{source}: could not be recorded")
    yours = ("--completion", *(word for file in prompts for word in ("--prompt", file)))
    for way, options in {**WAYS, **({"your prompts": yours} if prompts else {})}.items():
        folder = out / way.replace(" ", "-")
        kinds = [file.partition("=")[0] for file in prompts if "=" in file]
        what = (
            "-q",
            ",".join(kinds) if way == "your prompts" and len(kinds) == len(prompts) else "all",
            "--limit",
            str(limit),
            "--seed",
            "7",
            "--max-tokens",
            "200",
            "--max-connections",
            "1",
        )
        server = ("-m", f"openai-api/local/{model}", "-M", f"base_url={address}", "--timeout", "600")
        deskcheck("ask", out / "generated", out / "raising", *what, *server, *options, "--out", folder)
        if (folder / "samples.parquet").exists():
            yield way, pq.read_table(folder / "samples.parquet").to_pylist()


def page(found: list[tuple[str, list[dict[str, Any]]]]) -> Iterator[str]:
    """The table, then the completions."""
    yield "| way | question | n | strict | lenient | answered | unreadable | cut | other |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|"
    for way, rows in found:
        for question in dict.fromkeys(row["question"] for row in rows):
            mine = [row for row in rows if row["question"] == question]
            read = Counter(row["reading"] for row in mine)
            known = [read[name] for name in ("answered", "unreadable", "cut")]
            means = [sum(row[name] for row in mine) / len(mine) for name in ("score", "lenient")]
            cells = [len(mine), *(f"{mean:.3f}" for mean in means), *known, len(mine) - sum(known)]
            yield f"| {way} | {question} | {' | '.join(map(str, cells))} |"
    for way, rows in found:
        for row in rows:
            scores = f"strict {row['score']:g}, lenient {row['lenient']:g}, {row['reading']}"
            yield f"\n## {way}: {row['id']}\n\nright: {row['expected']!r}"
            yield f"{scores}: {str(row['answer'])[:200]!r} {row['reason']}\n"
            yield f"```text\n{row['completion'][:SHOWN_CHARS]}\n```"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("server", metavar="MODEL", help="the address of a server, a GGUF file, or a folder")
    parser.add_argument(
        "--prompt", action="append", default=[], metavar="FILE", help="your prompts: FILE, or KIND=FILE"
    )
    parser.add_argument("--model", help="the name of the model there; of a folder its path")
    parser.add_argument("--limit", type=int, default=12, help="questions of each kind, at most")
    parser.add_argument("--out", type=Path, default=Path("build/real-model"), help="folder of the results")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("LOCAL_API_KEY", "none")
    with served(given.server) as address:
        name = given.model or (given.server if Path(given.server).is_dir() else "model")
        found = list(asked(given.out, address, name, given.limit, given.prompt))
    if not found:
        raise SystemExit("the model gave no answers")
    text = "\n".join(page(found)) + "\n"
    (given.out / "readings.md").write_text(text, encoding="utf-8")
    print(text.partition("\n\n##")[0])
    print(f"\n{given.out / 'readings.md'} has each completion, to be judged by hand")


if __name__ == "__main__":
    main()
