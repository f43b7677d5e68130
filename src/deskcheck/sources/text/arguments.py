"""The text of an argument list, such as ``(3, seed=1)``. It is checked before anything runs, not
evaluated."""

import ast
import warnings

from deskcheck.recording import InputError
from deskcheck.sources.text.python import pointed


def argument_list(text: str, location: str) -> str:
    """The text with its parentheses, which the user may leave out.

    Outer parentheses count as those of the call if possible: ``(3, 4)`` is two arguments. One tuple is
    ``((3, 4),)`` or ``(3, 4),``.

    Raises:
        InputError: the text is not an argument list. A caret shows the error.
    """
    stripped = text.strip()
    if not stripped.startswith("("):
        return parenthesised(stripped, location)
    try:
        if _is_call(f"f{stripped}"):
            return stripped
    except SyntaxError as error:
        raise _refused(stripped, location, error, added=1) from error
    return parenthesised(stripped, location)  # "(1, 2), 3": the parentheses belong to the first argument


def parenthesised(text: str, location: str) -> str:
    """`text`, which is without the parentheses of a call, as an argument list.

    Raises:
        InputError: the text is not an argument list.
    """
    try:
        if _is_call(f"f({text})"):
            return f"({text})"
    except SyntaxError as error:
        raise _refused(text, location, error, added=2) from error
    try:
        _compiled(text)  # a text like "1), (2" closes our parenthesis; without ours the error has a column
    except SyntaxError as error:
        raise _refused(text, location, error, added=0) from error
    raise InputError(f"{location}: {text!r} is not an argument list. {_WAY_OUT}")


_WAY_OUT = "Write it as in a call: '(3, seed=1)', or '()' for no arguments."


def _is_call(code: str) -> bool:
    body = _compiled(code).body
    return isinstance(body, ast.Call) and isinstance(body.func, ast.Name)


def _compiled(code: str) -> ast.Expression:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(code, mode="eval")
            # The compiler refuses some texts that the parser accepts, such as `yield` outside a function.
            compile(tree, "<arguments>", "eval", dont_inherit=True)
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or "nested too deeply") from error
    return tree


def _refused(text: str, location: str, error: SyntaxError, *, added: int) -> InputError:
    """The error for a text. added: the number of characters that were put before the text."""
    lines = text.split("\n")
    row = min(error.lineno or 1, len(lines))
    column = max((error.offset or 1) - (added if row == 1 else 0), 1)
    return InputError(
        f"{location}: not an argument list: {error.msg}\n{pointed(lines[row - 1], column)}\n{_WAY_OUT}"
    )
