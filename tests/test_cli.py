"""The command line, as a user meets it: a process with arguments, output, messages and a status."""

import functools
import json
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from deskcheck.recording.file import Recordings

ENDLESS = (
    '{"code": "def f(n):\\n    while True:\\n        n += 1\\n", "entry": "f", "inputs": ["(1)", "(2)"]}\n'
)


def deskcheck(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deskcheck.cli", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.py").write_text(
        "def double(x, times=1):\n    for _ in range(times):\n        x = x + x\n    return x\n"
    )
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "unpinned.txt").write_text("six==1.16.0\nnumpy>=1\n")
    (tmp_path / "no_code.jsonl").write_text('{"entry": "f", "inputs": ["1"]}\n')
    (tmp_path / "mine.jsonl").write_text(
        '{"id": "add", "code": "def f(a, b):\\n    return a + b\\n", "entry": "f", "inputs": ["(1, 2)", "(3, 4)"]}\n'
        '{"id": "fail", "code": "def f(a):\\n    return 1 // a\\n", "entry": "f", "inputs": ["(0)"]}\n'
    )
    return tmp_path


def test_one_call_is_shown_as_a_table(folder: Path) -> None:
    """Without --out, a call's trace stands on standard output, nothing on standard error."""
    ran = deskcheck("record", "good.py::double", "(3, times=2)", cwd=folder)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "x = 6" in ran.stdout
    assert "x = 12" in ran.stdout
    assert "returned -> 12" in ran.stdout


def test_less_is_recorded_where_less_is_asked_for(folder: Path) -> None:
    """--only and --call-depth reach the tracer, and the recording says what was asked."""
    (folder / "deep.py").write_text(
        "def down(n):\n    return up(n) and down(n - 1)\n\ndef up(n):\n    return n\n"
    )
    options = ("--only", "down", "--call-depth", "2", "--max-repetitions", "9", "--out", "runs")
    assert deskcheck("record", "deep.py::down", "(5)", *options, cwd=folder).returncode == 0
    (recording,) = Recordings(folder / "runs")
    assert recording.environment.limits == {"only": ["down"], "call_depth": 2, "repetitions": 9}
    assert {event.function for event in recording.trace} == {"down"}
    assert [event.left_out for event in recording.trace if event.left_out] == [{"deep": 4}]
    assert deskcheck("check", "runs", cwd=folder).returncode == 0
    shown = deskcheck("record", "deep.py::down", "(5)", *options[:4], cwd=folder).stdout
    assert "left out: 4 deeper calls" in shown


def test_record_counts_what_happened(folder: Path) -> None:
    """--json prints one object that says how many programs ended how, and where they are."""
    ran = deskcheck("record", "mine.jsonl", "--out", "runs", "--json", cwd=folder)
    said = json.loads(ran.stdout)
    assert ran.returncode == 0
    assert said["recorded"] == 3
    assert said["by_outcome"] == {"returned": 2, "raised": 1}
    assert said["not_repeatable"] == {}
    assert sorted(Path(file).name for file in said["files"]) == [
        "events-00000.parquet",
        "recordings-00000.parquet",
    ]


def test_what_is_there_is_not_recorded_again(folder: Path) -> None:
    """The same command a second time records nothing and says so."""
    deskcheck("record", "mine.jsonl", "--out", "runs", cwd=folder)
    said = json.loads(deskcheck("record", "mine.jsonl", "--out", "runs", "--json", cwd=folder).stdout)
    assert (said["recorded"], said["skipped"]) == (0, 3)


def test_a_recording_is_viewed_by_its_id(folder: Path) -> None:
    """view lists a folder, shows one recording, and names the folder if there is no such id."""
    deskcheck("record", "mine.jsonl", "--out", "runs", cwd=folder)
    listed = json.loads(deskcheck("view", "runs", "--json", cwd=folder).stdout)["recordings"]
    name = next(item["id"] for item in listed if item["result"] == "7")
    assert "returned -> 7" in deskcheck("view", "runs", name, cwd=folder).stdout
    wrong = deskcheck("view", "runs", "nobody", cwd=folder)
    assert wrong.returncode == 2
    assert "no recording 'nobody'" in wrong.stderr


