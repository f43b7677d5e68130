"""Training from nothing: what is trained, that it learns, that a run that was ended goes on as if it was not."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recording import InputError, RecordingError
from deskcheck.teach.lessons.lessons import LessonSettings, build
from deskcheck.teach.lessons.tokens import Bytes
from tests.teach.conftest import Recorded, call

torch = pytest.importorskip(
    "torch", reason="no torch: would have proved that runs go on where they were ended"
)

from deskcheck.teach.lessons.ids import IGNORED  # noqa: E402
from deskcheck.teach.run_folder import METRICS, RUN  # noqa: E402
from deskcheck.teach.settings import Training  # noqa: E402
from deskcheck.teach.small.batches import (  # noqa: E402
    Batches,
    make_batch,
    read_lessons,
    read_texts,
    shards,
    some_texts,
)
from deskcheck.teach.small.checkpoints import open_checkpoint  # noqa: E402
from deskcheck.teach.small.model import Model, ModelConfig  # noqa: E402
from deskcheck.teach.small.trainer import RESUME  # noqa: E402
from deskcheck.teach.small.training import loss_of, teach  # noqa: E402

SMALL = ModelConfig(vocab_size=Bytes.size, layers=2, hidden_size=48, heads=2, intermediate_size=96)
SHORT = Training(
    steps=24,
    batch_size=16,
    steps_per_program=8,
    log_every=4,
    eval_every=8,
    eval_batches=1,
    warmup_steps=4,
    precision="fp32",
)
CODE = "def f(n):\n    total = {}\n    for i in range(n):\n        total += i\n    return total\n"


@pytest.fixture
def lessons(record: Recorded, tmp_path: Path) -> Path:
    programs = [call(f"p{number}", CODE.format(number), f"({number % 4 + 1})") for number in range(12)]
    build([record(*programs)], tmp_path / "lessons", LessonSettings(validation=0.2, test=0))
    return tmp_path / "lessons"


def curve(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / METRICS).read_text().splitlines()]


def losses(out: Path) -> list[tuple[int, float]]:
    return [(row["step"], row["loss"]) for row in curve(out)]


def test_labels_are_the_answers_and_nothing_else(lessons: Path) -> None:
    """Decoding exactly the trained places of every row gives the lessons' completions."""
    some = list(read_lessons(shards(lessons), "train", Bytes()))[:3]
    batch = make_batch(some, Bytes.padding)
    wanted = [completion for one in some for _, completion in one.pairs]
    assert len(wanted) == len(batch.labels) > 3
    for row, completion in enumerate(wanted):
        labels = batch.labels[row]
        assert labels[labels != IGNORED].tolist() == list(completion)
        assert completion[-1] == Bytes.end
        places = (labels != IGNORED).nonzero()[:, 0]
        for place in places[:-1]:  # the label of a token is the token that follows it
            assert batch.tokens[row, place + 1] == labels[place]


def test_loss_of_shared_programs_is_that_of_each_lesson_alone(lessons: Path) -> None:
    torch.manual_seed(0)
    model = Model(SMALL)
    some = list(read_lessons(shards(lessons), "train", Bytes()))[:3]
    with torch.inference_mode():
        together, _ = loss_of(model, make_batch(some, Bytes.padding))
        total, count = 0.0, 0
        for one in some:
            for prompt, completion in one.pairs:
                whole = torch.tensor([[*one.program, *prompt, *completion]])
                logits = model.logits(model(whole[:, :-1])[0])[0, -len(completion) :]
                total += float(
                    torch.nn.functional.cross_entropy(logits, whole[0, -len(completion) :], reduction="sum")
                )
                count += len(completion)
    assert float(together) == pytest.approx(total / count, rel=1e-4)


