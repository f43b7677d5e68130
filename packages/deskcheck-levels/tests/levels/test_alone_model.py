"""A model of the level `alone` that works its answers out: where words stand, what it writes, its training."""

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="no torch: would have proved that a model works answers out")

from deskcheck_levels.alone import training  # noqa: E402
from deskcheck_levels.alone.lesson import Writer  # noqa: E402
from deskcheck_levels.alone.lessons import numbers  # noqa: E402
from deskcheck_levels.alone.network import AloneModel, Standing, save  # noqa: E402
from deskcheck_levels.alone.stepping import AloneModels, AloneRows, KnownProgram, Worked, words_of  # noqa: E402
from deskcheck_levels.alone.text import AloneState, edit_text, read_program, read_state  # noqa: E402
from deskcheck_levels.alone.words import FILLERS, NUMBER, SIGN, WORDS, value_words  # noqa: E402
from deskcheck_levels.reader.settings import AloneTraining  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from deskcheck.cli import app  # noqa: E402
from deskcheck.errors import InputError  # noqa: E402
from deskcheck.notation.edits import edited  # noqa: E402
from deskcheck.notation.layout import program_text, step_prompt  # noqa: E402
from deskcheck.recording.reader import Recordings  # noqa: E402
from deskcheck.teach.small.model import ModelConfig  # noqa: E402
from tests.teach.conftest import Recorded, call  # noqa: E402

LOOP = "def f(n):\n    total = 0\n    for i in range(n):\n        total -= i\n    return total\n"
TEXT = "def f(n):\n    return n + 'a'\n"


def standing(words: list[str]) -> list[tuple[str, str, int, int, int]]:
    """As `network.Standing`, from its description, a word at a time."""
    found: list[tuple[str, str, int, int, int]] = []
    owner, before, place, line, along = words[0], "", 0, 0, 0
    for at, word in enumerate(words):
        along = min(along + 1, 31) if line else 0
        if word in FILLERS:
            place += word != SIGN
        else:
            owner, before, place = word, words[at - 1] if at else "", 0
        if word[0] == "L" and word[1:].isdigit():
            line, along = int(word[1:]), 0
        found.append((owner, before, 15 if word == SIGN else min(place, 14), line, along))
    return found


def test_words_know_where_they_stand() -> None:
    program = read_program(LOOP)
    words, _ = Writer().step(program, AloneState("line", 4, {"n": 5, "total": -1234, "i": 77}, (78, 99, 1)))
    for text in (program.words(), ["state", "@3", "N1", *value_words(-12345), *words]):
        whose, before, place, line, along = (
            row[0].tolist() for row in Standing()(torch.tensor([[NUMBER[word] for word in text]]))
        )
        told = zip(
            [WORDS[word] for word in whose], [WORDS[word] for word in before], place, line, along, strict=True
        )
        assert list(told) == standing(text)


@pytest.fixture
def model() -> AloneModel:
    """One that knows nothing."""
    torch.manual_seed(0)
    made = AloneModel(
        ModelConfig(
            vocab_size=len(WORDS), layers=2, hidden_size=32, heads=2, intermediate_size=64, shift_tokens=2
        )
    )
    for weight in made.parameters():
        weight.data.mul_(8)
    made.eval()
    return made


def test_words_are_the_likeliest_ones(model: AloneModel) -> None:
    """Written one after another, of several programs at once, as one pass over all of each has them."""
    codes = [LOOP, "def g(a, b):\n    return a - b\n", LOOP]
    rows = AloneRows(model, codes, 40)
    states = {
        0: "globals: def f\nf 2: n=-123",
        1: "globals: def g\ng 2: a=4, b=117",
        2: "globals: def f\ncall f 1: n=0",
    }
    given = [(rows.programs[row], state) for row, state in states.items()]
    for row, worked in enumerate(rows.work(given)):
        asked, written = numbers(words_of(*given[row])), numbers(worked.words)
        program = numbers(read_program(codes[row]).words())
        with torch.inference_mode():
            context = model.read(torch.tensor([program]), torch.tensor([len(program)]))
            known, _ = model(torch.tensor([[*asked, *written]]), context)
            logs = torch.log_softmax(model.logits(known[0]).float(), -1)[len(asked) - 1 : -1]
        assert logs.argmax(-1).tolist() == list(written)
        assert worked.nll == pytest.approx(-float(logs.max(-1).values.sum()), rel=1e-4)


