"""The model ``deskcheck/guess``: what can be had without working anything out. A score means little until
it is well above this.

It sees the prompt and nothing else, no answers of other samples either. By kind:

- output: what the function's last ``return`` gives, if that is a literal; True for a ``return`` of a
  comparison, ``not``, ``in``, ``any`` or ``all``; else the first argument of the call. Printed text: the
  first string that the program prints as a literal.
- output that is an object: the same; of ``__init__`` an object without attributes.
- input: the wanted value itself, once for every parameter without a default.
- next_line: the next line of the text that is neither empty nor a comment; ``return`` after the last.
- state: the last literal assigned to the variable in a line above; the argument passed for it; else 0.
- history: the argument passed for the variable, then the literals that the text assigns to it, in its order.
- step: the same state at the next line of the text; N lines on, or back, of those that hold code. By
  instructions, the same state: where it is about to return, what is on top of the stack is returned.
- branch, coverage: True. alias: no other variable.
- move: as next_line; of a return what the last one of the function says: a literal, or a variable as it is.
- visit: as next_line. after_loop: as state, where the loop begins.
- changes: nothing.
- iterations: N of ``range(N)``; else how many items the first argument of the call has; else one.
- calls: once for each place in the text where a function of the program calls one by its name.
- type: the class of what state would guess.
- exception: the first ``raise`` of the text, with the class that it names; else a TypeError of the last line.
- cell_output: what the cell prints, and its last expression, where these are literals, variables whose value
  the prompt shows or a cell assigned as a literal, or their shape or length; else what the same cell showed
  before.
- next_cell: the cell that was executed last. crash: that none is raised.
- program: the code to repair or edit as it is; else a function that returns None; a script that does nothing.
- of published sets: Yes, True or the next line where one is asked for; after a statement the literal that it
  assigns, or the value of a variable in it; of a problem the output of its first example; all numbered lines;
  the first text of a program that prints; else as above.
- path: every statement of the function that is called, in the order of the text; of a script those of its
  top level, then those of its functions.
"""

import ast
import math
import re
from dataclasses import replace

from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.methods.solvers import read_state
from deskcheck.ask.samples.prompts import NOW, STATE, TASKS, WORK_ON, YOURS
from deskcheck.fences import FENCED
from deskcheck.notation.forms.explained_steps import answer_text, explained_in
from deskcheck.notation.layout import asked_state
from deskcheck.recording import Kind

_NUMBERED = re.compile(r"^ *(\d+) \| ?(.*)$", re.MULTILINE)
_FENCED = re.compile(r"^(?:File (\S+?))?[^\n]*:\n(`{3,})python\n(.*?)\n\2$", re.DOTALL | re.MULTILINE)
_LOGICAL = (ast.Compare, ast.BoolOp)


def completion(prompt: str) -> str:
    """The guess for a prompt; a word without an answer for one that is not ours."""
    form = next((form for form, task in TASKS.items() if prompt.startswith(task)), None)
    notation = "dynamic" if form is not None else explained_in(prompt)
    above, marker, mine = prompt.partition(f"\n\n{YOURS}\n\n")
    if notation is None:
        return "I cannot even guess."
    if not marker:  # there is no example
        mine = above
    guessed = _step(mine, notation) if form in (None, "step") else _GUESSES[form](mine)
    return f"{OPEN}{guessed}{CLOSE}"


def _code(mine: str) -> str:
    return "\n".join(text for _, _, text in _FENCED.findall(mine))


def _tree(code: str) -> ast.Module:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])


def _asked(mine: str, label: str) -> str:
    """The rest of the last line that begins with a label."""
    return mine.rpartition(f"{label}: ")[2].partition("\n")[0]


