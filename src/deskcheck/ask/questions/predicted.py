"""Published sets of execution prediction whose rows hold the answers: rows become samples, nothing is run.

A row of LiveCodeBench's code execution or of CRUXEval-X is a program, a call and its result, like one of
CRUXEval. The rows of other sets contain the question, and their code may be incomplete.

The forms, and the rules by which answers are scored, are those of the code in each set's own repository
(docs/reference/published-sets.md). The words of the prompts are ours.
"""

import ast
import re
from collections.abc import Mapping

from deskcheck.ask.kinds.results import guessed_output, input_sample, output_sample
from deskcheck.ask.questions.reader import cluster_of_text, of_calls, of_rows, shown
from deskcheck.ask.samples.guessing import (
    call_in,
    code_in,
    first_argument,
    guesses,
    is_literal,
    labelled,
    last_return,
    literal_of,
    tree_of,
)
from deskcheck.ask.samples.prompts import TASKS, own_parts
from deskcheck.ask.samples.sample import Sample
from deskcheck.fences import FENCED, fenced
from deskcheck.files import read_json
from deskcheck.recording import InputError
from deskcheck.sources.sets.predicted import EXACT_CATEGORIES, published_lines, surge_category
from deskcheck.sources.text.rows import Row, check_fields, check_type

# -- LiveCodeBench, test output prediction ----------------------------------------------------------------


def _test_output(row: Row, number: int, where: str) -> Sample:
    tests = read_json(row["test"], f"{where}: 'test'")
    if not isinstance(tests, list) or not tests or not isinstance(tests[0], dict):
        raise InputError(f"{where}: 'test' is not the JSON text of a list of tests.")
    check_fields(tests[0], {"input": str, "output": str}, f"{where}: 'test'", "A test has input and output.")
    expected = read_json(tests[0]["output"], f"{where}: 'test': 'output'")
    call = f"{row['function_name']}({', '.join(tests[0]['input'].split(chr(10)))})"
    head = shown(row["starter_code"].split("\n"))
    parts = own_parts(TASKS["test_output"], head, f"Call: {call}", numbered=False)
    problem = f"Problem:\n{row['question_content'].strip()}"
    parts = {
        "task": parts["task"],
        "problem": problem,
        "program": parts["program"],
        "question": parts["question"],
    }
    return Sample(
        id=f"livecodebench_{row['question_id']}_{row['test_id']}:output",
        question="output",
        program=f"livecodebench_{row['question_id']}",
        cluster=cluster_of_text(row["question_content"]),
        parts=parts,
        answer=repr(expected),
        data={"form": "value", "strict": False},
    )


@guesses("test_output")
def _of_problem(prompt: str) -> str:
    """The output of the first example of the problem; else as for `output`."""
    outputs = re.findall(r"^\W*Output\W*:\s*(.+)$", prompt, re.MULTILINE | re.IGNORECASE)
    return next(filter(is_literal, outputs), None) or guessed_output(prompt)


# -- CodeSense --------------------------------------------------------------------------------------------


def _codesense(kind: str, name: str, row: Row, code: str, question: str, answer: str, task: str) -> Sample:
    """name: differs between the files of the set, whose rows are all numbered from 0."""
    return Sample(
        id=f"codesense_{name}_{row['idx']}:{kind}",
        question=kind,
        program=f"codesense_{name}_{row['idx']}",
        cluster=cluster_of_text(code),
        parts=own_parts(TASKS[f"codesense_{task}"], shown(code.split("\n")), question, numbered=False),
        answer=answer.strip(),
        data={"form": "text"},
    )


def _codesense_output(row: Row, number: int, where: str) -> Sample:
    question = f"Arguments: {row['input']}"
    return _codesense("output", "io", row, row["code"], question, row["output"], "output")


def _codesense_input(row: Row, number: int, where: str) -> Sample:
    question = f"Returned: {row['output']}"
    return _codesense("input", "io", row, row["code"], question, row["input"], "input")


def _codesense_statement(row: Row, number: int, where: str) -> Sample:
    branch = row["Statement Type"] == "Branch"
    before = _variables(row["Variable Values Before Statement"])
    return _codesense(
        "branch" if branch else "state",
        "statement",
        row,
        row["Source Code"],
        f"Statement: {row['Selected Statement']}\nBefore it runs:\n{before}",
        row["Value After Statement Execution"],
        "branch" if branch else "statement",
    )


