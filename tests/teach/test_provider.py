"""A checkpoint as a model that is asked: what it answers by `ask` is what the stepper makes of it."""

from pathlib import Path

import pytest

from deskcheck.recording import InputError
from deskcheck.recording.reader import Recordings
from tests.teach.conftest import Recorded, call

WHY = "would have proved that a checkpoint can be asked questions"
torch = pytest.importorskip("torch", reason=f"no torch: {WHY}")
pytest.importorskip("inspect_ai", reason=f"no inspect_ai: {WHY}")


from deskcheck.ask import AskSettings, ask  # noqa: E402
from deskcheck.teach.lessons.lessons import LessonSettings, build  # noqa: E402
from deskcheck.teach.settings import Training  # noqa: E402
from deskcheck.teach.small.checkpoints import open_checkpoint  # noqa: E402
from deskcheck.teach.small.evaluation import report, run_all  # noqa: E402
from deskcheck.teach.small.model import ModelConfig  # noqa: E402
from deskcheck.teach.small.provider import Taught  # noqa: E402 (registers it where deskcheck is not installed)
from deskcheck.teach.small.training import teach  # noqa: E402

CODE = "def f(n):\n    m = n + 1\n    return m\n"


@pytest.fixture(scope="module")
def steady() -> None:
    torch.set_num_threads(1)


@pytest.mark.slow
@pytest.mark.usefixtures("steady")
def test_a_checkpoint_is_asked(record: Recorded, tmp_path: Path) -> None:
    """A model that knows a run by heart answers what they give, by questions and by the stepper alike."""
    runs = record(call("p", CODE, "(1,)"))
    build([runs], tmp_path / "lessons", LessonSettings(validation=0, test=0, ids=False))
    settings = Training(
        steps=150,
        batch_size=8,
        steps_per_program=8,
        warmup_steps=10,
        eval_every=150,
        learning_rate=3e-3,
        precision="fp32",
        vocab_words=0,
    )
    config = ModelConfig(vocab_size=0, layers=2, hidden_size=64, heads=2, intermediate_size=128)
    teach(tmp_path / "lessons", tmp_path / "model", config=config, training=settings)

    checkpoint = open_checkpoint(tmp_path / "model")
    stepped = report(checkpoint, list(run_all(checkpoint, list(Recordings(runs)))))
    assert stepped.steps.whole == 1

    for explain in (True, False):
        results = ask(
            [runs],
            ["output", "state"],
            [f"taught/{tmp_path / 'model'}"],
            out=tmp_path / f"asked-{explain}",
            settings=AskSettings(methods=("dynamic_scratchpad",), explain=explain),
        )
        assert [result.score for result in results] == [1.0, 1.0]
        steps = results[0].steps
        assert steps is not None
        assert (steps.whole, steps.judged) == (1, stepped.steps.judged)


def test_a_folder_without_a_model_is_refused(record: Recorded, tmp_path: Path) -> None:
    runs = record(call("p", CODE, "(1,)"))
    with pytest.raises(InputError, match="has no model of deskcheck"):
        ask([runs], ["output"], [f"taught/{tmp_path}"], out=tmp_path / "asked")


@pytest.mark.parametrize("place", ["program", "prompt"])
def test_a_prompt_beyond_the_context_is_not_run(place: str) -> None:
    """Memory for attention grows with the square of the tokens: 8 GB for the source of a package."""
    pytest.importorskip(
        "onnxruntime", reason="no onnxruntime: would have proved that nano refuses long prompts"
    )
    model = Taught("nano")
    long = "a = [1, 2]\n" * 5000
    text = f"{long}\nf(1)\n" if place == "program" else f"a = 1\n\n{long}"
    answer = model._answer(text, 5)
    assert (answer.stop_reason, answer.completion) == ("model_length", "")
    assert model._answer("a = 1\n\nf(1)\n", 5).stop_reason == "max_tokens"