def test_it_learns_and_writes_down_how(lessons: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    told: list[dict[str, Any]] = []
    teach(lessons, out, config=SMALL, training=SHORT, note=told.append)
    assert told == curve(out)
    assert [step for step, _ in losses(out)] == [4, 8, 12, 16, 20, 24]
    assert losses(out)[-1][1] < losses(out)[0][1] - 1
    assert {"validation_loss", "exact"} <= set(told[-1])
    asked = json.loads((out / "run.json").read_text())
    assert set(asked["lessons"]) == {file.name for file in shards(lessons)}
    assert Model.load(out)[1]["step"] == 24


def test_a_run_that_was_ended_goes_on_with_the_same_losses(lessons: Path, tmp_path: Path) -> None:
    teach(lessons, tmp_path / "whole", config=SMALL, training=SHORT)
    looked = 0

    def soon() -> bool:
        nonlocal looked
        looked += 1
        return looked == 8

    teach(lessons, tmp_path / "ended", config=SMALL, training=SHORT, until=soon)
    assert [step for step, _ in losses(tmp_path / "ended")] == [4, 8]
    teach(lessons, tmp_path / "ended", config=SMALL, training=SHORT)
    assert losses(tmp_path / "ended") == losses(tmp_path / "whole")


@pytest.mark.parametrize("name", [RESUME, RUN])
def test_a_damaged_run_says_so(name: str, lessons: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    teach(lessons, out, config=SMALL, training=SHORT)
    whole = (out / name).read_bytes()
    (out / name).write_bytes(whole[:300])
    with pytest.raises(RecordingError, match=f"{name}: damaged: "):
        teach(lessons, out, config=SMALL, training=SHORT)
    (out / name).write_bytes(b"nonsense")
    with pytest.raises(RecordingError, match=f"{name}: damaged: "):
        teach(lessons, out, config=SMALL, training=SHORT)


def test_the_model_of_a_run_that_is_over_is_mended(lessons: Path, tmp_path: Path) -> None:
    """What is lost of it stands in what the run goes on from, and no step is made anew."""
    out = tmp_path / "run"
    teach(lessons, out, config=SMALL, training=SHORT)
    weights, told = (out / "model.safetensors").read_bytes(), curve(out)
    (out / "model.safetensors").write_bytes(weights[:300])
    teach(lessons, out, config=SMALL, training=SHORT)
    assert (out / "model.safetensors").read_bytes() == weights
    assert curve(out) == told


def test_a_run_of_which_nothing_was_saved_can_be_asked_otherwise(lessons: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"

    class Ended(Exception):
        pass

    def end(row: dict[str, Any]) -> None:
        raise Ended

    with pytest.raises(Ended):
        teach(lessons, out, config=SMALL, training=SHORT, note=end)
    assert (out / RUN).exists()
    other = replace(SHORT, seed=1)
    teach(lessons, out, config=SMALL, training=other)
    with pytest.raises(InputError, match="has a run with other training"):
        teach(lessons, out, config=SMALL, training=SHORT)


def test_a_model_says_what_it_was_taught(record: Recorded, lessons: Path, tmp_path: Path) -> None:
    """It is not asked in another notation, or for other jumps; one that does not say may be asked anything."""
    teach(lessons, tmp_path / "steps", config=SMALL, training=replace(SHORT, steps=1))
    steps = open_checkpoint(tmp_path / "steps")
    steps.refuse_untaught("dynamic", [1])
    with pytest.raises(InputError, match="was taught dynamic, but is asked in compact"):
        steps.refuse_untaught("compact")
    with pytest.raises(InputError, match="jumps of 1 events, but is asked for 4, 7"):
        steps.refuse_untaught("dynamic", [1, 4, 7])
    (lessons / "lessons.json").unlink()
    teach(lessons, tmp_path / "unsaid", config=SMALL, training=replace(SHORT, steps=1))
    open_checkpoint(tmp_path / "unsaid").refuse_untaught("compact", [4])


def test_one_at_a_time_trains_in_a_folder(lessons: Path, tmp_path: Path) -> None:
    """Two that write one run would spoil it; what the first has is not touched."""
    out = tmp_path / "run"
    refused: list[str] = []

    def another(row: dict[str, Any]) -> None:
        code = (
            "import sys\nfrom pathlib import Path\nfrom deskcheck.teach.small.training import teach\n"
            "teach(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        )
        command = [sys.executable, "-c", code, str(lessons), str(out)]
        if not refused:
            refused.append(subprocess.run(command, capture_output=True, text=True, check=False).stderr)

    teach(lessons, out, config=SMALL, training=SHORT, note=another)
    assert f"process {os.getpid()}" in refused[0]
    assert "one writer at a time" in refused[0]
    assert [step for step, _ in losses(out)] == [4, 8, 12, 16, 20, 24]


@pytest.mark.slow
def test_a_killed_run_goes_on_with_the_same_losses(lessons: Path, tmp_path: Path) -> None:
    """Killed between two of its checks, with a line of the curve half written."""
    settings = "Training(steps=24, batch_size=16, steps_per_program=8, log_every=4, eval_every=8, eval_batches=1, warmup_steps=4, precision='fp32')"
    config = f"ModelConfig(vocab_size={Bytes.size}, layers=2, hidden_size=48, heads=2, intermediate_size=96)"
    code = (
        "import sys, time, torch\nfrom pathlib import Path\nfrom deskcheck.teach.small.training import *\n"
        "torch.set_num_threads(1)\n"
        "def slowly(row):\n    time.sleep(0.5 if row['step'] >= 12 else 0)\n"
        f"teach(Path(sys.argv[1]), Path(sys.argv[2]), config={config}, training={settings}, note=slowly)\n"
    )
    torch.set_num_threads(1)
    teach(lessons, tmp_path / "whole", config=SMALL, training=SHORT)
    out = tmp_path / "killed"
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(lessons), str(out)], env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    try:
        while not ((out / METRICS).exists() and '"step": 12' in (out / METRICS).read_text()):
            assert child.poll() is None
            time.sleep(0.02)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    with (out / METRICS).open("a") as metrics:
        metrics.write('{"step": 1')
    teach(lessons, out, config=SMALL, training=SHORT)
    assert losses(out) == losses(tmp_path / "whole")


def test_another_run_in_the_folder_is_refused(lessons: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    teach(lessons, out, config=SMALL, training=SHORT, until=lambda: True)
    before = (out / RESUME).read_bytes()
    with pytest.raises(InputError, match="other training"):
        teach(lessons, out, config=SMALL, training=Training(steps=5))
    assert (out / RESUME).read_bytes() == before


def test_folders_without_lessons_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no lessons"):
        teach(tmp_path, tmp_path / "run")
    (tmp_path / "a.parquet").write_bytes(b"not one")
    with pytest.raises(InputError, match="cannot be read as lessons"):
        teach(tmp_path, tmp_path / "run2")


def test_batches_are_the_seeds(lessons: Path) -> None:
    """The same seed gives the same batches, another one others."""

    def first(seed: int) -> list[list[int]]:
        batches = iter(Batches(shards(lessons), Bytes(), rows=16, per_program=4, seed=seed))
        return [next(batches).tokens.flatten().tolist() for _ in range(4)]

    assert first(1) == first(1)
    assert first(1) != first(2)


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"precision": "fp8"}, {"learning_rate": 0.0}])
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        Training(**wrong)


def test_words_are_learned_from_a_whole_file(lessons: Path) -> None:
    """Lessons of one source stand together, so that the first are not like the others."""
    file = shards(lessons)[0]
    everything = list(read_texts(file, "train"))
    few = list(some_texts([file], count=6))
    places = [everything.index((few[at], few[at + 1], few[at + 2])) for at in range(0, len(few), 3)]
    assert 3 <= len(places) <= 6 < len(everything)
    assert places[0] == 0
    assert places == [*range(0, len(everything), places[1])]
    assert list(some_texts([file], count=10_000)) == [text for lesson in everything for text in lesson]


@pytest.mark.parametrize("rows", [1, 3, 16])
def test_a_pass_gives_every_lesson_once(lessons: Path, rows: int) -> None:
    """Those that stand together share a program or its batch, and are about as long as one another."""
    files = shards(lessons)
    wanted = sorted(
        (tuple(one.program), tuple(prompt), tuple(completion))
        for one in read_lessons(files, "train", Bytes())
        for prompt, completion in one.pairs
    )
    some = iter(Batches(files, Bytes(), rows=rows, per_program=4, seed=3))
    found: list[Any] = []
    while len(found) < len(wanted):
        batch = next(some)
        assert len(batch.tokens) <= rows
        assert batch.owner.bincount().max() <= 4
        for row, owner in enumerate(batch.owner.tolist()):
            program = batch.programs[owner, : batch.lengths[owner]].tolist()
            places = (batch.labels[row] != IGNORED).nonzero()[:, 0].tolist()
            whole = [*batch.tokens[row, : places[-1] + 1].tolist(), int(batch.labels[row, places[-1]])]
            found.append((tuple(program), tuple(whole[: places[0] + 1]), tuple(whole[places[0] + 1 :])))
    assert sorted(found) == wanted
