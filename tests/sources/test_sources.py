"""Which reader a source goes to, and what is said of one that goes to none."""

from pathlib import Path

import pytest

import deskcheck.sources
from deskcheck.recording import InputError, Mode
from deskcheck.recording.program import FILES_BESIDE
from deskcheck.sources import PUBLISHED, SOURCES, programs


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_list_of_names_is_true() -> None:
    """All that is promised can be imported, and nothing else public is."""
    for name in deskcheck.sources.__all__:
        assert hasattr(deskcheck.sources, name)


def test_help_names_every_set() -> None:
    """A line of help for each form, one for each set."""
    forms = {f"{name}{':PATH' if known.hub is None else '[:PATH]'}" for name, known in PUBLISHED.items()}
    assert forms <= SOURCES.keys()
    assert not any("\n" in line for line in SOURCES.values())


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "'' is not a source of programs. Write one of\n    FILE.py::FUNCTION"),
        ("two words", "'two words' is not a source of programs."),
        ("foo:bar", "unknown source 'foo'. Write one of\n    FILE.py::FUNCTION"),
        ("cruxevl:x.jsonl", "unknown source 'cruxevl'. Did you mean cruxeval or cruxeval_x?"),
        ("cruxevl", "Did you mean cruxeval or cruxeval_x?"),
        ("sortin.py", "sortin.py: no such file or folder. Did you mean sorting.py?"),
        ("./sorting", "./sorting: no such file or folder. Did you mean sorting.py?"),
        ("sorting", "no module, file or folder has the name sorting. Did you mean"),
        ("absent/x.py", "absent/x.py: no such file or folder."),
        ("data.csv", "data.csv: is neither Python"),
        ("rows.json", "such as cruxeval:rows.json"),
        ("x" * 5000, "no module, file or folder has the name"),
        ("x" * 5000 + ".py", "no such file or folder"),
        ("nul\0.py", "no such file or folder"),
        ("absent.jsonl", "absent.jsonl: no such file or folder."),
        ("doctests:sortin.py", "sortin.py: no such file or folder. Did you mean sorting.py?"),
        ("doctests:data.csv", "data.csv: is not a .py file"),
        ("doctests:absent_module", "no module, file or folder has the name absent_module"),
        ("doctests:", "write doctests:FILE.py, doctests:FOLDER or doctests:MODULE"),
        ("doctest:sorting.py", "unknown source 'doctest'. Did you mean doctests?"),
        ("family:collatx", "unknown family 'collatx'. The families are ackermann, automaton"),
        ("family:", "unknown family ''"),
        ("family:collatz,sed=1", "unknown option 'sed'. Did you mean seed?"),
        ("family:collatz,size", "size needs a value: size=..."),
        ("family:collatz,seed=1,seed=2", "seed is given twice"),
        ("family:collatz,inputs=0", "inputs=0 is not a whole number from 1 on"),
        ("family:collatz,inputs=many", "inputs=many is not a whole number"),
        ("family:collatz,texts=7", "texts=7 is not a whole number from 0 to 4"),
        ("family:collatz,texts=2-1", "texts=2-1 ends before it begins"),
        ("family:hanoi,size=90", "size=90 is not a whole number from 1 to 14"),
        ("family:gcd,inputs=paper", "gcd takes more than one number; inputs=paper is for binary_counter"),
        ("family:collatz,inputs=paper,events=9", "events cannot be combined with inputs=paper"),
        ("family:collatz,events=9000000", "events=9000000 is not a whole number from 1 to 5000000"),
        ("familly:collatz", "Did you mean family?"),
        ("generated:", "COUNT= is not a whole number from 1 on"),
        ("generated:0", "COUNT=0 is not a whole number from 1 on"),
        ("generated:ten", "COUNT=ten is not a whole number"),
        ("generated:9,difficulty=11", "difficulty=11 is not a whole number from 1 to 10"),
        ("generated:9,difficulty=0", "difficulty=0 is not a whole number from 1 to 10"),
        ("generated:9,difficulty=4-2", "difficulty=4-2 ends before it begins"),
        ("generated:9,dificulty=2", "unknown option 'dificulty'. Did you mean difficulty?"),
        ("generated:9,inputs=1000", "inputs=1000 is not a whole number from 1 to 100"),
        ("generate:9", "Did you mean generated?"),
        ("inputs:", "names no functions. Write inputs:FILE.py"),
        ("inputs:absent.py", "absent.py is not a file"),
        ("inputs,by=magic:x.py", "unknown way 'magic'. The ways are known, hints, hypothesis"),
        ("inputs,sandbox=open:x.py", "sandbox=open: unknown level. The levels are strict, standard, trusted"),
        ("inputs,budget=0:x.py", "budget=0 is not a whole number from 1"),
        ("inputs:empty.py", "empty.py defines no functions at its top"),
        ("inputs:app.py::clasify", "defines no clasify. Did you mean classify?"),
        ("inputs:no_such_package", "no module, file or folder has the name no_such_package"),
        ("inputs:math", "it has no Python source to read"),
        ("inputs:here", "here: has no .py files"),
        ("inputs:here::f", "here is a folder. Name a file: here/FILE.py::f"),
        ("inputs:only", "inputs,tests=yes:only includes them"),
        ("inputs,tests=maybe:textwrap", "tests=maybe must be yes or no"),
        ("inputs,table=no/such/x.jsonl:textwrap", "table=no/such/x.jsonl: the folder no/such does not exist"),
        ("inputs:textwrap::indnt", "defines no indnt. Did you mean indent"),
        ("inputs:textwrap::TextWrapper.wrap", "needs an instance to be called on"),
        ("mutations:", "mutations:: names no programs. Write mutations:SOURCE"),
        ("mutations,each=2", "names no programs"),
        ("mutations,each=0:heapq", "each=0 is not a whole number from 1 to 1000"),
        ("mutations,eech=1:heapq", "Did you mean each?"),
        ("mutations:absent.jsonl", "absent.jsonl: no such file or folder"),
    ],
)
def test_what_names_nothing_is_refused_at_once(here: Path, source: str, message: str) -> None:
    """The error says what was looked for, what is close, and what can be written instead."""
    for name in ("sorting.py", "data.csv", "rows.json"):
        (here / name).write_text("")
    (here / "empty.py").write_text("x = 1\n")
    (here / "app.py").write_text("def classify(n):\n    return n\n")
    (here / "here").mkdir()
    (here / "only").mkdir()
    (here / "only" / "test_a.py").write_text("def test_a(): pass\n")
    with pytest.raises(InputError) as caught:
        programs(source)
    assert message in str(caught.value)