def test_the_working_is_dropped(model: AloneModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """A right state is right however it was worked out, a wrong one is wrong, and no answer is no state."""
    state = "globals: def f\nf 4: n=3, total=-1, i=2 | <range_iterator left=range(3, 3)>"
    right, _ = Writer().step(read_program(LOOP), read_state(state))
    after = edited(state, edit_text(read_program(LOOP), right))
    assert after == "globals: def f\nf 3: n=3, total=-3, i=2 | <range_iterator left=range(3, 3)>"
    answers = [right, ["L1", *right[5:]], [*right[:-2], "4", "stop"], right[:-1]]
    monkeypatch.setattr(
        AloneRows, "work", lambda rows, states: [Worked(answers[n], n < 3, 0.5) for n in range(len(states))]
    )
    rows = AloneRows(model, [LOOP] * 4, 40)
    prompt = step_prompt(LOOP.splitlines(), state)
    found = rows.ask(dict.fromkeys(range(4), (prompt, state)))
    assert [found[row].text for row in range(4)] == [
        *(after, after, after.replace("-3", "-4")),
        "no answer: no answer after the working",
    ]
    assert rows.exact(range(4), [(prompt, after)] * 4) == [True, True, False, False]


def test_what_is_outside_is_said(model: AloneModel) -> None:
    rows = AloneRows(model, [TEXT, LOOP], 40)
    found = rows.ask({0: ("globals: def f\nf 2: n=1\n2|    return n + 'a'\n+1\n", ""), 1: ("what?\n", "")})
    assert found[0].text == "outside of what the model was taught: a value of the kind str, or a long one"
    assert found[1].text.startswith("outside of what the model was taught: a state with more")
    rows.add(AloneRows(model, [LOOP], 40))
    rows.keep([2])
    assert len(rows) == 1


def test_other_notations_and_jumps_are_refused(model: AloneModel, tmp_path: Path) -> None:
    save(model, tmp_path, {"level": "alone", "words": list(WORDS)})
    opened = AloneModels(tmp_path)
    opened.refuse_untaught("dynamic", (1,))
    for notation, jumps in (("compact", ()), ("dynamic", (1, 4))):
        with pytest.raises(InputError, match="was taught only the notation dynamic"):
            opened.refuse_untaught(notation, jumps)
    rows = opened.read([program_text(call("a", LOOP, "(3)"))])
    assert len(rows) == 1


SETTINGS = AloneTraining(steps=4, batch_size=8, layers=1, hidden_size=32, look_every=2)
SOURCE = "generated:60,difficulty=1-2,seed=1,inputs=1"


@pytest.mark.exhaustive
def test_a_run_that_was_ended_goes_on(record: Recorded, tmp_path: Path) -> None:
    """With the same lessons and losses; and the command runs programs in what came of it."""

    class Ended(Exception):
        pass

    def end(row: dict[str, object]) -> None:
        raise Ended

    training.train(SOURCE, tmp_path / "whole", SETTINGS)
    with pytest.raises(Ended):
        training.train(SOURCE, tmp_path / "ended", SETTINGS, note=end)
    training.train(SOURCE, tmp_path / "ended", SETTINGS)
    rows = [
        [
            {name: value for name, value in json.loads(line).items() if name != "seconds"}
            for line in (tmp_path / folder / "metrics.jsonl").read_text().splitlines()
        ]
        for folder in ("whole", "ended")
    ]
    assert rows[0] == rows[1]
    assert [row["step"] for row in rows[0]] == [2, 4]
    runs = record(call("a", LOOP, "(2)"), call("b", TEXT, "(2)"))
    shown = CliRunner().invoke(
        app,
        ["models", "step", str(runs), "--model", str(tmp_path / "whole"), "--budget", "2", "--each", "2"],
        catch_exceptions=False,
    )
    assert "each step from its true state: 0.0000" in shown.stdout


def test_the_command_trains(tmp_path: Path) -> None:
    arguments = ["teach", "--steps-of", SOURCE, "--level", "alone", "--out", str(tmp_path / "model")]
    arguments += ["--steps", "1", "--batch-size", "4", "--layers", "1", "--hidden-size", "32"]
    assert CliRunner().invoke(app, arguments, catch_exceptions=False).exit_code == 0
    assert (tmp_path / "model" / "alone.npz").is_file()


def by_rules(rows: AloneRows, states: list[tuple[KnownProgram, str]]) -> list[Worked]:
    """What a model writes that has learned all."""
    writer, written = Writer(), []
    for known, state in states:
        assert not isinstance(known.program, str)
        written.append(Worked(writer.step(known.program, read_state(state))[0], True, 0.0))
    return written


def test_whole_states_are_seen(
    model: AloneModel, record: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stepper and `ask` see whole states: with the rules in place of the network, all of them are right."""
    pytest.importorskip("inspect_ai", reason="no inspect_ai: would have proved that a model is asked")
    from deskcheck_levels.alone import provider  # noqa: F401 (registers it where deskcheck is not installed)

    from deskcheck.ask import AskSettings, ask
    from deskcheck.teach.small.evaluation import report, run_all

    save(model, tmp_path / "model", {"level": "alone", "words": list(WORDS)})
    monkeypatch.setattr(AloneRows, "work", by_rules)
    runs = record(*[call(str(n), LOOP, f"({n})") for n in range(4)])
    opened = AloneModels(tmp_path / "model")
    found = report(opened, list(run_all(opened, list(Recordings(runs)), rows=2)), steps_each=9)
    assert found.steps.whole == found.steps.runs == 4
    assert found.from_true_states is not None
    assert found.from_true_states.value == 1
    results = ask(
        [runs],
        ["output", "state"],
        [f"alone/{tmp_path / 'model'}"],
        out=tmp_path / "asked",
        settings=AskSettings(methods=("dynamic_scratchpad",), explain=True),
    )
    assert [result.score for result in results] == [1.0, 1.0]
