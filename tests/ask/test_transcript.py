"""Transcripts of methods of any package: what is kept of them, and what a solver may know of its task."""

import json
from pathlib import Path

from deskcheck.ask import Sample
from deskcheck.ask.inspect.context import TaskQuestions, new_run, questions_of
from deskcheck.ask.results.transcript import LEFT_OUT, TranscriptLine, shortened, transcript


def test_a_transcript_keeps_what_its_lines_have() -> None:
    """Zero tests that passed stand there; what is empty does not."""
    lines = [
        TranscriptLine(kind="call", step="draft", prompt="p", completion="c", tokens=(3, 1)),
        TranscriptLine(kind="tests", step="round 0", passed=0, of=2, verdict="wrong"),
    ]
    assert transcript(lines, calls=1, runs=1, tokens=4, ended="spent") == {
        "calls": 1,
        "runs": 1,
        "tokens": 4,
        "ended": "spent",
        "left_out": 0,
        "attempts": [
            {"kind": "call", "step": "draft", "prompt": "p", "completion": "c", "tokens": (3, 1)},
            {"kind": "tests", "step": "round 0", "passed": 0, "of": 2, "verdict": "wrong"},
        ],
    }


def test_a_transcript_is_bounded() -> None:
    """Each text is cut, and in a long transcript the later lines have none."""
    text = shortened("x" * 30_000)
    assert text.endswith("x\n[cut]")
    lines = [TranscriptLine(kind="call", step=str(number), completion=text) for number in range(80)]
    kept = transcript(lines, calls=80, runs=0, tokens=0)
    assert len(json.dumps(kept)) < 1_100_000
    texts = [line["completion"] for line in kept["attempts"]]
    assert (len(texts), texts[0], texts[-1]) == (80, text, LEFT_OUT)


def test_a_solver_finds_the_questions_of_its_task(tmp_path: Path) -> None:
    """All of them and the run folder, by the key that each of its samples has."""
    samples = [
        Sample(id=id_, question="q", program=id_, cluster="c", parts={"p": id_}, answer="", data={})
        for id_ in ("a", "b")
    ]
    with new_run() as context:
        key = context.add_task(samples, tmp_path)
        assert [question.id for question in questions_of(key).questions] == ["a", "b"]
        assert [question.prompt for question in questions_of(key).questions] == [s.prompt for s in samples]
        assert questions_of(key).folder == tmp_path
        assert context.add_task(samples) == key
        assert questions_of(key).folder is None
    assert questions_of(key) == TaskQuestions(), "each run has its own"
