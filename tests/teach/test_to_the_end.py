"""A Hugging Face model from its lessons to answers: trained, killed, trained on, stepped and asked; then adapters
of it. Its tokenizer has no token that fills up, and a chat template of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.teach.conftest import Recorded, call
from tests.teach.test_transformer import TEMPLATE, saved

pytest.importorskip("trl", reason="would show the whole road of a Hugging Face model")
pytestmark = pytest.mark.slow

CODES = [f"def f(n):\n    n = n + {k}\n    return n\n" for k in (1, 20)]


def deskcheck(*arguments: object, cwd: Path | None = None) -> str:
    """What a command prints."""
    done = subprocess.run(
        _command(arguments), capture_output=True, text=True, check=False, env=_env(), cwd=cwd
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def _command(arguments: tuple[object, ...]) -> list[str]:
    return [sys.executable, "-m", "deskcheck", *map(str, arguments)]


def _env() -> dict[str, str]:
    paths = os.pathsep.join([path for path in sys.path if path])
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": paths, "HF_HUB_OFFLINE": "1"}


def exact_runs(runs: Path, model: Path, **where: Any) -> int:
    told = json.loads(deskcheck("models", "step", runs, "--model", model, "--json", **where))
    return sum(run["first"] is None for run in told["runs"])


@pytest.mark.exhaustive
def test_lessons_to_answers(record: Recorded, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    base = saved(tmp_path / "base", hidden_size=64, intermediate_size=128, initializer_range=0.05)
    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(base)
    assert tokenizer.pad_token is None
    runs = record(*[call(f"r{k}_{n}", code, f"({n})") for k, code in enumerate(CODES) for n in range(3)])
    whole = ["--validation", 0, "--test", 0]
    deskcheck("lessons", runs, "--out", tmp_path / "lessons", "--tokenizer", base, *whole)

    asked = ["teach", "lessons", "--model", "base", "--out", "trained", "--steps", 240, "--batch-size", 16]
    asked += ["--per-device-batch-size", 16, "--learning-rate", 0.004, "--eval-every", 40]
    process = subprocess.Popen(_command(tuple(asked)), env=_env(), cwd=tmp_path, stderr=subprocess.DEVNULL)
    first = tmp_path / "trained" / "checkpoints" / "checkpoint-40" / "trainer_state.json"
    while not first.exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / "trained" / "model.safetensors").exists()
    deskcheck(*asked, cwd=tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "trained" / "metrics.jsonl").read_text().splitlines()]
    steps = [row["step"] for row in rows if "loss" in row]
    assert steps == [1, *range(10, 241, 10)]

    assert exact_runs(runs, tmp_path / "trained") == 6
    answers = ["ask", runs, "-q", "output", "--method", "dynamic_scratchpad", "--no-explain", "--json"]
    answers += ["--model", "hf/mine", "-M", "do_sample=false", "--max-tokens", 60]
    told = json.loads(deskcheck(*answers, "-M", f"model_path={tmp_path / 'trained'}"))
    assert told["results"][0]["score"] == 1

    adapters = ["teach", "lessons", "--model", "trained", "--out", "adapters", "--lora", 4, "--steps", 5]
    deskcheck(*adapters, "--batch-size", 8, "--learning-rate", 0.0001, cwd=tmp_path)
    (tmp_path / "elsewhere").mkdir()
    assert exact_runs(runs, tmp_path / "adapters", cwd=tmp_path / "elsewhere") == 6
    told = json.loads(deskcheck(*answers, "-M", f"model_path={tmp_path / 'adapters'}"))
    assert told["results"][0]["score"] == 1