def _one_recording(folder: Path) -> str:
    arguments = ("record", "good.py::double", "(3)", "--out", "runs", "--sandbox", "trusted", "--no-repeat")
    assert deskcheck(*arguments, cwd=folder).returncode == 0
    (name,) = Recordings(folder / "runs").ids
    return name


def test_a_recording_is_written_as_a_page(folder: Path) -> None:
    """--out writes one file and says so; what makes no sense is refused; without a terminal there is a table."""
    name = _one_recording(folder)
    ran = deskcheck("view", "runs", name, "--out", "page.html", cwd=folder)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("page.html: ")
    assert "Content-Security-Policy" in (folder / "page.html").read_text()
    assert "returned -> 6" in deskcheck("view", "runs", name, "--terminal", cwd=folder).stdout
    for wrong, why in [
        ((name, "--out", "no/page.html"), "cannot be written"),
        ((name, "--out", "page.html", "--serve"), "do not go together"),
        (("--out", "page.html"), "say which"),
    ]:
        ran = deskcheck("view", "runs", *wrong, cwd=folder)
        assert ran.returncode == 2
        assert why in ran.stderr


def test_a_page_is_served_until_it_is_interrupted(folder: Path) -> None:
    """--serve prints the address, answers there, and ends in order."""
    name = _one_recording(folder)
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import deskcheck.cli; deskcheck.cli.main()"
    command = [sys.executable, "-c", code, "view", "runs", name, "--serve"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as served:
        assert served.stdout is not None
        try:
            address = served.stdout.readline().strip()
            with urllib.request.urlopen(address + "facts", timeout=60) as response:
                assert json.load(response)["id"] == name
            served.send_signal(signal.SIGINT)
            _, said = served.communicate(timeout=60)
        finally:
            served.kill()
    assert served.returncode == 0
    assert "no longer served" in said


def test_a_trace_is_shown_in_a_notation(folder: Path) -> None:
    """`show` writes one recording as text; an unknown notation, or one that needs instructions, has a way out."""
    deskcheck("record", "mine.jsonl", "--out", "runs", cwd=folder)
    listed = json.loads(deskcheck("view", "runs", "--json", cwd=folder).stdout)["recordings"]
    name = next(item["id"] for item in listed if item["result"] == "7")
    shown = deskcheck("show", "runs", name, cwd=folder)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines()[-2:] == ["2", "return 2 -> 7"]
    direct = deskcheck("show", "runs", name, "--notation", "direct", "--json", cwd=folder)
    assert json.loads(direct.stdout) == {"id": name, "notation": "direct", "text": "return 7"}
    for arguments, said in [
        ([name, "--notation", "prose"], "Known are direct, scratchpad"),
        ([name, "--notation", "dynamic_instruction"], "--level instruction"),
        ([], "say which"),
    ]:
        failed = deskcheck("show", "runs", *arguments, cwd=folder)
        assert (failed.returncode, failed.stdout) == (2, "")
        assert said in failed.stderr


def test_a_check_that_finds_something_has_a_status_of_its_own(folder: Path) -> None:
    """check exits with 0 when all is well and with 1, not 2, when a recording is not what its source says."""
    deskcheck("record", "good.py::double", "(3)", "--out", "well", cwd=folder)
    assert deskcheck("check", "well", cwd=folder).returncode == 0
    (folder / "set.jsonl").write_text(
        '{"code": "def f(x):\\n    return x", "input": "1", "output": "2", "id": "sample_0"}\n'
    )
    deskcheck("record", "cruxeval:set.jsonl", "--out", "ill", cwd=folder)
    ran = deskcheck("check", "ill", "--json", cwd=folder)
    assert ran.returncode == 1
    assert json.loads(ran.stdout)["wrong"] == {"sample_0": "returned '1', not '2'"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["record", "broken.py::f", "(1)"], "broken.py:1:7"),
        (["record", "good.py::treble", "(1)"], "defines no treble"),
        (["record", "good.py::double", "(1, ]"], "not an argument list"),
        (["record", "no_code.jsonl", "--out", "o"], "no_code.jsonl:1: the row lacks 'code'"),
        (["record", "heapqq", "--out", "o"], "Did you mean heapq"),
        (["record", "who:where", "--out", "o"], "cruxeval:PATH"),
        (["record", "mine.jsonl"], "--out FOLDER"),
        (["record", "mine.jsonl", "--out", "good.py"], "A file stands where a folder is needed"),
        (["view", "nowhere"], "nowhere"),
        (["check", "nowhere"], "nowhere"),
        (["record", "--bogus"], "No such option"),
        (["record", "good.py::double", "(1)", "--clock", "1960-01-01"], "lies before 1970-01-01"),
        (["record", "pytest:.", "--out", "o", "--environment", "x"], "use --python"),
        (["environments", "build", "unpinned.txt"], "'numpy>=1' is not pinned"),
    ],
)
def test_bad_input_gets_a_place_and_a_way_out(folder: Path, arguments: list[str], said: str) -> None:
    """What cannot be used is named on standard error, with status 2 and no traceback."""
    ran = deskcheck(*arguments, cwd=folder)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""


