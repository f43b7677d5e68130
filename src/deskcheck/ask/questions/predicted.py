"""Published sets of execution prediction whose rows hold the answers: rows become samples, nothing is run.

Of LiveCodeBench's code execution and of CRUXEval-X a row is a program, a call and its result, as of CRUXEval.
Others ask what their rows say, about code that may not be there whole.

The forms, and the rules by which answers are scored, are those of the code in each set's own repository
(docs/reference/published-sets.md). The words of the prompts are ours.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from deskcheck.ask.answers.allowed import Refused
from deskcheck.ask.kinds.results import input_sample, output_sample
from deskcheck.ask.samples.prompts import TASKS, own_parts
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.source import ShownSource
from deskcheck.fences import fenced
from deskcheck.files import read_json
from deskcheck.recording import InputError
from deskcheck.sources.sets.predicted import EXACT_CATEGORIES, published_lines, surge_category
from deskcheck.sources.text.rows import Row, check_fields, check_type, read_rows


@dataclass(frozen=True, slots=True)
class RowBenchmark:
    """A published set as questions, each made of a row. about: what is asked. home: where the set is from.
    required: field of a row -> its type. sample: from a row, its number from 1 and its place for messages to
    the question."""

    name: str
    about: str
    home: str
    required: Mapping[str, type]
    sample: Callable[[Row, int, str], Sample]

    def read(self, path: str | None, note: Callable[[str], None]) -> Iterator[Sample]:
        """The samples in the order of the file. Nothing is left out, so `note` is told nothing.

        Raises:
            InputError: no file is named, there is none, or a row of it is none of the set.
        """
        if path is None:
            raise InputError(
                f"{self.name}: is not fetched: write {self.name}:PATH with your copy, from {self.home}."
            )
        holds = f"A row has {', '.join(self.required)}."
        for number, (place, row) in enumerate(read_rows(Path(path).expanduser(), path, holds), 1):
            check_fields(row, self.required, place, holds)
            yield self.sample(row, number, place)


@dataclass(frozen=True, slots=True)
class CallBenchmark:
    """A published set of calls as questions: what one returns, or which arguments give that. Scored by
    ``==``. corpus: its name among the sources of programs."""

    name: str
    about: str
    corpus: str
    sample: Callable[..., Sample]

    def read(self, path: str | None, note: Callable[[str], None]) -> Iterator[Sample]:
        """The samples in the order of the file.

        Raises:
            InputError: no file is named, there is none, a row of it is none of the set, or its input cannot
                be an answer.
        """
        from deskcheck.sources import programs

        for program in programs(self.corpus if path is None else f"{self.corpus}:{path}", note=note):
            try:
                yield self.sample(program, _shown(program.code), program.expected, strict=False)
            except Refused as reason:
                raise InputError(
                    f"{self.name}: {program.id}: its own input is no allowed answer: {reason}"
                ) from None


def _shown(code: str) -> tuple[ShownSource, ...]:
    return (ShownSource("program.py", tuple(enumerate(code.split("\n"), 1)), True),)


def _cluster(code: str) -> str:
    return sha256(code.encode()).hexdigest()[:16]


# -- LiveCodeBench, test output prediction ----------------------------------------------------------------


def _test_output(row: Row, number: int, place: str) -> Sample:
    tests = _json(row["test"], f"{place}: 'test'")
    if not isinstance(tests, list) or not tests or not isinstance(tests[0], dict):
        raise InputError(f"{place}: 'test' is not the JSON text of a list of tests.")
    check_fields(tests[0], {"input": str, "output": str}, f"{place}: 'test'", "A test has input and output.")
    expected = _json(tests[0]["output"], f"{place}: 'test': 'output'")
    call = f"{row['function_name']}({', '.join(tests[0]['input'].split(chr(10)))})"
    head = _shown(row["starter_code"])
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
        cluster=_cluster(row["question_content"]),
        parts=parts,
        answer=repr(expected),
        data={"form": "value", "strict": False},
    )


def _json(text: str, place: str) -> object:
    return read_json(text, place)


# -- CodeSense --------------------------------------------------------------------------------------------


def _codesense(kind: str, name: str, row: Row, code: str, asked: str, answer: str, task: str) -> Sample:
    """name: what tells the files of the set apart, whose rows are numbered from 0 each."""
    return Sample(
        id=f"codesense_{name}_{row['idx']}:{kind}",
        question=kind,
        program=f"codesense_{name}_{row['idx']}",
        cluster=_cluster(code),
        parts=own_parts(TASKS[f"codesense_{task}"], _shown(code), asked, numbered=False),
        answer=answer.strip(),
        data={"form": "text"},
    )


def _codesense_output(row: Row, number: int, place: str) -> Sample:
    asked = f"Arguments: {row['input']}"
    return _codesense("output", "io", row, row["code"], asked, row["output"], "output")


def _codesense_input(row: Row, number: int, place: str) -> Sample:
    asked = f"Returned: {row['output']}"
    return _codesense("input", "io", row, row["code"], asked, row["input"], "input")


def _codesense_statement(row: Row, number: int, place: str) -> Sample:
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


def _codesense_block(row: Row, number: int, place: str) -> Sample:
    given = row.get("Function Input", {})
    shown = _variables(given) if isinstance(given, dict) else f"    {given}"
    return _codesense(
        "state",
        "block",
        row,
        row["Source Code"],
        f"Statement: {row['Selected Statement']}\nInput:\n{shown}",
        row["Value After Statement Execution"],
        "block",
    )


def _variables(values: Mapping[str, object]) -> str:
    return "\n".join(f"    {name} = {value}" for name, value in values.items()) or "    none"


def _codesense_line(row: Row, number: int, place: str) -> Sample:
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


def _codesense_loop(row: Row, number: int, place: str) -> Sample:
    asked = row["question"]
    kind, name = next(((kind, name) for kind, name, form in _LOOPS if form.match(asked)), ("", ""))
    if not kind:
        raise InputError(f"{place}: 'question' is none about a loop: {asked:.80}")
    return _codesense(
        kind, f"loop_{name}", row, row["loop_code"], f"Question: {asked}", row["answer"], "loop"
    )


# -- CoCoNUT ----------------------------------------------------------------------------------------------


def _coconut(row: Row, number: int, place: str) -> Sample:
    lines = published_lines(row, place)
    if not lines:
        raise InputError(f"{place}: 'ExecutedLines' is empty.")
    once = [line for k, line in enumerate(lines) if k == 0 or lines[k - 1] != line]
    code, call = row["Code_Indices"], f"{row['Name']}({_inside(row['FunctionCall'])})"
    return Sample(
        id=f"coconut_{number}:path",
        question="path",
        program=f"coconut_{number}",
        cluster=_cluster(code),
        parts=own_parts(TASKS["trace"], _shown(code), f"Call: {call}", numbered=False),
        answer=str(once),
        data={"form": "path", "file": "program.py", "first": {}, "silent": []},
    )


def _inside(arguments: str) -> str:
    """What stands between the parentheses of a call: some rows have the text of a tuple."""
    text = arguments.strip()
    try:
        whole = text.startswith("(") and isinstance(ast.parse(f"f{text}", mode="eval").body, ast.Call)
    except (SyntaxError, ValueError):
        whole = False
    return text[1:-1].rstrip().removesuffix(",") if whole else text


# -- SURGE ------------------------------------------------------------------------------------------------


def _surge(row: Row, number: int, place: str) -> Sample:
    category = surge_category(row, place)
    if category not in EXACT_CATEGORIES:
        raise InputError(
            f"{place}: 'custom_category' is {category}: of SURGE only categories 1 and 2 are read, whose "
            "answers the set compares for equality."
        )
    language = row["custom_features"].get("language")
    check_type(language, str, "custom_features.language", place)
    tag = "python" if language == "Python" else ""
    name = f"surge_{_cluster(row['question'])[:8]}_{number}"  # rows have no name, and each file begins anew
    return Sample(
        id=f"{name}:output",
        question="output",
        program=name,
        cluster=_cluster(row["question"]),
        parts={
            "task": TASKS["printed"],
            "program": f"Program ({language}):\n{fenced(row['question'], tag)}",
        },
        answer=row["gt"],
        data={"form": "stdout"},
    )


_CODESENSE = "https://github.com/codesense-bench/codesense-codes"
_IO = {"idx": int, "code": str, "input": str, "output": str}
_STATEMENT = {
    "idx": int,
    "Source Code": str,
    "Selected Statement": str,
    "Value After Statement Execution": str,
}

_BENCHMARKS: list[RowBenchmark | CallBenchmark] = [
    CallBenchmark(
        "livecodebench_execution",
        "LiveCodeBench: what the function returns",
        "livecodebench",
        output_sample,
    ),
    CallBenchmark("cruxeval_x_output", "CRUXEval-X: what the function returns", "cruxeval_x", output_sample),
    CallBenchmark(
        "cruxeval_x_input", "CRUXEval-X: an input that gives the output", "cruxeval_x", input_sample
    ),
    RowBenchmark(
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
    RowBenchmark(
        "codesense_output", "CodeSense: what the function returns", _CODESENSE, _IO, _codesense_output
    ),
    RowBenchmark(
        "codesense_input", "CodeSense: the arguments of the call", _CODESENSE, _IO, _codesense_input
    ),
    RowBenchmark(
        "codesense_statement",
        "CodeSense: the value after a statement, or whether a branch is taken",
        _CODESENSE,
        {**_STATEMENT, "Statement Type": str, "Variable Values Before Statement": dict},
        _codesense_statement,
    ),
    RowBenchmark(
        "codesense_block",
        "CodeSense: the value after a statement, from the input of the code around it",
        _CODESENSE,
        _STATEMENT,
        _codesense_block,
    ),
    RowBenchmark(
        "codesense_line",
        "CodeSense: whether a line runs",
        _CODESENSE,
        {"idx": int, "Source Code": str, "question": str, "answer": str},
        _codesense_line,
    ),
    RowBenchmark(
        "codesense_loop",
        "CodeSense: how often a loop turns, and values in and after it",
        _CODESENSE,
        {"idx": int, "loop_code": str, "question": str, "answer": str},
        _codesense_loop,
    ),
    RowBenchmark(
        "coconut_path",
        "CoCoNUT: the lines of HumanEval's functions that run",
        "https://github.com/ClaasBeger/StructuralCodeUnderstanding",
        {"Name": str, "FunctionCall": str, "ExecutedLines": str, "Code_Indices": str},
        _coconut,
    ),
    RowBenchmark(
        "surge_output",
        "SURGE: what a program prints (categories 1 and 2)",
        "https://github.com/Imbernoulli/SURGE",
        {"custom_features": dict, "question": str, "gt": str},
        _surge,
    ),
]
PREDICTED_BENCHMARKS: dict[str, RowBenchmark | CallBenchmark] = {
    benchmark.name: benchmark for benchmark in _BENCHMARKS
}
"""Name of a benchmark -> the benchmark."""
