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
        ("", "'' names no source of programs. Write one of\n    FILE.py::FUNCTION"),
        ("two words", "'two words' names no source of programs."),
        ("foo:bar", "no source is called 'foo'. Write one of\n    FILE.py::FUNCTION"),
        ("cruxevl:x.jsonl", "no source is called 'cruxevl'. Did you mean cruxeval or cruxeval_x?"),
        ("cruxevl", "Did you mean cruxeval or cruxeval_x?"),
        ("sortin.py", "sortin.py: no such file or folder. Did you mean sorting.py?"),
        ("./sorting", "./sorting: no such file or folder. Did you mean sorting.py?"),
        ("sorting", "there is no module sorting to import, and no file or folder of that name. Did you mean"),
        ("absent/x.py", "absent/x.py: no such file or folder."),
        ("data.csv", "data.csv: is read neither as Python"),
        ("rows.json", "A file of a published set is named with it, as cruxeval:rows.json"),
        ("x" * 5000, "there is no module"),
        ("x" * 5000 + ".py", "no such file or folder"),
        ("nul\0.py", "no such file or folder"),
        ("absent.jsonl", "absent.jsonl: no such file or folder."),
        ("doctests:sortin.py", "sortin.py: no such file or folder. Did you mean sorting.py?"),
        ("doctests:data.csv", "data.csv: is not a .py file"),
        ("doctests:absent_module", "there is no module absent_module"),
        ("doctests:", "write doctests:FILE.py, doctests:FOLDER or doctests:MODULE"),
        ("doctest:sorting.py", "no source is called 'doctest'. Did you mean doctests?"),
    ],
)
def test_what_names_nothing_is_refused_at_once(here: Path, source: str, message: str) -> None:
    """The error says what was looked for, what is close, and what can be written instead."""
    for name in ("sorting.py", "data.csv", "rows.json"):
        (here / name).write_text("")
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
    assert notes[0] == "mbpp is read as the published set; write ./mbpp for what has that name here."
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
