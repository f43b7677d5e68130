"""Whole traces by a small model: what it writes, and each event after the true text before it."""

import json
from itertools import pairwise, takewhile
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="would show how models that write whole traces are run")

import torch
from typer.testing import CliRunner

from deskcheck.cli import app
from deskcheck.notation import NOTATIONS
from deskcheck.notation.layout import program_text, trace_prompt
from deskcheck.recording.reader import Recordings
from deskcheck.teach.lessons.lessons import LessonSettings, build
from deskcheck.teach.settings import Training
from deskcheck.teach.small.checkpoints import Checkpoint, open_checkpoint
from deskcheck.teach.small.evaluation import report, run_all
from deskcheck.teach.small.model import ModelConfig
from deskcheck.teach.small.traces import TRACES, exact_events
from deskcheck.teach.small.training import teach
from tests.teach.conftest import Recorded, call

CODE = "def f(n):\n    s = 0\n    while n:\n        s += n\n        n -= 1\n    return s\n"


def taught(record: Recorded, tmp_path: Path, notation: str, steps: int) -> Checkpoint:
    """A model that has read two traces so many times. It learns them by heart, or half."""
    runs = record(call("a", CODE, "(2)"), call("b", CODE, "(3)"), folder=f"runs-{notation}")
    build([runs], tmp_path / notation, LessonSettings(notations=(notation,), validation=0, test=0))
    training = Training(
        steps=steps, batch_size=2, warmup_steps=5, learning_rate=1e-2, precision="fp32", vocab_words=0
    )
    size = ModelConfig(vocab_size=258, layers=2, hidden_size=48, heads=2, intermediate_size=96)
    teach(tmp_path / notation, tmp_path / f"model-{steps}", config=size, training=training)
    return open_checkpoint(tmp_path / f"model-{steps}")


@pytest.mark.slow
@pytest.mark.parametrize("notation", TRACES)
def test_what_was_learnt_by_heart_is_right_in_both_ways(
    record: Recorded, tmp_path: Path, notation: str
) -> None:
    """A trace is written to its end, and every event after its true past is right, the end too."""
    model = taught(record, tmp_path, notation, 350)
    recordings = list(Recordings(tmp_path / f"runs-{notation}"))
    stepped = list(run_all(model, recordings, notation=notation))
    evaluation = report(model, stepped, steps_each=1000, notation=notation)
    assert {one.recording.id for one in stepped} == {"a", "b"}
    assert evaluation.steps.whole == 2
    assert all(one.agreement.first is None for one in stepped)
    assert evaluation.from_true_states is not None
    assert evaluation.from_true_states.value == 1
    assert evaluation.from_true_states.n == sum(len(one.trace) - 1 for one in recordings)
    for one in recordings:
        assert len(list(exact_events(model, one, notation, limit=3))) == 3


@pytest.mark.parametrize("notation", TRACES)
def test_each_event_is_what_the_network_says_is_most_likely(
    record: Recorded, tmp_path: Path, notation: str
) -> None:
    """Half taught: torch's own logits over the whole text, no memory of the program, lines as they come, agree;
    and a run that is written freely is exact as long as all events are."""
    model = taught(record, tmp_path, notation, 80)
    exact: list[bool] = []
    for one in Recordings(tmp_path / f"runs-{notation}"):
        mine = list(exact_events(model, one, notation))
        text = NOTATIONS[notation].render(one)
        asked = program_text(one.program) + trace_prompt(one.program, notation)
        tokens = [*model.tokenizer.encode(asked), *model.tokenizer.encode(text), model.tokenizer.end]
        network = model.network.model  # type: ignore[attr-defined]
        with torch.no_grad():
            hidden, _ = network(torch.tensor([tokens[:-1]]))
            said = network.logits(hidden)[0].argmax(-1).tolist()
        before = len(model.tokenizer.encode(asked))
        right = [a == b for a, b in zip(said[before - 1 :], tokens[before:], strict=True)]
        # Each line of these traces is an event, without further frames or objects but for the first.
        stops = (ord("\n"), model.tokenizer.end)
        ends = [place + 1 for place, token in enumerate(tokens[before:]) if token in stops]
        by_line = [all(right[a:b]) for a, b in pairwise([0, *ends])]
        assert mine == by_line[-len(mine) :]
        assert len(mine) == len(one.trace) - 1
        (run,) = run_all(model, [one], notation=notation)
        if all(by_line[: -len(mine)]):
            assert run.agreement.exact >= len(list(takewhile(bool, mine)))
        exact += mine
    assert 0 < sum(exact) < len(exact)


def test_by_the_command(record: Recorded, tmp_path: Path) -> None:
    """The notation is the one that was taught; what is written can be shown beside the recording."""
    taught(record, tmp_path, "compact", 250)
    runs, out, model = tmp_path / "runs-compact", tmp_path / "run.json", tmp_path / "model-250"
    arguments = ["models", "step", runs, "--model", model, "--each", 100, "--out", out]
    shown = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False).stdout
    assert "each step from its true past: 1.0000" in shown
    assert [run["stop"] for run in json.loads(out.read_text())["runs"]] == ["end", "end"]
    beside = ["view", runs, "b", "--beside", out, "--terminal"]
    assert CliRunner().invoke(app, [*map(str, beside)], catch_exceptions=False).exit_code == 0
