"""Options that are made from settings, and their defaults in pyproject.toml."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from deskcheck.cli.app import app as deskcheck_app
from deskcheck.cli.common.commands import with_kinds
from deskcheck.cli.common.configuration import configuration
from deskcheck.cli.common.options import Panel, refuse_others, with_options
from deskcheck.errors import InputError
from deskcheck.settings import Setting
from tests.command import deskcheck


def _even(text: str) -> int:
    if int(text) % 2:
        raise ValueError("is odd")
    return int(text)


@dataclass(frozen=True, kw_only=True)
class Inner:
    cpu_s: Annotated[float, Setting("CPU time.", min=0.1)] = 2.0
    hidden: int = 7


@dataclass(frozen=True, kw_only=True)
class Apples:
    inner: Inner = field(default_factory=Inner)
    count: Annotated[int, Setting("How many.", min=1)] = 3
    names: Annotated[tuple[str, ...], Setting("Their names.", flag="--name")] = ()
    wash: Annotated[bool, Setting("Wash them.")] = True
    shared: Annotated[int | None, Setting("Of both.")] = None
    even: Annotated[int | None, Setting("Even.", parse=_even)] = None

    def __post_init__(self) -> None:
        if self.count == 13:
            raise ValueError("count=13 is not for apples")


@dataclass(frozen=True, kw_only=True)
class Pears:
    count: Annotated[int, Setting("How many.", min=1)] = 5
    shared: Annotated[int | None, Setting("Of both.")] = None
    ripe: Annotated[bool, Setting("Ripe ones alone.")] = False


@dataclass(frozen=True, kw_only=True)
class Own:
    """What belongs to no kind of fruit."""

    show_: Annotated[bool | None, Setting("Show them, or do not.", flag="--show", off="--hide")] = None


@pytest.fixture
def fruit() -> tuple[typer.Typer, list[Any]]:
    """A command with two settings, and what it was called with."""
    app, called = typer.Typer(), []

    @app.command()
    @with_options
    def eat(
        what: Annotated[str, typer.Argument()],
        *,
        apples: Annotated[Apples, Panel("Apples", "apples")],
        pears: Annotated[Pears, Panel("Pears", "pears")],
        own: Annotated[Own, Panel(None)],
        as_json: Annotated[bool, typer.Option("--json")] = False,
    ) -> None:
        refuse_others({"apple": "Apples", "pear": "Pears"}[what])
        called.append((apples, pears, as_json) if own == Own() else own)

    return app, called


def test_each_setting_is_an_option(fruit: tuple[typer.Typer, list[Any]]) -> None:
    """Nested fields, tuples, negatives and parsed values arrive; without options the defaults do."""
    app, called = fruit
    assert CliRunner().invoke(app, ["apple"]).exit_code == 0
    given = [
        "apple",
        "--cpu-s",
        "4",
        "--count",
        "9",
        "--name",
        "a",
        "--name",
        "b",
        "--no-wash",
        "--even",
        "8",
    ]
    assert CliRunner().invoke(app, given).exit_code == 0
    assert called == [
        (Apples(), Pears(), False),
        (
            Apples(inner=Inner(cpu_s=4.0), count=9, names=("a", "b"), wash=False, even=8),
            Pears(count=9),
            False,
        ),
    ]


def test_an_option_of_the_command_itself_is_never_refused(fruit: tuple[typer.Typer, list[Any]]) -> None:
    """It may be on, off, or not said; the help has it among the command's own."""
    app, called = fruit
    for flag in ("--show", "--hide"):
        assert CliRunner().invoke(app, ["pear", flag], catch_exceptions=False).exit_code == 0
    assert called == [Own(show_=True), Own(show_=False)]
    own, _, apples = CliRunner().invoke(app, ["--help"]).output.partition("Apples")
    assert "--show" in own.partition("Options")[2]
    assert "--count" not in own.partition("Options")[2].partition("Common")[0]
    assert "--show" not in apples


def test_what_is_shared_keeps_each_default(fruit: tuple[typer.Typer, list[Any]]) -> None:
    """One option sets both; where it is not given, each of the settings has its own default."""
    app, called = fruit
    assert CliRunner().invoke(app, ["pear", "--shared", "4", "--json"]).exit_code == 0
    assert called == [(Apples(shared=4), Pears(shared=4), True)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["apple", "--count", "0"], "greater than or equal to 1"),
        (["apple", "--even", "3"], "'3': is odd"),
        (["apple", "--even", "x"], "'x': invalid literal"),
    ],
)
def test_a_bad_value_is_refused(
    fruit: tuple[typer.Typer, list[Any]], arguments: list[str], said: str
) -> None:
    """With what is wrong, before the command runs."""
    app, called = fruit
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert said in result.output
    assert called == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["apple", "--count", "13"], "count=13 is not for apples"),
        (["apple", "--ripe"], "--ripe: is for pears"),
        (["pear", "--no-wash"], "--wash: is for apples"),
    ],
)
def test_what_does_not_go_together_is_an_error(
    fruit: tuple[typer.Typer, list[Any]], arguments: list[str], said: str
) -> None:
    """What the settings refuse, and options of other settings than those that are used."""
    app, called = fruit
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, InputError)
    assert said in str(result.exception)
    assert called == []


