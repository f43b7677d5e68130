"""Rewards in TRL's own GRPOTrainer, on the CPU: what it is given, what it makes of None, and that a model learns by them."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import deskcheck
from deskcheck.ask import QUESTIONS, Sample
from deskcheck.ask.rewards import Reward
from deskcheck.cli import app
from deskcheck.recording import Recording
from tests.ask.conftest import record as record  # the fixture
from tests.pages import ROOT, blocks

pytest.importorskip(
    "trl", reason="would show that TRL's GRPOTrainer takes our rewards and a model learns by them"
)

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer
from typer.testing import CliRunner

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
ANSWERS = ["[ANSWER]3[/ANSWER]", "[ANSWER]4[/ANSWER]", "[ANSWER][2][/ANSWER]", "[ANSWER]", "no", "\x00"]
STEPS, GROUP = 20, 8
GUIDE = ROOT / "docs" / "guides" / "reinforcement.md"


def tiny() -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    """A Llama of random weights that has a token for each of `ANSWERS` and one for all other words."""
    words = {word: n for n, word in enumerate(["<end>", "<other>", *ANSWERS])}
    tokenizer = Tokenizer(models.WordLevel(vocab=words, unk_token="<other>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<end>",
        pad_token="<end>",
        unk_token="<other>",
        padding_side="left",
    )
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=1024,
        bos_token_id=None,
        eos_token_id=0,
        pad_token_id=0,
    )
    return LlamaForCausalLM(config), fast


def samples(record: Callable[..., Recording]) -> list[Sample]:
    """Calls that return 3, three times in other words, and the path of one."""
    recordings = [
        record(f"def f(n):\n    m = n - {n}\n    return m\n", "f", f"({3 + n},)", id=f"three/{n}")
        for n in range(3)
    ]
    outputs = [sample for recording in recordings for sample in QUESTIONS["output"](recording)]
    return [*outputs, *QUESTIONS["path"](recordings[0])]


class Watched:
    """A reward, and what it was called with and gave."""

    def __init__(self, rewarded: Reward) -> None:
        self.rewarded = rewarded
        self.__name__ = rewarded.__name__
        self.calls: list[tuple[dict[str, Any], list[float | None]]] = []

    def __call__(self, **given: Any) -> list[float | None]:
        got = self.rewarded(**given)
        self.calls.append((given, got))
        return got


def test_a_model_learns_by_rewards(record: Callable[..., Recording], tmp_path: Path) -> None:
    """20 steps: each completion is rewarded as `score` scores it, the log has their means, a metric that only some
    questions have is averaged over those, and the right answers become more."""
    asked = samples(record)
    model, tokenizer = tiny()
    with deskcheck.reward(asked) as outcome, deskcheck.reward(asked, "prefix") as prefix:
        watched = [Watched(outcome), Watched(prefix)]
        trainer = GRPOTrainer(
            model,
            reward_funcs=[*watched],
            processing_class=tokenizer,
            train_dataset=Dataset.from_list([*outcome.rows()]),
            args=GRPOConfig(
                output_dir=str(tmp_path),
                max_steps=STEPS,
                per_device_train_batch_size=2 * GROUP,
                num_generations=GROUP,
                max_completion_length=1,
                learning_rate=1e-2,
                logging_steps=1,
                report_to=[],
                save_strategy="no",
                use_cpu=True,
                bf16=False,
                gradient_checkpointing=False,
                seed=1,
            ),
        )
        trainer.train()
    logged = [row for row in trainer.state.log_history if "reward" in row]
    assert len(logged) == len(watched[0].calls) == STEPS
    by_id = {sample.id: sample for sample in asked}
    for row, (given, got), (_, of_metric) in zip(logged, *(each.calls for each in watched), strict=True):
        assert len(got) == 2 * GROUP
        right = [
            float(by_id[i].question == "output" and c == ANSWERS[0])
            for i, c in zip(given["id"], given["completions"], strict=True)
        ]
        assert got == right
        assert row["rewards/deskcheck_outcome/mean"] == pytest.approx(sum(right) / len(right))
        told = [value for value in of_metric if value is not None]
        assert len(told) == sum(by_id[i].question == "path" for i in given["id"])
        if told:
            assert row["rewards/deskcheck_prefix/mean"] == pytest.approx(sum(told) / len(told))
    shares = [share_right(calls, by_id) for calls in (watched[0].calls[:4], watched[0].calls[-4:])]
    assert shares[0] < 0.4
    assert shares[1] > 0.8


def share_right(calls: list[tuple[dict[str, Any], list[float | None]]], by_id: dict[str, Sample]) -> float:
    """Of the completions about what is returned."""
    found = [
        value
        for given, got in calls
        for i, value in zip(given["id"], got, strict=True)
        if by_id[i].question == "output"
    ]
    return sum(map(bool, found)) / len(found)


@pytest.mark.level("strict")
def test_the_script_of_the_guide_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commands, with fewer programs, and its script, with a tiny model and two steps."""
    model, tokenizer = tiny()
    tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    shown = {block.language: block.text for block in blocks(GUIDE)}
    monkeypatch.chdir(tmp_path)
    for command in shown["sh"].replace("generated:40,", "generated:3,inputs=1,").splitlines():
        if command.startswith("deskcheck"):
            done = CliRunner().invoke(app, shlex.split(command)[1:])
            assert done.exit_code == 0, done.output
    small = (
        "per_device_train_batch_size=4, num_generations=4, max_completion_length=2, max_steps=2, "
        "use_cpu=True, bf16=False, gradient_checkpointing=False, report_to=[], logging_steps=1"
    )
    script = shown["python"].replace("max_completion_length=512", small).replace('"MODEL"', '"model"')
    assert small in script
    names: dict[str, Any] = {}
    exec(compile(script, str(GUIDE), "exec"), names)
    logged = [row["rewards/deskcheck_outcome/mean"] for row in names["trainer"].state.log_history[:-1]]
    assert len(logged) == 2
    assert all(0 <= value <= 1 for value in logged)
    lines = Path("questions.jsonl").read_text().splitlines()
    assert {json.loads(line)["question"] for line in lines} == {"output", "path", "input"}
