"""Models of the levels as models that are asked: what the machine makes of a program is the answer."""

from pathlib import Path

import pytest

from deskcheck.recording import InputError
from tests.teach.conftest import Recorded, call

pytest.importorskip(
    "inspect_ai", reason="no inspect_ai: would have proved that a level can be asked questions"
)

from deskcheck_levels.reader.provider import AskedProcessor

from deskcheck.ask import AskSettings, ask


def test_the_processor_is_asked(record: Recorded, tmp_path: Path) -> None:
    """Right where the program is of its language; elsewhere wrong, and in n."""
    loop = "def f(n):\n    t = 0\n    for i in range(n):\n        t += i * i\n    return t, 'x' * n\n"
    third = "def f(n):\n    return n / 3\n"
    runs = record(call("inside", loop, "(7)"), call("outside", third, "(2)"))
    settings = AskSettings(methods=("direct",))
    (found,) = ask([runs], ["output"], ["processor/nano"], out=tmp_path / "asked", settings=settings)
    assert (found.n, found.score) == (2, 0.5)


def test_other_questions_are_refused() -> None:
    model = AskedProcessor("nano")
    code = "def f(a):\n    return a + 9999999999999\n"
    head = "What does this call return?\n\nProgram:\n```python\n"
    assert model.answer(f"{head}{code}```\nCall: f(1)\n") == "[ANSWER]10000000000000[/ANSWER]"
    assert model.answer(f"{head}def f():\n    return 1 / 0\n```\nCall: f()") == (
        "[ANSWER]raises ZeroDivisionError[/ANSWER]"
    )
    with pytest.raises(InputError, match="answers only what a call returns"):
        model.answer("Which line runs next?\n```python\nx\n```\nCall: f(1)")
