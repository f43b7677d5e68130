"""The program in a completion."""

import ast
import warnings
from dataclasses import dataclass

from deskcheck.ask.answers.lenient import said_in
from deskcheck.ask.answers.parsing import OPEN, answer_in, unfenced
from deskcheck.fences import fenced_texts
from deskcheck.sources.text.python import defined, quiet_parse, short_numbers

MAX_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class FoundCode:
    """The program in a completion, or (code None) why there is none. read: whether an answer was there."""

    code: str | None
    why_not: str = ""
    read: bool = True


def code_in(completion: str, entry_point: str | None) -> FoundCode:
    """The program between the marks, where a code fence around all of it does not count."""
    answer = answer_in(completion)
    if answer is None:
        return FoundCode(None, "no program between [ANSWER] and [/ANSWER]", read=False)
    if not answer.strip():
        return FoundCode(None, "no code", read=False)
    if len(answer) > MAX_CHARS:
        return FoundCode(None, f"the answer is longer than {MAX_CHARS} characters")
    return _checked(unfenced(answer), entry_point)


def code_said(completion: str, entry_point: str | None, *, complete: bool = True) -> FoundCode:
    """The program that a person would find in a completion: also without marks, and with words around it. Of
    several code fences the one that defines `entry_point` counts. complete: as in `said_in`."""
    answer = said_in(completion, complete=complete)
    if answer is None or (OPEN not in completion and "```" not in answer):
        return FoundCode(None, "no program between [ANSWER] and [/ANSWER], and no code fence", read=False)
    if len(answer) > MAX_CHARS:
        return FoundCode(None, f"the answer is longer than {MAX_CHARS} characters")
    if _tree(answer) is not None:
        return _checked(answer, entry_point)
    blocks = [text for text in fenced_texts(answer) if text.strip()]
    if not blocks:
        return _checked(answer, entry_point)
    if len(blocks) > 1:
        fitting = [block for block in blocks if entry_point is not None and _defines(block, entry_point)]
        if len(fitting) != 1:
            count = f"{len(fitting)} of them define {entry_point}" if entry_point else "which one counts?"
            return FoundCode(None, f"{len(blocks)} programs: {count}")
        blocks = fitting
    return _checked(blocks[0], entry_point)


def _checked(code: str, entry_point: str | None) -> FoundCode:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(short_numbers(code))
            compile(tree, "answer.py", "exec", dont_inherit=True)
        names = defined(tree.body).keys()
    except SyntaxError as error:
        where = f" in line {error.lineno}" if error.lineno else ""
        return FoundCode(None, f"syntax error{where}: {error.msg}")
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        return FoundCode(None, f"no Python text that can be compiled: {type(error).__name__}")
    if not tree.body:
        return FoundCode(None, "no code", read=False)
    if entry_point is not None and not {entry_point, "*"} & names:
        return FoundCode(None, f"does not define {entry_point}")
    return FoundCode(code)


def _tree(code: str) -> ast.Module | None:
    try:
        return quiet_parse(short_numbers(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _defines(code: str, name: str) -> bool:
    try:
        tree = _tree(code)
        return tree is not None and name in defined(tree.body)
    except RecursionError:
        return False


def imported_in(code: str) -> set[str]:
    """Top-level names of the modules that a program imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(_tree(code) or ast.Module(body=[], type_ignores=[])):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names