def _codesense_block(row: Row, number: int, where: str) -> Sample:
    inputs = row.get("Function Input", {})
    variables = _variables(inputs) if isinstance(inputs, dict) else f"    {inputs}"
    return _codesense(
        "state",
        "block",
        row,
        row["Source Code"],
        f"Statement: {row['Selected Statement']}\nInput:\n{variables}",
        row["Value After Statement Execution"],
        "block",
    )


def _variables(values: Mapping[str, object]) -> str:
    return "\n".join(f"    {name} = {value}" for name, value in values.items()) or "    none"


def _codesense_line(row: Row, number: int, where: str) -> Sample:
    return _codesense(
        "coverage", "line", row, row["Source Code"], f"Question: {row['question']}", row["answer"], "line"
    )


_LOOPS = (
    ("iterations", "iteration", re.compile(r"How many times will the loop ")),
    ("state", "body", re.compile(r"What is the value of .* th iteration when ", re.DOTALL)),
    ("after_loop", "final", re.compile(r"What is the final value ")),
    ("after_loop", "after", re.compile(r"What is the value of .* after executing ", re.DOTALL)),
)
"""Kind of question, the set's own name of it, and how such a question begins."""


def _codesense_loop(row: Row, number: int, where: str) -> Sample:
    question = row["question"]
    kind, name = next(((kind, name) for kind, name, form in _LOOPS if form.match(question)), ("", ""))
    if not kind:
        raise InputError(f"{where}: 'question' is not about a loop: {question:.80}")
    return _codesense(
        kind, f"loop_{name}", row, row["loop_code"], f"Question: {question}", row["answer"], "loop"
    )


@guesses("codesense_branch", "codesense_line")
def _said_yes(prompt: str) -> str:
    return "Yes"


@guesses("codesense_output")
def _guessed_codesense_output(prompt: str) -> str:
    tree = tree_of(code_in(prompt))
    name = next((node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), "")
    returned = literal_of(last_return(tree, name))
    return returned or first_argument(call_in(f"f({labelled(prompt, 'Arguments')})"))


@guesses("codesense_input")
def _guessed_codesense_input(prompt: str) -> str:
    return labelled(prompt, "Returned")


@guesses("codesense_statement", "codesense_block")
def _after_statement(prompt: str) -> str:
    """The literal that the statement assigns, or the value of a variable in it."""
    statements = tree_of(labelled(prompt, "Statement")).body
    assigned = statements[0] if statements and isinstance(statements[0], ast.Assign) else None
    if assigned is not None and is_literal(ast.unparse(assigned.value)):
        return ast.unparse(assigned.value)
    values = dict(re.findall(r"^    (\w+) = (.*)$", prompt, re.MULTILINE))
    names = [node.id for node in ast.walk(assigned or ast.Module([], [])) if isinstance(node, ast.Name)]
    return next((values[name] for name in names if name in values), "0")


@guesses("codesense_loop")
def _guessed_codesense_loop(prompt: str) -> str:
    code, question = code_in(prompt), labelled(prompt, "Question")
    if question.startswith("How many") and (match := re.search(r"\brange\((\d+)\)", code)):
        return match[1]
    named = re.findall(r"\b(\w+)\s*=\s*([^=\n].*)", code)
    values = [value for name, value in named if re.search(rf"\b{name}\b", question) and is_literal(value)]
    return values[-1] if values else "1"


# -- CoCoNUT ----------------------------------------------------------------------------------------------


def _coconut(row: Row, number: int, where: str) -> Sample:
    lines = published_lines(row, where)
    if not lines:
        raise InputError(f"{where}: 'ExecutedLines' is empty.")
    once = [line for k, line in enumerate(lines) if k == 0 or lines[k - 1] != line]
    code, call = row["Code_Indices"], f"{row['Name']}({_inside(row['FunctionCall'])})"
    return Sample(
        id=f"coconut_{number}:path",
        question="path",
        program=f"coconut_{number}",
        cluster=cluster_of_text(code),
        parts=own_parts(TASKS["trace"], shown(code.split("\n")), f"Call: {call}", numbered=False),
        answer=str(once),
        data={"form": "path", "file": "program.py", "first": {}, "silent": []},
    )


def _inside(arguments: str) -> str:
    """The text between the parentheses of a call. Some rows have the text of a tuple instead."""
    text = arguments.strip()
    try:
        is_wrapped = text.startswith("(") and isinstance(ast.parse(f"f{text}", mode="eval").body, ast.Call)
    except (SyntaxError, ValueError):
        is_wrapped = False
    return text[1:-1].rstrip().removesuffix(",") if is_wrapped else text


