"""Several roles of one model work on a program, such as an analyst, a programmer and a tester.

A team is a table in a file of prompts: `roles.toml`, or your file. Its steps run in order. After each
program, the visible tests and the tests of a step run, and later steps receive the report. AgentCoder
(arXiv:2312.13010), Self-collaboration (arXiv:2304.07590) and MapCoder (arXiv:2405.11403) are such tables.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from deskcheck.ask.scoring.programs import Tested
from deskcheck.ask.scoring.score import PROGRAM_FORMS
from deskcheck.fences import fenced_code
from deskcheck.files import read_text
from deskcheck.recording import InputError
from deskcheck.settings import Setting
from deskcheck_methods.bench import Bench, Options, Turn, scaffold
from deskcheck_methods.repair import asserts_of

GIVES = ("text", "code", "tests")
WHEN = ("once", "always", "failing")
_KEYS = {"name": str, "role": str, "prompt": str, "gives": str, "when": str}
_OWN = ("question", "code", "tests", "report")
"""Names that a prompt may use in addition to earlier steps."""


@dataclass(frozen=True, slots=True)
class RoleStep:
    """A step of a team.

    gives: ``text`` for later prompts, ``code`` that is tested, or ``tests``. when: only in the first round,
    in every round, or only after a program that failed.
    """

    name: str
    role: str
    prompt: str
    gives: str = "text"
    when: str = "always"


@dataclass(frozen=True, slots=True)
class Team:
    """The steps in order. rounds: limit for the rounds over them."""

    about: str
    rounds: int
    steps: tuple[RoleStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RolesOptions(Options):
    """team: one of deskcheck's teams, or a table of `file`."""

    team: Annotated[str, Setting("agentcoder, self_collaboration, mapcoder; or a table in your file.")] = (
        "agentcoder"
    )
    file: Annotated[str, Setting("A TOML file of teams, instead of the built-in ones.")] = "own"

    def check(self) -> None:
        """Raises InputError if the team does not exist."""
        team_of(self.team, self.file)


@cache
def _text(file: str) -> str:
    if file == "own":
        return files("deskcheck_methods").joinpath("roles.toml").read_text(encoding="utf-8")
    try:
        return read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"roles: file={file}: cannot be read: {error}. Give a TOML file of teams."
        ) from error


def team_of(name: str, file: str) -> Team:
    """A team of a file. Raises InputError, with the place, if it does not exist or is wrong."""
    try:
        teams = tomllib.loads(_text(file))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"roles: file={file}: is not TOML: {error}.") from error
    if not isinstance(teams.get(name), Mapping):
        raise InputError(f"roles: unknown team {name!r} in {file}. It has {', '.join(teams)}.")
    table: Mapping[str, Any] = teams[name]
    where = f"roles: {file}: {name}"
    rounds, steps = table.get("rounds", 1), table.get("step")
    if not isinstance(rounds, int) or rounds < 1 or not isinstance(steps, list) or not steps:
        raise InputError(f"{where}: a team needs rounds, at least 1, and steps as tables [[{name}.step]].")
    steps_made: list[RoleStep] = []
    for number, row in enumerate(steps, 1):
        steps_made.append(_step(row, f"{where}: step {number}", {step_made.name for step_made in steps_made}))
    if not any(step.gives == "code" for step in steps_made):
        raise InputError(f"{where}: no step has gives = 'code'.")
    return Team(str(table.get("about", "")), rounds, tuple(steps_made))


def _step(row: Any, where: str, before: set[str]) -> RoleStep:
    if not isinstance(row, Mapping) or not {"name", "role", "prompt"} <= row.keys() <= _KEYS.keys():
        raise InputError(f"{where}: a step needs name, role and prompt, and may have gives and when.")
    for key, value in row.items():
        if not isinstance(value, str):
            raise InputError(f"{where}: {key!r} must be text.")
    step = RoleStep(**row)
    if step.gives not in GIVES or step.when not in WHEN:
        raise InputError(f"{where}: gives is one of {', '.join(GIVES)}, when one of {', '.join(WHEN)}.")
    if step.name in _OWN:
        raise InputError(f"{where}: the name {step.name!r} is taken: {', '.join(_OWN)} are given.")
    for part in step.prompt.split("{")[1:]:
        named = part.partition("}")[0]
        if named.isidentifier() and named not in {*_OWN, *before, step.name}:
            raise InputError(f"{where}: {{{named}}} is not an earlier step or one of {', '.join(_OWN)}.")
    return step


@scaffold("a team of roles on a program, by a file of prompts", RolesOptions, forms=PROGRAM_FORMS)
async def roles(bench: Bench, options: RolesOptions) -> None:
    """Let the roles of a team work on a program until it passes the tests."""
    team = team_of(options.team, options.file)
    tests: tuple[str, ...] = ()
    texts = dict.fromkeys([*_OWN, *(step.name for step in team.steps)], "(nothing yet)")
    texts["question"] = bench.puzzle.prompt
    best, failed = -1, False
    for number in range(1, team.rounds + 1):
        for step in team.steps:
            if (step.when == "once" and number > 1) or (step.when == "failing" and not failed):
                continue
            prompt = _filled(step.prompt, texts)
            completion = await bench.ask(
                [Turn("system", f"You are the {step.role}."), Turn("user", prompt)],
                f"round {number}, {step.name}",
            )
            texts[step.name] = completion.text.strip()
            if step.gives == "tests":
                tests = asserts_of(bench, completion)
                texts["tests"] = "\n".join(tests)
            if step.gives != "code":
                continue
            if bench.answer is None:
                bench.offer(completion)
            program = bench.code_of(completion)
            if program.code is None:
                texts["report"], failed = f"There was no program: {program.why_not}.", True
                continue
            texts["code"] = fenced_code(program.code)
            tested = await bench.test(
                program.code, f"round {number}, {step.name}", (*bench.puzzle.tests, *tests)
            )
            passed = 0 if tested is None else tested.passed
            if passed > best or tested is None or tested.right:
                best = passed
                bench.offer(completion)
            if tested is not None and tested.right:
                bench.ended = f"passes the tests of round {number}"
                return
            failed = tested is not None
            texts["report"] = _report(tested)
        if not failed:
            bench.ended = "no test can be run"
            return
    bench.ended = f"{team.rounds} rounds, and no program that passes the tests"


def _report(tested: Tested | None) -> str:
    if tested is None:
        return "No test can be run."
    return f"{tested.passed} of {tested.of} tests pass. The first that does not: {tested.reason}"


def _filled(prompt: str, texts: Mapping[str, str]) -> str:
    """A prompt with texts in place of names. Names inside these texts are not replaced."""
    parts = prompt.split("{")
    text = parts[0]
    for part in parts[1:]:
        name, brace, after_brace = part.partition("}")
        text += texts[name] + after_brace if brace and name in texts else "{" + part
    return text