# -- pyproject.toml --------------------------------------------------------------------------------

PROGRAM = 'def double(x):\n    """\n    >>> double(2)\n    4\n    """\n    return x + x\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "double.py").write_text(PROGRAM)
    return tmp_path


def said(folder: Path) -> dict[str, Any]:
    """What a recording says that it was recorded with."""
    from deskcheck.recording.reader import Recordings

    (recording,) = Recordings(folder)
    told = recording.environment
    return {"granularity": told.granularity, "events": (told.trace_limits or {})["events"]}


def test_the_file_gives_defaults_and_a_flag_counts_before_it(project: Path) -> None:
    """Of the current folder or one above; a key with - or _; only for the command that it is of."""
    (project / "pyproject.toml").write_text(
        '[tool.deskcheck.record]\ngranularity = "instruction"\nmax_events = 50\nrepeat = false\n'
        "[tool.deskcheck.notebooks.check]\ncell-s = 5\n"
    )
    record = ("record", "doctests:double.py", "--sandbox", "trusted", "--json", "--out")
    ran = deskcheck(*record, "one", cwd=project / "inner")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert said(project / "inner" / "one") == {"granularity": "instruction", "events": 50}
    ran = deskcheck(*record, "two", "--granularity", "line", cwd=project / "inner")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert said(project / "inner" / "two") == {"granularity": "line", "events": 50}
    assert json.loads(ran.stdout)["recorded"] == 1


def test_the_nearest_file_with_a_table_counts(project: Path) -> None:
    """A project inside of another has its own file; one that says nothing of us is passed over."""
    from deskcheck.cli import app

    group = typer.main.get_command(app)
    context = typer.Context(group)
    (project / "pyproject.toml").write_text("[tool.deskcheck.record]\nworkers = 3\n")
    (project / "inner" / "pyproject.toml").write_text("[project]\nname = 'inner'\n")
    assert configuration(group, context, project / "inner") == {"record": {"workers": 3}}
    (project / "inner" / "pyproject.toml").write_text("[tool.deskcheck]\n")
    assert configuration(group, context, project / "inner") == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.deskcheck.recrd]\n", "unknown command 'recrd'. Did you mean record?"),
        ("[tool.deskcheck.record]\nworker = 3\n", "unknown option 'worker'. Did you mean workers?"),
        ("[tool.deskcheck]\nworkers = 3\n", "unknown command 'workers'"),
        ("[tool]\ndeskcheck = 3\n", "tool.deskcheck must be a table"),
        ("[tool.deskcheck]\nrecord = 3\n", "tool.deskcheck.record must be a table"),
        ("[tool.deskcheck\n", "cannot be read"),
        (
            "[tool.deskcheck.record]\nworkers = 'many'\n",
            "[tool.deskcheck.record] workers = 'many': Input should be",
        ),
        ('[tool.deskcheck.record]\nsandbox = "trusted"\n', "can only be given on the command line"),
        ('[tool.deskcheck.record]\npython = "/tmp/evil"\n', "can only be given on the command line"),
        ('[tool.deskcheck.ask]\nmodel = ["dear/one"]\n', "can only be given on the command line"),
    ],
)
def test_a_wrong_file_is_named(project: Path, text: str, said: str) -> None:
    """With its place, and what it could mean; and it may not take the sandbox away or pay a model."""
    (project / "pyproject.toml").write_text(text)
    ran = deskcheck("record", "doctests:double.py", "--out", "runs", cwd=project / "inner")
    assert ran.returncode == 2
    assert said in ran.stderr
    assert not (project / "inner" / "runs").exists()


def _commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name in getattr(command, "commands", {}):
        yield from _commands(command.commands[name], (*words, name))


def test_help_shows_every_word() -> None:
    """Of every command. Words in brackets, too, which the library that shows them could take for markup."""
    for words, command in _commands(typer.main.get_command(deskcheck_app)):
        longest = "--help-all" if any("--help-all" in p.opts for p in command.params) else "--help"
        outcome = CliRunner().invoke(
            deskcheck_app, [*words, longest], env={"COLUMNS": "400"}, catch_exceptions=False
        )
        assert outcome.exit_code == 0, words
        for text in (command.help, *(parameter.help for parameter in command.params)):
            for word in with_kinds(text or "").replace("\\[", "[").split():
                assert word in outcome.output, words
