"""The quick part of what is frozen; `python -m tests.frozen compare` compares the rest."""

import re
from pathlib import Path

import pytest

from tests.frozen.__main__ import chosen_steps, left_out
from tests.frozen.commands import STEPS, Output, Share
from tests.frozen.items import MASK, Items, Renamed
from tests.frozen.run import folder, missing, run
from tests.frozen.store import DIGESTS, EXACT, Store


@pytest.mark.level("strict")
@pytest.mark.slow
def test_outputs_are_what_they_were(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A few programs recorded in the sandbox, listed, shown, asked about and marked give the outputs that are frozen,
    byte for byte, but for what is masked."""
    if not EXACT:
        pytest.skip(
            "digests are those of CPython 3.11: would have proved that a few outputs are what they were"
        )
    store = Store(found=tmp_path)
    with folder() as work:
        steps = [step for step in STEPS if step.share is Share.QUICK and missing(step, work) is None]
        differing = sum(store.compare(step.name, run(step, work).items, 3) for step in steps)
    assert len(steps) >= 7
    assert differing == 0, capsys.readouterr().out


def test_every_step_has_digests_and_no_others_are_kept() -> None:
    """A step that nothing was frozen of would be compared with nothing, and digests of no step would never be."""
    steps = [step.name for step in STEPS]
    assert len({*steps}) == len(steps)
    assert sorted(path.stem for path in DIGESTS.glob("*.txt")) == sorted(steps)


def test_some_steps_bring_those_that_they_read() -> None:
    """Each with what it needs, in order; a step that reads nothing comes alone; a name of no step is refused."""

    def names(only: str) -> list[str]:
        return [step.name for step in chosen_steps(only, more=False)]

    assert names("list,list-json") == ["list", "list-json"]
    assert names("score") == ["record-calls", "questions", "score"]
    assert names("compact") == ["job", "compact"]
    assert names("ask-again") == ["record-calls", "cruxeval", "ask", "ask-again"]
    assert names("*") == [step.name for step in STEPS if step.share is not Share.MORE]
    with pytest.raises(SystemExit, match="no step is called lists"):
        chosen_steps("list,lists", more=False)


def test_what_reads_a_missing_output_is_left_out_too(tmp_path: Path) -> None:
    """Without published sets, nothing that is made of them is compared, and all else is; with them, they are not
    what is lacking."""
    lacking = left_out(STEPS, tmp_path)
    for name in ("cruxeval", "check", "ask", "ask-again", "report", "show-instructions"):
        assert re.match("no data/|nothing wrote |.* is not installed", lacking[name])
    assert lacking["check"] == "nothing wrote crux"
    assert not {"record-calls", "list", "job", "lessons", "view-json"} & {*lacking}
    for step in STEPS:
        for argument in step.arguments:
            if ":data/" in argument:
                (tmp_path / "data").mkdir(exist_ok=True)
                (tmp_path / argument.partition(":")[2]).touch()
    assert not [why for why in left_out(STEPS, tmp_path).values() if not why.endswith("is not installed")]


def items_of(folder: Path, text: str) -> dict[str, list[str]]:
    """The items of a file of JSON lines."""
    (folder / "rows.jsonl").write_text(text)
    items = Items("step", folder)
    items.read(Output("rows.jsonl", ("id",), ("n",)))
    items.counted()
    return items.texts


def test_facts_of_a_run_are_masked_and_all_else_is_kept(tmp_path: Path) -> None:
    """Durations, times, addresses and the run's folder do not show in an item; answers do; what counts bytecode
    stands in an item of its own."""
    row = f'{{"id": "a", "n": %d, "cpu_s": %s, "text": "{tmp_path}/x at %s", "answer": "%s", "offset": %d}}\n'
    before = items_of(tmp_path, row % (1, 0.5, "2026-01-02 03:04:05", "yes", 4))
    assert items_of(tmp_path, row % (1, 0.9, "2027-11-12T13:14:15", "yes", 4)) == before
    assert MASK in before["step/a"][0]
    other = items_of(tmp_path, row % (1, 0.5, "2026-01-02 03:04:05", "no", 6))
    assert {name for name in other if other[name] != before[name]} == {"step/a", "step/bytecode"}


def test_limits_and_the_names_of_renamed_keys_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time that a run was allowed is no fact of the run. A key in the table of renamed ones has its old name."""
    before = items_of(tmp_path, '{"id": "a", "n": 1, "run_limits": {"cpu_s": 20}, "level": "line"}\n')
    assert '"cpu_s": 20' in before["step/a"][0]
    monkeypatch.setattr("tests.frozen.items.RENAMED", (Renamed("level", "detail", "step/*"),))
    after = items_of(tmp_path, '{"id": "a", "n": 1, "run_limits": {"cpu_s": 20}, "detail": "line"}\n')
    assert after == before
    with pytest.raises(ValueError, match="one old name"):
        items_of(tmp_path, '{"id": "a", "n": 1, "level": "line", "detail": "line"}\n')


def test_rows_are_in_order_wherever_they_stood(tmp_path: Path) -> None:
    """The rows of an item are ordered by the columns that the table of commands names."""
    rows = ['{"id": "a", "n": 10}\n', '{"id": "a", "n": 9}\n', '{"id": "b", "n": 1}\n']
    assert items_of(tmp_path, "".join(rows)) == items_of(tmp_path, "".join(reversed(rows)))


def test_a_difference_names_its_item_and_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A changed, a new and a missing item are told apart; of the changed one a diff is shown."""
    store = Store(digests=tmp_path / "digests", kept=tmp_path / "kept", found=tmp_path / "found", exact=True)
    store.make("step", {"step/same": "1\n", "step/changed": "old line\n", "step/gone": "2\n"})
    now = {"step/same": "1\n", "step/changed": "new line\n", "step/more": "3\n"}
    assert store.compare("step", now, diffs=1) == 3
    said = capsys.readouterr().out
    for line in ("differs: step/changed", "gone: step/gone", "new: step/more", "-old line", "+new line"):
        assert line in said
    assert "step/same" not in said


def test_another_version_accepts_what_is_listed_for_it(tmp_path: Path) -> None:
    """On a version that the digests are not of, items that its list names may differ, others may not."""
    first = Store(digests=tmp_path / "digests", kept=tmp_path / "kept", found=tmp_path / "found", exact=True)
    first.make("step", {"step/a": "1\n", "step/b": "1\n", "step/bytecode": "1\n"})
    other = Store(digests=tmp_path / "digests", kept=tmp_path / "kept", found=tmp_path / "found", exact=False)
    other.make("step", {"step/a": "2\n", "step/b": "1\n"})
    assert other.compare("step", {"step/a": "3\n", "step/b": "1\n"}, diffs=0) == 0
    assert other.compare("step", {"step/a": "2\n", "step/b": "2\n"}, diffs=0) == 1
