"""Functions with which the model ``deskcheck/guess`` reads prompts; `GUESSES`, its answers by question form.

A guess sees the program and the question of a prompt, nothing else.
"""

import ast
import re
from collections.abc import Callable

_FENCED = re.compile(r"^(?:File (\S+?))?[^\n]*:\n(`{3,})python\n(.*?)\n\2$", re.DOTALL | re.MULTILINE)
_NUMBERED = re.compile(r"^ *(\d+) \| ?(.*)$", re.MULTILINE)

Guess = Callable[[str], str]
GUESSES: dict[str, Guess] = {}
"""Form of a question -> the guess, made of the prompt without its task and its example."""


def guesses(*forms: str) -> Callable[[Guess], Guess]:
    """Make a function the guess for some forms of question."""

    def add(guess: Guess) -> Guess:
        GUESSES.update(dict.fromkeys(forms, guess))
        return guess

    return add


@guesses("branch", "coverage", "reval_coverage")
def true(prompt: str) -> str:
    return "True"


# -- parts of a prompt ---------------------------------------------------------------------------------


def labelled(prompt: str, label: str) -> str:
    """The rest of the last line that begins with a label."""
    return prompt.rpartition(f"{label}: ")[2].partition("\n")[0]


def code_in(prompt: str) -> str:
    return "\n".join(text for _, _, text in _FENCED.findall(prompt))


def numbered_lines(prompt: str) -> list[tuple[int, str]]:
    """Numbered lines of the file that is asked about that are neither empty nor comments."""
    files = _FENCED.findall(prompt)
    question = prompt.rpartition(f"\n{files[-1][1]}\n")[2] if files else prompt
    named = [
        text for name, _, text in files if name and re.search(rf" (?:in|of) {re.escape(name)}\b", question)
    ]
    program = named[0] if named else "".join(text for _, _, text in files[:1])
    lines = [(int(number), text) for number, text in _NUMBERED.findall(program)]
    return [(n, text) for n, text in lines if text.strip() and not text.lstrip().startswith("#")]


def call_in(text: str) -> ast.Call | None:
    body = tree_of(text).body
    node = body[0].value if body and isinstance(body[0], ast.Expr) else None
    return node if isinstance(node, ast.Call) else None


# -- Python --------------------------------------------------------------------------------------------


def tree_of(code: str) -> ast.Module:
    """The syntax tree of a code; an empty one if it cannot be parsed."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])


def functions_in(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def function_named(tree: ast.Module, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    return next((node for node in functions_in(tree) if node.name == name), None)


def called_name(call: ast.Call | None) -> str:
    return ast.unparse(call.func).rpartition(".")[2] if call else ""


def first_argument(call: ast.Call | None) -> str:
    passed = [*call.args, *(keyword.value for keyword in call.keywords)] if call else []
    return ast.unparse(passed[0]) if passed else "None"


def last_return(tree: ast.Module, name: str) -> ast.expr | None:
    """The expression of the last ``return`` of a function."""
    function = function_named(tree, name)
    returns = [n for n in ast.walk(function) if isinstance(n, ast.Return)] if function else []
    return max(returns, key=lambda node: node.lineno).value if returns else None


def literal_of(returned: ast.expr | None) -> str | None:
    """The value of an expression that is a literal; True for one whose value is a truth value."""
    if isinstance(returned, (ast.Constant, ast.List, ast.Dict, ast.Tuple)) and not any(
        isinstance(node, ast.Name) for node in ast.walk(returned)
    ):
        return ast.unparse(returned)
    logical = isinstance(returned, (ast.Compare, ast.BoolOp)) or (
        isinstance(returned, ast.UnaryOp) and isinstance(returned.op, ast.Not)
    )
    if logical or (isinstance(returned, ast.Call) and called_name(returned) in ("any", "all")):
        return "True"
    return None


def is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True


def held_before(prompt: str, variable: str, line: int, label: str = "How it is run") -> str:
    """The last literal assigned to a variable above a line; the argument passed for it; else 0.

    label: the label of the call in the prompt.
    """
    lines = numbered_lines(prompt)
    assigned = re.compile(rf"\s*{re.escape(variable)}\s*=\s*(.+)")
    for number, text in reversed(lines):
        match = assigned.fullmatch(text)
        if number < line and match and is_literal(match[1]):
            return match[1]
    call = call_in(labelled(prompt, label))
    function = function_named(tree_of("\n".join(text for _, text in lines)), called_name(call))
    if call is not None and function is not None:
        names = [parameter.arg for parameter in [*function.args.posonlyargs, *function.args.args]]
        passed = dict(zip(names, call.args, strict=False))
        passed |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        if variable in passed:
            return ast.unparse(passed[variable])
    return "0"
