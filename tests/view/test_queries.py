"""`why`, `find` and `diff`: the commands, and their answers beside plain Python's."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recorder.programs import record_programs
from deskcheck.recording import InputError, Program
from deskcheck.recording.reader import Recordings
from deskcheck.view.queries.diff import diff
from deskcheck.view.queries.evaluator import Expression
from deskcheck.view.queries.find import Events, find, find_calls, find_changes, find_exceptions, find_output
from deskcheck.view.queries.why import why
from tests.view.test_why import TRUSTED, recorded

COMMAND = [sys.executable, "-m", "deskcheck"]
PROGRAM = """class Cart:
    def __init__(self):
        self.items = []
        self.total = 0

    def add(self, price, count=1):
        self.items.append(price)
        self.total += price * count


def check(n):
    if n > 3:
        raise ValueError(n)
    return None


cart = Cart()
x = 0
for n in range(6):
    x = None if n % 2 else n
    cart.add(n)
    print("added", n)
try:
    check(5)
except ValueError as error:
    print("bad", error)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs")
    recorded(path, ("cart", PROGRAM))
    return path


@pytest.fixture
def events(folder: Path) -> Events:
    recordings = Recordings(folder)
    return Events(recordings["cart"], recordings)


def command(*words: object, **options: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, *map(str, words)], capture_output=True, text=True, check=False, timeout=120, **options
    )


def by_state(events: Events, condition: str) -> list[int]:
    """The events where a condition holds, by the state at every event and Python's own `eval`."""
    matches = []
    for event in events.recording.trace:
        values = {**event.globals, **event.locals}
        names: dict[str, Any] = {}
        for name, value in values.items():
            if value.builtin:
                names[name] = eval(repr(value))
            elif name in ("cart", "self"):
                fields = {key: eval(repr(field)) for key, field in value.fields if field.builtin}
                names[name] = type("Fields", (), fields)
        try:
            if eval(condition, {"__builtins__": {"len": len, "sum": sum}}, names):
                matches.append(event.index)
        except (NameError, TypeError, AttributeError, IndexError):
            continue
    return matches