def _function(tree: ast.Module, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            return node
    return None


def _call(text: str) -> ast.Call | None:
    body = _tree(text).body
    node = body[0].value if body and isinstance(body[0], ast.Expr) else None
    return node if isinstance(node, ast.Call) else None


def _called_name(call: ast.Call | None) -> str:
    return ast.unparse(call.func).rpartition(".")[2] if call else ""


def _output(mine: str) -> str:
    call = _call(_asked(mine, "Call"))
    returned = _last_return(_tree(_code(mine)), _called_name(call))
    return _given(returned) or _first_argument(call)


def _first_argument(call: ast.Call | None) -> str:
    passed = [*call.args, *(keyword.value for keyword in call.keywords)] if call else []
    return ast.unparse(passed[0]) if passed else "None"


def _made(mine: str) -> str:
    name = re.search(r"\(([\w.<>]+#1)\b", _asked(mine, "Call"))
    return f"{name[1]}()" if name else "None"


def _last_return(tree: ast.Module, name: str) -> ast.expr | None:
    """What the last ``return`` of a function says."""
    function = _function(tree, name)
    returns = [n for n in ast.walk(function) if isinstance(n, ast.Return)] if function else []
    return max(returns, key=lambda node: node.lineno).value if returns else None


def _given(returned: ast.expr | None) -> str | None:
    """The value of an expression that is a literal, or whose value is a truth value."""
    if isinstance(returned, (ast.Constant, ast.List, ast.Dict, ast.Tuple)) and not any(
        isinstance(node, ast.Name) for node in ast.walk(returned)
    ):
        return ast.unparse(returned)
    logical = isinstance(returned, _LOGICAL) or (
        isinstance(returned, ast.UnaryOp) and isinstance(returned.op, ast.Not)
    )
    if logical or (isinstance(returned, ast.Call) and _called_name(returned) in ("any", "all")):
        return "True"
    return None


def _stdout(mine: str) -> str:
    for node in ast.walk(_tree(_code(mine))):
        if not isinstance(node, ast.Call) or _called_name(node) != "print":
            continue
        if node.args and isinstance(node.args[0], ast.Constant):
            return str(node.args[0].value)
    return ""


def _input(mine: str) -> str:
    name, value = _asked(mine, "Function"), mine.rpartition("\nReturned: ")[2]
    function = _function(_tree(_code(mine)), name.rpartition(".")[2])
    count = 1
    if function is not None:
        count = len(function.args.args) + len(function.args.posonlyargs) - len(function.args.defaults)
    return f"{name}({', '.join([value] * max(count, 0))})"


def _lines(mine: str) -> list[tuple[int, str]]:
    """Numbered lines of the file that is asked about that are neither empty nor comments."""
    files = _FENCED.findall(mine)
    question = mine.rpartition(f"\n{files[-1][1]}\n")[2] if files else mine
    asked = [
        text for name, _, text in files if name and re.search(rf" (?:in|of) {re.escape(name)}\b", question)
    ]
    program = asked[0] if asked else "".join(text for _, _, text in files[:1])
    found = [(int(number), text) for number, text in _NUMBERED.findall(program)]
    return [(n, text) for n, text in found if text.strip() and not text.lstrip().startswith("#")]


def _next_line(mine: str) -> str:
    asked = re.search(r"\n(?:About to run|Line|Stopped): (?:just before )?line (\d+)", mine)
    line = int(asked[1]) if asked else 0
    numbers = [n for n, _ in _lines(mine)]
    after = numbers[numbers.index(line) + 1 :] if line in numbers else []
    return str(after[0]) if after else "return"


def _move(mine: str) -> str:
    if "\nCommand: return" not in mine:
        return _next_line(mine)
    within = re.search(r"\nStopped: just before line \d+ of (\S+)", mine)
    source = "\n".join(text for _, text in _lines(mine))
    returned = _last_return(_tree(source), within[1].rpartition(".")[2] if within else "")
    held = re.search(rf"\n    {returned.id} = (.*)", mine) if isinstance(returned, ast.Name) else None
    return held[1] if held else _given(returned) or "None"


def _state(mine: str) -> str:
    asked = re.search(r"\nVariable: (\w+), just before line (\d+)", mine)
    return _held(mine, asked[1], int(asked[2])) if asked else "0"


def _held(mine: str, variable: str, line: int, label: str = "How it is run") -> str:
    """What a variable may hold when a line runs. label: of the call."""
    assigned = re.compile(rf"\s*{re.escape(variable)}\s*=\s*(.+)")
    for number, text in reversed(_lines(mine)):
        found = assigned.fullmatch(text)
        if number < line and found and _is_literal(found[1]):
            return found[1]
    call = _call(_asked(mine, label))
    text = "\n".join(text for _, text in _lines(mine))
    function = _function(_tree(text), _called_name(call))
    if call is not None and function is not None:
        names = [parameter.arg for parameter in [*function.args.posonlyargs, *function.args.args]]
        passed = dict(zip(names, call.args, strict=False))
        passed |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        if variable in passed:
            return ast.unparse(passed[variable])
    return "0"


def _history(mine: str) -> str:
    asked = re.search(r"\nVariable: (\w+), in call number", mine)
    name = asked[1] if asked else ""
    assigned = [
        found[1] for _, text in _lines(mine) if (found := re.fullmatch(rf"\s*{name}\s*=\s*(.+)", text))
    ]
    passed = _held(mine, name, 0)
    return f"[{', '.join([*([passed] if passed != '0' else []), *filter(_is_literal, assigned)])}]"


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True


def _path(mine: str) -> str:
    numbered = _lines(mine)
    text = [""] * (numbered[-1][0] if numbered else 0)
    for number, line in numbered:
        text[number - 1] = line
    tree = _tree("\n".join(text))
    function = _function(tree, _called_name(_call(_asked(mine, "How it is run"))))
    if function is not None:
        return str(
            sorted({n.lineno for stmt in function.body for n in ast.walk(stmt) if isinstance(n, ast.stmt)})
        )
    bodies = [n.body for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    nested = {n.lineno for body in bodies for stmt in body for n in ast.walk(stmt) if isinstance(n, ast.stmt)}
    every = {n.lineno for n in ast.walk(tree) if isinstance(n, ast.stmt)}
    return str(sorted(every - nested) + sorted(nested))


_RAISES = re.compile(r"\s*raise\s+([\w.]+)")


def _exception(mine: str) -> str:
    numbered = _lines(mine)
    raising = [(line, found[1]) for line, text in numbered if (found := _RAISES.match(text))]
    line, name = raising[0] if raising else (numbered[-1][0] if numbered else 1, "TypeError")
    return f"{line}: {name}"


def _step(mine: str, notation: str) -> str:
    """notation: of the answer."""
    above, _, question = mine.rpartition("\n\n")
    known = read_state(asked_state(question) or "")
    if isinstance(known, str):
        return ""
    guessed = replace(known, value=None, output="", frames=known.frames)
    if known.instruction is not None:
        if known.instruction.startswith("RETURN_") and known.running.stack:
            value = known.running.stack[-1]
            guessed = replace(guessed, kind=Kind.RETURN, instruction=None, value=value)
    else:
        numbered = re.findall(r"^(\d+)\|(.*)$", above, re.MULTILINE)
        frame, jump = known.running, int(question.rpartition("\n")[0].rpartition("\n")[2])
        lines = [int(number) for number, text in numbered if text.strip()]
        before, after = ([n for n in lines if n < frame.line], [n for n in lines if n > frame.line])
        there = after[:jump] if jump > 0 else before[jump:][::-1]
        frame = replace(frame, line=there[-1] if there else frame.line)
        guessed = replace(guessed, kind=Kind.LINE, frames=(*known.frames[:-1], frame))
    return answer_text(known, guessed, notation)


def _yes(mine: str) -> str:
    return "True"


def _alias(mine: str) -> str:
    return "set()"


def _nothing_changed(mine: str) -> str:
    return "{}"


def _after_loop(mine: str) -> str:
    loop, name = re.search(r"\nLoop: that in line (\d+)", mine), re.search(r"\nVariable: (\w+),", mine)
    return _held(mine, name[1], int(loop[1])) if loop and name else "0"


def _iterations(mine: str) -> str:
    loop = re.search(r"\nLoop: that in line (\d+)", mine)
    text = dict(_lines(mine)).get(int(loop[1]), "") if loop else ""
    if found := re.search(r"\brange\((\d+)\)", text):
        return found[1]
    call = _call(_asked(mine, "How it is run"))
    for argument in call.args if call else []:
        if _is_literal(ast.unparse(argument)):
            value = ast.literal_eval(argument)
            if isinstance(value, (str, list, tuple, dict, set)):
                return str(len(value))
    return "1"


def _calls(mine: str) -> str:
    tree = _tree(_code(mine))
    defined = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    names = {node.name for node in defined}
    counts: dict[tuple[str, str], int] = {}
    for caller in defined:
        for node in ast.walk(caller):
            if isinstance(node, ast.Call) and (name := _called_name(node)) in names:
                counts[caller.name, name] = counts.get((caller.name, name), 0) + 1
    return str(counts)


def _type(mine: str) -> str:
    value = _state(mine)
    return type(ast.literal_eval(value)).__name__ if _is_literal(value) else "int"


_EXECUTED = re.compile(
    r"^In \[[\d ]*\], cell (\S+):\n(`{3,})python\n(.*?)\n\2\n(?:It showed:\n(`{3,})\n(.*?)\n\4\n)?",
    re.DOTALL | re.MULTILINE,
)


def _cell_output(mine: str) -> str:
    before, _, now = mine.rpartition(f"\n\n{NOW} ")
    cell, cut = now.partition(":\n")[0], FENCED.search(now)
    history, _, variables = before.rpartition(STATE)
    executed = _EXECUTED.findall(before + "\n")
    body = _tree(cut["text"] if cut else "").body
    known = dict(_VARIABLE.findall(variables)) if history else {}
    for source in [source for _, _, source, *_ in executed] if not known else []:
        known |= _assigned(_tree(source).body)
    known |= _assigned(body)
    shown = [text for node in body if (text := _shown(node, known, last=node is body[-1])) is not None]
    earlier = [text for id_, _, _, _, text in executed if id_ == cell.rpartition(" ")[2]]
    return "\n".join(shown) or (earlier[-1] if earlier else "")


_VARIABLE = re.compile(r"^(\w+): ([^\n]*)$", re.MULTILINE)


def _assigned(body: list[ast.stmt]) -> dict[str, str]:
    """The literals that a cell assigns to names, as its variables are shown: after an equals sign."""
    return {
        target.id: f" = {ast.unparse(node.value)}"
        for node in body
        if isinstance(node, ast.Assign) and _is_literal(ast.unparse(node.value))
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _shown(node: ast.stmt, known: dict[str, str], *, last: bool) -> str | None:
    """What a statement shows: the last expression of a cell, or one that it prints."""
    if not isinstance(node, ast.Expr):
        return None
    if not isinstance(node.value, ast.Call) or _called_name(node.value) != "print":
        return _of(node.value, known) if last else None
    texts = [_of(argument, known) for argument in node.value.args]
    plain = [ast.literal_eval(text) if text and _is_literal(text) else text for text in texts]
    return " ".join(map(str, plain)) if None not in plain else None


def _of(node: ast.expr, known: dict[str, str]) -> str | None:
    """The value of an expression that is a literal, or that the line of a variable has."""
    if _is_literal(ast.unparse(node)):
        return repr(ast.literal_eval(node))
    of = node.value if isinstance(node, ast.Attribute) else node
    if isinstance(node, ast.Call) and _called_name(node) == "len" and len(node.args) == 1:
        of = node.args[0]
    line = known.get(of.id) if isinstance(of, ast.Name) else None
    if line is None:
        return None
    kind, _, value = line.partition(" = ")
    if isinstance(node, ast.Name):
        return value or None
    shape = re.search(r"shape (\([\d, ]*\))", kind)
    length = re.search(r"length (\d+)", kind)
    if shape is None:
        return length[1] if length and isinstance(node, ast.Call) else None
    sizes: tuple[int, ...] = ast.literal_eval(shape[1])
    match node:
        case ast.Attribute(attr="shape"):
            return str(sizes)
        case ast.Attribute(attr="ndim"):
            return str(len(sizes))
        case ast.Attribute(attr="size"):
            return str(math.prod(sizes))
        case ast.Call() if sizes:
            return str(sizes[0])
    return None


def _next_cell(mine: str) -> str:
    sources = [source for _, _, source, *_ in _EXECUTED.findall(mine)]
    return sources[-1] if sources else ""


def _crash(mine: str) -> str:
    return "None"


_GIVEN = re.compile(
    rf"^(?:{WORK_ON['repair']}|{WORK_ON['edit']}):\n(`{{3,}})python\n(.*?)\n\1$", re.DOTALL | re.MULTILINE
)


def _program(mine: str) -> str:
    if given := _GIVEN.search(mine):
        return given[2]
    name = _asked(mine, "Name to define")
    return f"def {name}(*args, **kwargs):\n    return None" if name else "pass"


# -- published sets --------------------------------------------------------------------------------


def _of_problem(mine: str) -> str:
    outputs = re.findall(r"^\W*Output\W*:\s*(.+)$", mine, re.MULTILINE | re.IGNORECASE)
    return next(filter(_is_literal, outputs), None) or _output(mine)


def _first_function(mine: str) -> str:
    tree = _tree(_code(mine))
    return next((node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), "")


def _codesense_output(mine: str) -> str:
    returned = _given(_last_return(_tree(_code(mine)), _first_function(mine)))
    return returned or _first_argument(_call(f"f({_asked(mine, 'Arguments')})"))


def _codesense_input(mine: str) -> str:
    return _asked(mine, "Returned")


def _after_statement(mine: str) -> str:
    statement = _tree(_asked(mine, "Statement")).body
    assigned = statement[0] if statement and isinstance(statement[0], ast.Assign) else None
    if assigned is not None and _is_literal(ast.unparse(assigned.value)):
        return ast.unparse(assigned.value)
    known = dict(re.findall(r"^    (\w+) = (.*)$", mine, re.MULTILINE))
    names = [node.id for node in ast.walk(assigned or ast.Module([], [])) if isinstance(node, ast.Name)]
    return next((known[name] for name in names if name in known), "0")


def _said_yes(mine: str) -> str:
    return "Yes"


def _codesense_loop(mine: str) -> str:
    code, question = _code(mine), _asked(mine, "Question")
    if question.startswith("How many") and (found := re.search(r"\brange\((\d+)\)", code)):
        return found[1]
    named = re.findall(r"\b(\w+)\s*=\s*([^=\n].*)", code)
    values = [value for name, value in named if re.search(rf"\b{name}\b", question) and _is_literal(value)]
    return values[-1] if values else "1"


def _commented_lines(mine: str) -> str:
    numbered = re.findall(r"^(.*)#\s*(\d+)\s*$", _code(mine), re.MULTILINE)
    return str(
        [int(number) for text, number in numbered if text.strip() and not text.lstrip().startswith("def ")]
    )


def _printed(mine: str) -> str:
    shown = FENCED.search(mine)
    texts = re.findall(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'", shown["text"] if shown else "")
    return next((first or second for first, second in texts), "")


def _reval_path(mine: str) -> str:
    line, numbers = int(_asked(mine, "Line") or 0), [n for n, _ in _lines(mine)]
    return str(next((number for number in numbers if number > line), -1))


def _reval_state(mine: str) -> str:
    asked = re.search(r"\nVariable: (\S+), after line (\d+)", mine)
    return _held(mine, asked[1], int(asked[2]) + 1, "Call") if asked else "0"


def nothing(prompt: str) -> str:
    """The model ``deskcheck/empty``: an answer that is read, and is empty."""
    return f"{OPEN}{CLOSE}"


_GUESSES = {
    "output": _output,
    "returned": _output,
    "made": _made,
    "stdout": _stdout,
    "input": _input,
    "next_line": _next_line,
    "state": _state,
    "history": _history,
    "path": _path,
    "exception": _exception,
    "branch": _yes,
    "iterations": _iterations,
    "after_loop": _after_loop,
    "visit": _next_line,
    "move": _move,
    "coverage": _yes,
    "calls": _calls,
    "changes": _nothing_changed,
    "alias": _alias,
    "type": _type,
    "program": _program,
    "cell_output": _cell_output,
    "next_cell": _next_cell,
    "crash": _crash,
    "test_output": _of_problem,
    "trace": _commented_lines,
    "printed": _printed,
    "codesense_output": _codesense_output,
    "codesense_input": _codesense_input,
    "codesense_statement": _after_statement,
    "codesense_block": _after_statement,
    "codesense_branch": _said_yes,
    "codesense_line": _said_yes,
    "codesense_loop": _codesense_loop,
    "reval_coverage": _yes,
    "reval_path": _reval_path,
    "reval_state": _reval_state,
}
