"""The model beside the truth: what is read, and what is laid side by side."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from deskcheck.notation import NOTATIONS, Frame, Moment, moments, state_text
from deskcheck.recording import InputError, Kind, Recording, render
from deskcheck.view.side_by_side import SideBySide, _row, beside, read_prediction
from tests.view.conftest import Folder


def scratchpad(recording: Recording) -> str:
    return NOTATIONS["scratchpad"].render(recording)


def changed(recording: Recording, path: Path, change: Callable[[list[Moment]], object]) -> SideBySide:
    """A scratchpad of the recording in which something is changed, beside it."""
    told = list(moments(recording.trace, file=recording.program.filename))
    change(told)
    path.write_text(NOTATIONS["scratchpad"].write(iter(told), recording.program.code))
    return beside(recording, read_prediction(path, recording))


def with_local(moment: Moment, **values: int) -> Moment:
    """The moment with other variables."""
    frame = replace(moment.running, locals={**moment.running.locals, **values})
    return replace(moment, frames=(*moment.frames[:-1], frame))


def stepped(recording: Recording, states: list[str], stop: str, **more: object) -> dict[str, object]:
    run = {"id": recording.id, "states": states, "jumps": [1] * (len(states) - 1), "nll": [], "stop": stop}
    return {"model": "mine", "runs": [run | {"why": None} | more]}


def true_states(recording: Recording) -> list[str]:
    return [state_text(moment) for moment in moments(recording.trace, file=recording.program.filename)]


@pytest.mark.parametrize("name", ["recursion", "generator", "exception", "aliasing"])
@pytest.mark.parametrize("notation", ["scratchpad", "compact", "dynamic"])
def test_the_truth_beside_itself_differs_nowhere(
    lines: Folder, tmp_path: Path, name: str, notation: str
) -> None:
    """A trace in any notation of states, read back, is right to the end."""
    recording = lines.read(name)
    (tmp_path / "told.txt").write_text(NOTATIONS[notation].render(recording))
    found = beside(recording, read_prediction(tmp_path / "told.txt", recording, notation=notation))
    assert found.agreement.first is None
    assert found.facts["exact"] == len(found.facts["rows"]) == len(recording.trace)
    assert {row["verdict"] for row in found.facts["rows"]} == {"exact"}
    assert found.facts["variables"] == []


def test_a_wrong_value_is_named(lines: Folder, tmp_path: Path) -> None:
    """The first divergence is where a value differs first, and the variable is named with what was so."""
    recording = lines.read("generator")
    shown = [(e.index, e.kind, e.locals) for e in recording.trace]
    number = next(
        i for i, kind, names in shown if kind == "line" and "found" in names and render(names["found"]) == "2"
    )

    def lie(told: list[Moment]) -> None:
        told[number] = with_local(told[number], found=987)

    found = changed(recording, tmp_path / "told.txt", lie)
    assert (found.facts["first"], found.facts["how"], found.facts["exact"]) == (number, "value", number)
    assert found.facts["rows"][number]["verdict"] == "value"
    (variable,) = found.facts["variables"]
    assert [variable[key] for key in ("name", "event", "count", "true", "told")] == [
        "found",
        number,
        1,
        "2",
        "987",
    ]


def test_values_that_are_not_recorded() -> None:
    """What a value refers to can be missing after a gap: that is said."""
    frame = Frame(function="f", line=1, locals={"x": {"ref": 5}})
    row = _row(Moment(kind=Kind.LINE, frames=(frame,)), None)
    assert row["frames"][0]["names"] == [["x", "<opaque unknown>", None, True]]


def test_ends_that_do_not_agree(lines: Folder, tmp_path: Path) -> None:
    """A run that stops early misses events; one that goes on tells some that never were; a line that cannot be read
    ends it with the reason."""
    recording = lines.read("recursion")
    early = changed(recording, tmp_path / "early.txt", lambda told: told.__delitem__(slice(10, None)))
    assert early.facts["first"] == 10
    assert [row["verdict"] for row in early.facts["rows"][9:12]] == ["exact", "missing", "missing"]
    late = changed(recording, tmp_path / "late.txt", lambda told: told.append(told[-1]))
    assert late.facts["rows"][-1]["verdict"] == "beyond"
    assert late.facts["first"] == len(recording.trace)
    text = scratchpad(recording).split("\n")
    line = NOTATIONS["scratchpad"].parse("\n".join(text)).lines[5]
    text[line - 1] = "line 2: n=)"
    (tmp_path / "bad.txt").write_text("\n".join(text))
    bad = beside(recording, read_prediction(tmp_path / "bad.txt", recording))
    assert (bad.facts["first"], bad.facts["how"]) == (5, "unreadable")
    assert bad.facts["why"].startswith(f"line {line}")


def test_a_steppers_file(lines: Folder, tmp_path: Path) -> None:
    """What `deskcheck models step --out` writes is read, with the state that was given and jumps of several events."""
    recording = lines.read("recursion")
    states = true_states(recording)
    wrong = [*states[:7], states[7].replace("n=", "n=7", 1)]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(stepped(recording, wrong, "budget")))
    found = beside(recording, read_prediction(path, recording))
    assert (found.facts["given"], found.facts["exact"], found.facts["first"]) == (1, 6, 7)
    jumps = {"jumps": [2, 3]}
    path.write_text(json.dumps(stepped(recording, [states[0], states[2], states[5]], "budget", **jumps)))
    found = beside(recording, read_prediction(path, recording))
    assert (found.facts["exact"], found.facts["how"]) == (2, "budget")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "deskcheck models step --out"),
        ("[1", "deskcheck models step --out"),
        ('{"runs": [{"id": "other"}]}', "has no run of 'recursion'"),
        ('{"runs": [{"id": "recursion", "states": ["call f 1"]}]}', "does not begin with the first state"),
        ('{"runs": [{"id": "recursion", "states": []}]}', "damaged"),
    ],
)
def test_files_that_are_not_it(lines: Folder, tmp_path: Path, text: str, message: str) -> None:
    """A foreign or damaged file, or of another program, is refused with the reason."""
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(InputError, match=message):
        read_prediction(tmp_path / "run.json", lines.read("recursion"))


def test_texts_that_are_no_trace(lines: Folder, tmp_path: Path) -> None:
    (tmp_path / "told.txt").write_text("I think it returns 8.\n")
    with pytest.raises(InputError, match="does not contain a trace in the notation scratchpad"):
        read_prediction(tmp_path / "told.txt", lines.read("recursion"))
    with pytest.raises(InputError, match="unknown notation 'prose'"):
        read_prediction(tmp_path / "told.txt", lines.read("recursion"), notation="prose")
    with pytest.raises(InputError, match="cannot be read"):
        read_prediction(tmp_path / "nowhere.txt", lines.read("recursion"))


@pytest.mark.slow
def test_a_run_of_ask(runs: Mapping[str, Path], lines: Folder) -> None:
    """A run folder of `deskcheck ask` gives the run that a method predicted; where it went wrong is what the run says."""
    import pyarrow.parquet as pq

    recording = lines.read("recursion")
    told = pq.read_table(runs["runs"] / "samples.parquet").to_pylist()
    row = next(r for r in told if r["program"] == "recursion" and r["solver"] == "compact")
    found = beside(recording, read_prediction(runs["runs"], recording))
    assert found.agreement.exact == row["steps_exact"]
    assert (found.facts["how"] or "") == row["divergence"]
    with pytest.raises(InputError, match="no predicted run"):
        read_prediction(runs["both"], recording)
    with pytest.raises(InputError, match="no predicted run"):
        read_prediction(runs["runs"], lines.read("aliasing"))
