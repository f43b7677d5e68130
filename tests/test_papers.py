"""The scripts that make the tables of the papers: what they give to deskcheck."""

import json
from collections import Counter
from pathlib import Path

from benchmarks.paper_execution_tuning import ASKED, ROWS, STEPPED, TAUGHT, _other_data
from benchmarks.paper_themisto import _session
from deskcheck.ask.methods.solvers import check_methods
from deskcheck.notebook.trajectory.june import read_june
from deskcheck.notebook.trajectory.trajectory import Execution
from deskcheck.teach.lessons.mixing import _example


def test_scripted_people_edit_and_execute_again(tmp_path: Path) -> None:
    """Their log is read as one trajectory each, with edited cells; no two work alike."""
    log = tmp_path / "log.jsonl"
    events = [event for seed in range(2) for person in range(4) for event in _session(tmp_path, seed, person)]
    log.write_text("".join([json.dumps(event) + "\n" for event in events]))
    people = list(read_june(log))
    assert len(people) == 8
    for person in people:
        kinds = Counter(step.kind for step in person.steps)
        assert (kinds["execution"], kinds["edit"] >= 5) == (23, True)
    assert (
        len({tuple(step.source for step in person.steps if isinstance(step, Execution)) for person in people})
        == 8
    )


def test_every_row_is_taught_and_asked() -> None:
    """Methods and models of the tables exist; other data is in a form that lessons take."""
    for _, name, method in ROWS:
        assert method in ASKED[name]
        check_methods([method], ["output"])
    assert {*ASKED, *STEPPED} == {*TAUGHT}
    for example in list(_other_data(50)):
        prompt, answer = _example(example) or ("", "")
        assert prompt.endswith("?")
        question, _, result = answer.partition(" = ")
        assert eval(question) == int(result)
