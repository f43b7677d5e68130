"""The text of an argument list, as ``(3, seed=1)``: checked before anything runs, never evaluated here."""

import ast
import warnings

from deskcheck.recording import InputError
from deskcheck.sources.text.python import pointed


def argument_list(text: str, place: str) -> str:
    """The text with its parentheses, which the user may leave out.

    Where the outer parentheses can be read as those of the call, they are: ``(3, 4)`` is two
    arguments; one tuple is ``((3, 4),)`` or ``(3, 4),``.

    Raises:
        InputError: the text is not an argument list; a caret shows where it goes wrong.
    """
    stripped = text.strip()
    if not stripped.startswith("("):
        return parenthesised(stripped, place)
    try:
        if _is_call(f"f{stripped}"):
            return stripped
    except SyntaxError as error:
        raise _refused(stripped, place, error, added=1) from error
    return parenthesised(stripped, place)  # "(1, 2), 3": these parentheses are the first argument's own


def parenthesised(text: str, place: str) -> str:
    """`text`, which has no parentheses of a call round it, as an argument list.

    Raises:
        InputError: as `argument_list`.
    """
    try:
        if _is_call(f"f({text})"):
            return f"({text})"
    except SyntaxError as error:
        raise _refused(text, place, error, added=2) from error
    try:
        _compiled(text)  # it closes our parenthesis, as "1), (2" does: by itself it shows where
    except SyntaxError as error:
        raise _refused(text, place, error, added=0) from error
    raise InputError(f"{place}: {text!r} is not an argument list. {_WAY_OUT}")


_WAY_OUT = "Write it as in a call: '(3, seed=1)', or '()' for no arguments."


def _is_call(code: str) -> bool:
    body = _compiled(code).body
    return isinstance(body, ast.Call) and isinstance(body.func, ast.Name)


def _compiled(code: str) -> ast.Expression:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(code, mode="eval")
            # The compiler refuses what the parser lets through: `yield` outside a function, for one.
            compile(tree, "<arguments>", "eval", dont_inherit=True)
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or "nested too deeply") from error
    return tree


def _refused(text: str, place: str, error: SyntaxError, *, added: int) -> InputError:
    """`added`: how many characters we put before the text."""
    lines = text.split("\n")
    row = min(error.lineno or 1, len(lines))
    column = max((error.offset or 1) - (added if row == 1 else 0), 1)
    return InputError(
        f"{place}: not an argument list: {error.msg}\n{pointed(lines[row - 1], column)}\n{_WAY_OUT}"
    )