CONDITIONS = [
    "x is None and len(cart.items) > 3",
    "n == 4",
    "price * count > 3",
    "self.total >= 6 and price not in (4,)",
    "cart.items[1] == 1",
    "sum(cart.items) == cart.total and n > 2",
    "0 < n <= 2 or n == 5",
    "not x",
    "no_such_name == 1",
    "n + None",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_find_agrees_with_eval_on_every_state(condition: str, events: Events) -> None:
    expected = by_state(events, condition)
    findings = find(events, condition, max_matches=1000)
    matching = [i for match in findings.matches for i in range(match.event, match.last + 1)]
    frames = {match.event: events.recording.trace[match.event].frame for match in findings.matches}
    inside = [
        i
        for match in findings.matches
        for i in range(match.event, match.last + 1)
        if i in expected or events.recording.trace[i].frame == frames[match.event]
    ]
    assert findings.events == len(expected)
    assert {*expected} <= {*matching}
    assert sorted({*inside}) == expected
    assert findings.undecided == 0


EDITED = """def last(text):
    return text[-1]


def build():
    text = "ab" * 40
    for part in "cde":
        text += part
        last(text := text + part.upper())
        last(n := str(len(text)))
    return text


build()
"""


@pytest.mark.parametrize(
    "condition", ["text[-2:] == 'cC'", "len(text) == 84", "n == '84'", "text[-1] == 'E'"]
)
def test_find_in_texts_that_are_edited(condition: str, tmp_path: Path) -> None:
    """A name that a call's own line binds, and a text of which only edits are stored."""
    events = Events(recorded(tmp_path, ("edited", EDITED))["edited"])
    rows = [*events.recording.trace.rows]
    assert any(row.caller and "edit" in row.caller for row in rows)
    assert any(row.locals and "edit" in row.locals for row in rows)
    expected = by_state(events, condition)
    findings = find(events, condition, max_matches=1000)
    assert expected
    assert findings.events == len(expected)


def test_find_without_the_folder(events: Events) -> None:
    """From the rows of a recording in memory the same is read as from the columns of the file."""
    for condition in CONDITIONS:
        assert find(Events(events.recording), condition) == find(events, condition)


def test_changes_calls_exceptions_and_output(events: Events) -> None:
    totals = [match.values["cart"] for match in find_changes(events, "cart.total").matches]
    assert len(totals) == 6  # adding 0 changes nothing
    assert [match.line for match in find_calls(events, "add").matches] == [6] * 6
    assert [match.values["price"] for match in find_calls(events, "Cart.add(4)").matches] == ["4"]
    assert find_calls(events, "add(..., count=1)").events == 6
    assert find_calls(events, "add(4, 2)").events == 0
    (raised,) = find_exceptions(events).matches
    assert (raised.line, raised.values["exception"]) == (13, "ValueError(5)")
    (written,) = find_output(events, "added 4\n").matches
    assert (written.line, written.values["output"]) == (22, "'added 4'")
    assert find_output(events, "added").events == 6


REFUSED = [
    "open('x')",
    "(lambda: 1)()",
    "[y for y in x]",
    "x.__class__.__bases__[0].__subclasses__()",
    "x ** 99999999",
    "f'{x}'",
    "x := 3",
    "x = 3",
    "",
    "1 + 1",
    "len(x, key=3)",
    "+".join(["x"] * 300),
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_an_expression_may_not_do(text: str, events: Events) -> None:
    with pytest.raises(InputError):
        find(events, text)


def test_values_stay_bounded() -> None:
    """A few characters cannot make a value of gigabytes."""
    for text in ("'a' * x * x * x", "x * x * x", "(1,) * x"):
        names = {"x": 10**9} if "'" in text or "," in text else {"x": 1 << 5000}
        big = {"x": {"int": str(names["x"])}}
        with pytest.raises(Exception, match="of that"):
            Expression(text).value(big, {})


def test_no_code_of_the_program_runs(tmp_path: Path) -> None:
    recordings = recorded(
        tmp_path,
        ("odd", "class Odd:\n    def __eq__(self, other):\n        return True\nodd = Odd()\nlast = 1\n"),
    )
    findings = find(Events(recordings["odd"], recordings), "odd == 3")
    assert (findings.events, findings.undecided > 0) == (0, True)


def test_why_at_an_event(folder: Path) -> None:
    recording = Recordings(folder)["cart"]
    (first, *_) = find_calls(Events(recording), "add(3)").matches
    answer = why(recording, "self.total", at=first.event)
    assert (answer.steps[0].value, answer.steps[0].line) == ("3", 8)
    with pytest.raises(InputError, match="has no value at event"):
        why(recording, "nothing", at=first.event)
    with pytest.raises(InputError, match="no event has this value"):
        why(recording, "nothing")
    with pytest.raises(InputError, match="the thread has events 0 to"):
        why(recording, "cart", at=10**6)
    with pytest.raises(InputError, match="has 1 threads"):
        why(recording, "cart", thread=3)


def test_the_commands(folder: Path, tmp_path: Path) -> None:
    ran = command("why", folder, "cart.total")
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[0].endswith("of program.py: `self.total += price * count`")
    assert json.loads(command("why", folder, "x", "--json").stdout)["steps"][0]["value"] == "None"
    assert command("find", folder, "n == 4").returncode == 0
    assert command("find", folder, "n == 44").returncode == 1
    assert json.loads(command("find", folder, "--exceptions", "--json").stdout)["events"] == 1
    assert command("find", folder).returncode == 2
    assert command("find", folder, "x", "--exceptions").returncode == 2
    for words in (["why", tmp_path, "x"], ["find", tmp_path, "x"], ["diff", tmp_path, tmp_path]):
        ran = command(*words)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert "has no recordings" in ran.stderr
    assert "does not exist" in command("why", tmp_path / "no", "x").stderr


def test_a_folder_of_many_recordings(tmp_path: Path) -> None:
    recorded(tmp_path, ("one", "x = 1\ny = 0\n"), ("two", "x = 2\ny = 0\n"))
    ran = command("why", tmp_path, "x")
    assert ran.returncode == 2
    assert "--recording ID" in ran.stderr
    assert "    two" in ran.stderr
    assert "is 2 since" in command("why", tmp_path, "x", "--recording", "two").stdout
    ran = command("diff", tmp_path, tmp_path, "--recording", "one", "--recording-b", "two")
    assert ran.returncode == 1
    assert "x: A 1, B 2" in ran.stdout


def test_what_run_writes(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import sys\nx = len(sys.argv)\ny = x\n")
    ran = command("run", "-q", "--out", "runs", "app.py", "1", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "`y` is 2 since event" in command("why", "runs", "y", cwd=tmp_path).stdout


def test_an_interrupt(tmp_path: Path) -> None:
    """Ctrl-C in a long answer ends the command with status 130 and without a traceback."""
    program = "n = 0\nwhile n < 300000:\n    n += 1\n"
    recorded(tmp_path, ("long", program))
    process = subprocess.Popen(
        [*COMMAND, "find", str(tmp_path), "n * n * n == -1 and n % 7 == 3"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    maps = Path(f"/proc/{process.pid}/maps")
    while "_parquet" not in maps.read_text():  # it reads the recording next
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    if process.returncode == 1:
        pytest.skip("the answer was there before the interrupt")
    assert process.returncode == 130
    assert "Traceback" not in errors


# -- diff --------------------------------------------------------------------------------------------

BASE = """def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


n = 3
result = work(n)
print(result)
"""


def versions() -> Iterator[tuple[str, str, str, int, dict[str, tuple[str, str]]]]:
    """Name, other version, kind of the first difference, its line in A, and values that differ."""
    yield "other constant", BASE.replace("n = 3", "n = 4"), "events", 8, {}
    yield "other operator", BASE.replace("+= i", "+= i * i"), "events", 3, {}
    later = "\n\n" + BASE
    yield "moved", later, "", 0, {}
    inserted = BASE.replace("    total = 0\n", "    total = 0\n    extra = 1\n")
    yield "inserted line", inserted, "events", 3, {}


@pytest.mark.parametrize("name", [each[0] for each in versions()])
def test_where_two_runs_part(name: str, tmp_path: Path) -> None:
    ((_, other, how, line, values),) = [each for each in versions() if each[0] == name]
    recordings = recorded(tmp_path, ("a", BASE), ("b", other))
    answer = diff(recordings["a"], recordings["b"])
    if not how:
        assert answer.partings == ()
        return
    first = answer.partings[0]
    assert first.a is not None
    assert (first.how, first.a.line if how == "values" else first.a.line > 0) == (
        how,
        line if how == "values" else True,
    )
    assert {key: first.values[key] for key in values} == values
    if name == "inserted line":
        assert (first.more_a, first.more_b, first.together) == (0, 1, True)
        assert all(parting.how == "values" for parting in answer.partings[1:])


def test_another_input(tmp_path: Path) -> None:
    """The first difference is the value; the loop that runs once more is the second kind of place."""
    text = BASE.replace("n = 3", "import sys\nn = len(sys.argv)")
    for words in ([], ["x"]):
        program = Program(id=f"{len(words)} words", code=text, extra={"argv": words})
        record_programs([program], tmp_path, TRUSTED)
    recordings = Recordings(tmp_path)
    answer = diff(recordings["0 words"], recordings["1 words"])
    first = answer.partings[0]
    assert (first.how, first.values) == ("values", {"n": ("1", "2")})
    assert first.a is not None
    assert first.a.line == 10
    (longer,) = [parting for parting in answer.partings if parting.how == "events"]
    assert (longer.more_a, longer.more_b, longer.together) == (0, 2, True)
    assert answer.endings[0] == answer.endings[1]


def test_equal_runs(tmp_path: Path) -> None:
    recordings = recorded(tmp_path, ("a", PROGRAM), ("b", PROGRAM))
    answer = diff(recordings["a"], recordings["b"])
    assert answer.partings == ()
    assert answer.same_events == len(recordings["a"].trace)


def test_identity_numbers_are_no_difference(tmp_path: Path) -> None:
    """One more object before shifts all later numbers."""
    text = "spare = {}\nclass A:\n    pass\na = A()\na.n = 1\nb = [a]\nprint(len(b))\n"
    more = text.replace("spare = {}", "spare = {}; spare = [{}, {}]; spare = {}")
    recordings = recorded(tmp_path, ("a", text), ("b", more))
    answer = diff(recordings["a"], recordings["b"])
    assert not any(parting.values for parting in answer.partings)