@pytest.mark.parametrize("source", ["heapq", "cruxeval", "x.py"])
def test_arguments_belong_to_a_function(source: str) -> None:
    """Arguments that nothing takes are refused, not ignored."""
    with pytest.raises(InputError, match="takes no arguments"):
        programs(source, "(3)")


def test_a_file_or_folder_comes_before_a_module(here: Path) -> None:
    """The user's folder json is meant, not the library's module."""
    (here / "json").mkdir()
    (here / "json" / "own.py").write_text('"""\n>>> 1\n1\n"""\n')
    assert [program.id for program in programs("json")] == ["own"]


def test_a_set_comes_before_a_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A set's name always means the set, with a note on how to name the folder."""
    (here / "mbpp").mkdir()
    (here / "mbpp" / "own.py").write_text('"""\n>>> 1\n1\n"""\n')
    (here / "cache").write_text("")  # nothing can be fetched into it
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))
    notes: list[str] = []
    with pytest.raises(InputError, match=r"mbpp: .*full/prompt"):
        programs("mbpp", note=notes.append)
    assert notes[0] == "mbpp is read as the published set; for the file or folder of that name write ./mbpp"
    assert [program.id for program in programs("./mbpp")] == ["own"]


def test_a_file_is_a_script_and_its_doctests_are_named(here: Path) -> None:
    """FILE.py is run as a script, and where it has doctests, a note says how they are named."""
    (here / "own.py").write_text('"""\n>>> 1\n1\n"""\nprint("run")\n')
    notes: list[str] = []
    (program,) = programs("own.py", note=notes.append)
    assert (program.id, program.mode, program.path) == ("own.py", Mode.MODULE, str(here))
    assert program.code.endswith('print("run")\n')
    assert notes == ["own.py is run as a script. For its doctests, write doctests:own.py"]
    (session,) = programs("doctests:own.py", note=notes.append)
    assert (session.id, session.mode) == ("own", Mode.SESSION)
    assert [program.id for program in programs("doctests:.")] == ["own"]
    assert [program.id for program in programs("doctests:heapq")] == [p.id for p in programs("heapq")]


def test_a_script_that_does_not_parse_is_refused(here: Path) -> None:
    """With the place, before anything runs."""
    (here / "broken.py").write_text("def f(:\n")
    with pytest.raises(InputError, match=r"broken\.py:1:7"):
        programs("broken.py")


def test_too_much_beside_a_program_is_told(here: Path) -> None:
    """A program finds nothing by a relative path in a folder of more entries than are linked: a note says so."""
    (here / "own.py").write_text("def f(): pass\n")
    for number in range(FILES_BESIDE):
        (here / f"{number}.txt").touch()
    for source, arguments in (("own.py", None), ("own.py::f", "()")):
        notes: list[str] = []
        list(programs(source, arguments, note=notes.append))
        assert len(notes) == 1
        assert f"more than {FILES_BESIDE} entries" in notes[0]
