"""The questions of docs/guides/jobs.md, asked of a job's folder as they stand there."""

import re
from pathlib import Path

import pytest

from deskcheck.jobs import LocalPool
from deskcheck.recorder.job import record_job
from tests.jobs.jobs import OPEN, sums

duckdb = pytest.importorskip(
    "duckdb", reason="would have proved that the questions of docs/guides/jobs.md can be asked"
)
DOCS = Path(__file__).parents[2] / "docs" / "guides" / "jobs.md"


def questions() -> dict[str, str]:
    """Each question with its query."""
    text = DOCS.read_text().partition("## Ten questions")[2].partition("\n## ")[0]
    found = re.findall(r"-- \d+\. (.*?\?)[^\n]*\n(.*?);", text, re.DOTALL)
    return dict(found)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("job")
    record_job(sums(30), found, runner=LocalPool(1), settings=OPEN, size=10)
    return found


def test_there_are_ten() -> None:
    assert len(questions()) == 10


@pytest.mark.parametrize("question", questions())
def test_the_question_can_be_asked(question: str, folder: Path) -> None:
    """Each query runs, on columns that are there; those about all programs count all."""
    query = (
        questions()[question]
        .replace("'recordings-*", f"'{folder}/recordings-*")
        .replace("'events-*", f"'{folder}/events-*")
    )
    rows = duckdb.sql(query).fetchall()
    if question == "How did the programs end?":
        assert rows == [("returned", 30)]
    if question.startswith("Which lines of one program"):
        assert [row[1] for row in rows] == [2, 3, 5]
    if question.startswith("What may I train on"):
        assert rows == [("t", None, False, 30)]