@guesses("trace")
def _guessed_trace(prompt: str) -> str:
    numbered = re.findall(r"^(.*)#\s*(\d+)\s*$", code_in(prompt), re.MULTILINE)
    return str(
        [int(number) for text, number in numbered if text.strip() and not text.lstrip().startswith("def ")]
    )


# -- SURGE ------------------------------------------------------------------------------------------------


def _surge(row: Row, number: int, where: str) -> Sample:
    category = surge_category(row, where)
    if category not in EXACT_CATEGORIES:
        raise InputError(
            f"{where}: 'custom_category' is {category}: of SURGE only categories 1 and 2 are read, whose "
            "answers the set compares for equality."
        )
    language = row["custom_features"].get("language")
    check_type(language, str, "custom_features.language", where)
    tag = "python" if language == "Python" else ""
    # Rows have no name, and the numbers of each file begin anew.
    name = f"surge_{cluster_of_text(row['question'])[:8]}_{number}"
    return Sample(
        id=f"{name}:output",
        question="output",
        program=name,
        cluster=cluster_of_text(row["question"]),
        parts={
            "task": TASKS["printed"],
            "program": f"Program ({language}):\n{fenced(row['question'], tag)}",
        },
        answer=row["gt"],
        data={"form": "stdout"},
    )


@guesses("printed")
def _guessed_printed(prompt: str) -> str:
    """The first text of the program."""
    program = FENCED.search(prompt)
    texts = re.findall(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'", program["text"] if program else "")
    return next((first or second for first, second in texts), "")


_CODESENSE = "https://github.com/codesense-bench/codesense-codes"
_IO = {"idx": int, "code": str, "input": str, "output": str}
_STATEMENT = {
    "idx": int,
    "Source Code": str,
    "Selected Statement": str,
    "Value After Statement Execution": str,
}

PREDICTED_BENCHMARKS = [
    of_calls(
        "livecodebench_execution",
        "LiveCodeBench: what the function returns",
        "livecodebench",
        output_sample,
    ),
    of_calls("cruxeval_x_output", "CRUXEval-X: what the function returns", "cruxeval_x", output_sample),
    of_calls("cruxeval_x_input", "CRUXEval-X: an input that gives the output", "cruxeval_x", input_sample),
    of_rows(
        "livecodebench_test_output",
        "LiveCodeBench: what a right solution returns, from the problem's text",
        "https://huggingface.co/datasets/livecodebench/test_generation",
        {
            "question_content": str,
            "question_id": str,
            "test_id": int,
            "starter_code": str,
            "function_name": str,
            "test": str,
        },
        _test_output,
    ),
    of_rows("codesense_output", "CodeSense: what the function returns", _CODESENSE, _IO, _codesense_output),
    of_rows("codesense_input", "CodeSense: the arguments of the call", _CODESENSE, _IO, _codesense_input),
    of_rows(
        "codesense_statement",
        "CodeSense: the value after a statement, or whether a branch is taken",
        _CODESENSE,
        {**_STATEMENT, "Statement Type": str, "Variable Values Before Statement": dict},
        _codesense_statement,
    ),
    of_rows(
        "codesense_block",
        "CodeSense: the value after a statement, from the input of the code around it",
        _CODESENSE,
        _STATEMENT,
        _codesense_block,
    ),
    of_rows(
        "codesense_line",
        "CodeSense: whether a line runs",
        _CODESENSE,
        {"idx": int, "Source Code": str, "question": str, "answer": str},
        _codesense_line,
    ),
    of_rows(
        "codesense_loop",
        "CodeSense: how often a loop turns, and values in and after it",
        _CODESENSE,
        {"idx": int, "loop_code": str, "question": str, "answer": str},
        _codesense_loop,
    ),
    of_rows(
        "coconut_path",
        "CoCoNUT: the lines of HumanEval's functions that run",
        "https://github.com/ClaasBeger/StructuralCodeUnderstanding",
        {"Name": str, "FunctionCall": str, "ExecutedLines": str, "Code_Indices": str},
        _coconut,
    ),
    of_rows(
        "surge_output",
        "SURGE: what a program prints (categories 1 and 2)",
        "https://github.com/Imbernoulli/SURGE",
        {"custom_features": dict, "question": str, "gt": str},
        _surge,
    ),
]