def test_rows_before_a_bad_one_are_kept(folder: Path) -> None:
    """A bad row ends the command with status 2; what was recorded before it is whole and is not made again."""
    good, _ = (folder / "mine.jsonl").read_text().splitlines()
    (folder / "half.jsonl").write_text(good + "\n{not json\n")
    ran = deskcheck("record", "half.jsonl", "--out", "runs", cwd=folder)
    assert ran.returncode == 2
    assert "half.jsonl:2" in ran.stderr
    (folder / "half.jsonl").write_text(good + "\n")
    said = json.loads(deskcheck("record", "half.jsonl", "--out", "runs", "--json", cwd=folder).stdout)
    assert (said["recorded"], said["skipped"]) == (0, 2)


def test_an_interrupt_keeps_what_was_finished(folder: Path) -> None:
    """Ctrl-C stops running programs at once, says where things are, and exits with 130."""
    (folder / "long.jsonl").write_text((folder / "mine.jsonl").read_text() + ENDLESS)
    command = [
        sys.executable,
        "-m",
        "deskcheck.cli",
        "record",
        "long.jsonl",
        "--out",
        "runs",
        "--workers",
        "1",
    ]
    # A shell starts what it puts in the background with SIGINT ignored, and that is inherited.
    listening = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, text=True, preexec_fn=listening
    ) as process:
        deadline = time.monotonic() + 60
        while not list((folder / "runs" / ".spool").glob("*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on from there" in said
    listed = json.loads(deskcheck("view", "runs", "--json", cwd=folder).stdout)["recordings"]
    assert {item["id"] for item in listed} <= {"add_1_0", "add_1_1", "fail_2_0"}
    assert listed


def test_environments_are_built_listed_named_and_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file becomes an environment, programs run in it by its name, and it can be removed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    (folder / "bare.toml").write_text("packages = []\n")
    built = deskcheck("environments", "build", "bare.toml", "--json", cwd=folder)
    assert built.returncode == 0, built.stderr
    assert built.stderr.startswith("building bare with Python 3.")
    listed = deskcheck("environments", "list", "--json", cwd=folder)
    assert json.loads(listed.stdout) == json.loads(built.stdout)
    assert json.loads(listed.stdout)["environments"][0]["installed"] == {}
    ran = deskcheck("record", "good.py::double", "(3)", "--environment", "bare", "--out", "runs", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    assert next(iter(Recordings(folder / "runs"))).environment.name == "bare"
    assert deskcheck("environments", "remove", "bare", cwd=folder).returncode == 0
    again = deskcheck("record", "good.py::double", "(3)", "--environment", "bare", cwd=folder)
    assert again.returncode == 2
    assert "no environment is called 'bare'; built are: none" in again.stderr


def test_ask_marks_the_oracle_right(folder: Path) -> None:
    """ask --json gives one result for each question and model, and the oracle scores 1."""
    pytest.importorskip("inspect_ai", reason="would have proved that `deskcheck ask` runs and marks")
    deskcheck("record", "mine.jsonl", "--out", "runs", cwd=folder)
    ran = deskcheck(
        "ask", "runs", "-q", "output,input", "-m", "deskcheck/oracle,deskcheck/guess", "--json", cwd=folder
    )
    results = json.loads(ran.stdout)["results"]
    assert [(r["question"], r["model"]) for r in results] == [
        ("output", "deskcheck/oracle"),
        ("output", "deskcheck/guess"),
        ("input", "deskcheck/oracle"),
        ("input", "deskcheck/guess"),
    ]
    for result in results:
        assert {"n", "score", "low", "high", "excluded", "solver"} <= result.keys()
        assert result["model"] == "deskcheck/guess" or (result["n"], result["score"]) == (2, 1.0)
        assert sum(result["excluded"].values()) == 1


def test_answers_given_elsewhere_are_marked(folder: Path) -> None:
    """`questions` writes what `ask` would put and says what it leaves out; `mark` prints the scores of the answers, again
    without marking anything; an id that no question has gives status 1; `status` reads the folder."""
    deskcheck("record", "mine.jsonl", "--out", "runs", cwd=folder)
    wrote = deskcheck(
        "questions", "runs", "-q", "output,state", "-q", "input", "--out", "q.jsonl", cwd=folder
    )
    assert (wrote.returncode, wrote.stderr) == (0, "")
    assert "q.jsonl: 4 questions: 2 input, 2 output" in wrote.stdout
    assert "not asked for output: 1 ended otherwise: raised" in wrote.stdout
    told = json.loads(
        deskcheck(
            "questions", "runs", "-q", "output", "--out", "o.jsonl", "--limit", 1, "--json", cwd=folder
        ).stdout
    )
    assert told == {"questions": {"output": 1}, "excluded": {"output": {"ended otherwise: raised": 1}}}
    asked = [json.loads(line) for line in (folder / "q.jsonl").read_text().splitlines()]
    assert all("def f(a, b)" in row["prompt"] for row in asked)

    answers = [{"id": row["id"], "completion": f"[ANSWER]{row['answer']}[/ANSWER]"} for row in asked]
    answers.append({"id": asked[0]["id"], "completion": "4?"})
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    command = ("mark", "q.jsonl", "a.jsonl", "--out", "marks", "--workers", 1, "--sandbox", "standard")
    first = deskcheck(*command, cwd=folder)
    assert (first.returncode, first.stderr) == (0, "")
    assert [line.split("│")[0].strip() for line in first.stdout.splitlines()[2:4]] == ["input", "output"]
    again = json.loads(deskcheck(*command, "--json", cwd=folder).stdout)
    assert [(s["question"], s["n"], s["unreadable"]) for s in again["scores"]] == [
        ("input", 2, 0),
        ("output", 3, 1),
    ]
    assert (again["job"]["recorded"], again["job"]["skipped"]) == (0, 5)
    shown = deskcheck("status", "marks", "--verify", cwd=folder)
    assert "whole are 5 answers in 1 shards, 4 right" in shown.stdout

    (folder / "b.jsonl").write_text('{"id": "none", "completion": ""}\n')
    odd = deskcheck("mark", "q.jsonl", "b.jsonl", "--out", "odd", cwd=folder)
    assert odd.returncode == 1
    assert "b.jsonl line 1: there is no question with the id 'none'" in odd.stdout
    for arguments, said in (
        (("mark", "b.jsonl", "a.jsonl", "--out", "x"), "is no question that `deskcheck questions` wrote"),
        (("mark", "q.jsonl", "b.jsonl", "--out", "runs"), "Choose another folder"),
    ):
        refused = deskcheck(*arguments, cwd=folder)
        assert refused.returncode == 2
        assert said in refused.stderr, refused.stderr


def test_without_the_extra_ask_names_it(folder: Path) -> None:
    """Where Inspect AI is not installed, ask says which extra to install."""
    deskcheck("record", "mine.jsonl", "--out", "runs", cwd=folder)
    code = "import sys; sys.modules['inspect_ai'] = None; sys.argv[1:] = sys.argv[1:]; from deskcheck.cli import main; main()"
    arguments = ["ask", "runs", "-q", "output", "-m", "deskcheck/oracle"]
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "deskcheck[ask]" in ran.stderr


def test_list_has_every_name_of_the_registries(folder: Path) -> None:
    """`deskcheck list` is read from what the commands themselves look names up in."""
    from deskcheck.ask import METHODS, NOTEBOOK_QUESTIONS, QUESTIONS, SUITES
    from deskcheck.corpus import SOURCES
    from deskcheck.notation import NOTATIONS

    shown = deskcheck("list", cwd=folder)
    assert shown.returncode == 0
    words = shown.stdout.split()
    for names in (QUESTIONS, NOTEBOOK_QUESTIONS, SUITES, NOTATIONS, METHODS):
        assert set(names) <= set(words)
    assert all(name in shown.stdout for name in SOURCES)
    told = json.loads(deskcheck("list", "models", "--json", cwd=folder).stdout)
    assert list(told) == ["models"]
    assert {"deskcheck/oracle", "deskcheck/erring"} <= set(told["models"])
    wrong = deskcheck("list", "colours", cwd=folder)
    assert wrong.returncode == 2
    assert "questions, suites, notations" in wrong.stderr


@pytest.mark.level("strict")
def test_a_job_in_shards(folder: Path) -> None:
    """`record --shards` plans and records; again it does nothing; `status` reads the folder; what does not go together is refused with the way out."""
    first = deskcheck("record", "mine.jsonl", "--shards", 2, "--workers", 1, "--out", "runs", cwd=folder)
    assert (first.returncode, first.stderr) == (0, "")
    assert "recorded 3 programs in runs, which holds 3 programs in " in first.stdout
    assert "1 raised, 2 returned" in first.stdout
    again = deskcheck("record", "mine.jsonl", "--shards", 2, "--out", "runs", "--json", cwd=folder)
    told = json.loads(again.stdout)
    assert (told["recorded"], told["skipped"]) == (0, 3)
    assert sorted(Recordings(folder / "runs").ids) == sorted(r.id for r in Recordings(folder / "runs"))

    shown = json.loads(deskcheck("status", "runs", "--json", "--verify", "--failures", cwd=folder).stdout)
    assert (shown["whole"], shown["driver"], shown["changed"], shown["failures"]) == (True, None, [], {})
    path = next((folder / "runs").glob("recordings-*.parquet"))
    path.write_bytes(path.read_bytes()[:-1] + b"0")
    verified = deskcheck("status", "runs", "--verify", cwd=folder)
    assert verified.returncode == 1
    assert f"changed: {path.name}" in verified.stdout

    for arguments, said in (
        (("record", "mine.jsonl", "--shards", 2), "need a folder: add --out"),
        (("record", "pytest:.", "--shards", 2, "--out", "x"), "not for notebooks and pytest"),
        (
            ("record", "mine.jsonl", "--on", "local", "--ray-address", "a:1", "--out", "x"),
            "goes with --on ray",
        ),
        (("record", "mine.jsonl", "--out", "runs"), "holds the shards of a job"),
        (("status", "."), "no job was begun here"),
    ):
        refused = deskcheck(*arguments, cwd=folder)
        assert refused.returncode == 2
        assert said in refused.stderr, refused.stderr
