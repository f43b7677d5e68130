"""The result of a call or the output of a program, and the arguments that lead to it."""

import ast
import json
import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

from deskcheck.ask.answers.allowed import Refused, arguments_in, names_of
from deskcheck.ask.answers.values import read_value
from deskcheck.ask.kinds.returned import Returned, made, returned
from deskcheck.ask.samples.guessing import (
    call_in,
    called_name,
    code_in,
    first_argument,
    function_named,
    guesses,
    labelled,
    last_return,
    literal_of,
    tree_of,
)
from deskcheck.ask.samples.kind import ANSWER_CHARS, kind
from deskcheck.ask.samples.places import (
    Unfit,
    call_source,
    check_all_recorded,
    check_arguments,
    files_of,
    plain,
)
from deskcheck.ask.samples.prompts import how_run, parts_of
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.source import (
    ShownSource,
    asserted_call,
    cluster_of,
    returns_values,
)
from deskcheck.notation.calls import begun_by
from deskcheck.recording import Kind, Mode, Program, Recording, render


def _sample(
    program: Program, question: str, parts: dict[str, str], answer: str, data: dict[str, Any]
) -> Sample:
    return Sample(
        id=f"{program.id}:{question}",
        question=question,
        program=program.id,
        cluster=cluster_of(program),
        parts=parts,
        answer=answer,
        data=data,
    )


def output_sample(
    program: Program,
    files: Sequence[ShownSource],
    result: str,
    *,
    strict: bool = True,
    source: str | None = None,
) -> Sample:
    """A question for the result of a call. `result` is the repr of what it returned. source: as in
    `how_run`."""
    parts = parts_of("output", files, f"Call: {how_run(program, source)}")
    return _sample(program, "output", parts, result, {"form": "value", "strict": strict})


def input_sample(
    program: Program, files: Sequence[ShownSource], result: str, *, strict: bool = True
) -> Sample:
    """A question for arguments that give a result. The reference answer is the call that was made.

    Raises Refused (a ValueError) if the call itself would not pass the gate that answers must pass.
    """
    assert program.entry is not None
    reference = f"{program.entry}{program.arguments}"
    sources = [program.code, *("\n".join(line for _, line in file.lines) for file in files)]
    arguments_in(reference, program.entry, names_of(*sources))
    parts = parts_of("input", files, f"Function: {program.entry}\nReturned: {result}")
    return _sample(
        program,
        "input",
        parts,
        reference,
        {
            "form": "arguments",
            "strict": strict,
            "program": program.to_dict(),
            "entry": program.entry,
            "sources": sources[1:],
            "expected": result,
        },
    )


def _strict(program: Program) -> bool:
    """Whether `repr` decides if a result is right. Calls of a published set are scored as the set scores."""
    from deskcheck.sources.sets.published import scored_by_equality

    return not scored_by_equality(program)


@kind("output", "what does the call return, or the program print?")
def output(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    program = recording.program
    check_arguments(program, "literal", *(["shown"] if program.mode is Mode.CALL else []))
    source = call_source(recording)
    if begun_by(program, source).endswith("generator"):
        yield output_sample(program, files_of(recording), _drawn(recording), source=source)
    elif program.mode is Mode.CALL and _makes_an_object(program):
        yield _object_sample(program, files_of(recording), made(recording), "made")
    elif program.mode is Mode.CALL and _is_data(recording):
        files, result = files_of(recording), _result(recording)
        yield output_sample(program, files, result, strict=_strict(program), source=source)
    elif program.mode is Mode.CALL:
        yield _object_sample(program, files_of(recording), returned(recording), "returned")
    elif program.mode is Mode.MODULE and program.extra.get("assert") is not None:
        parts = parts_of("output", files_of(recording), f"Call: {asserted_call(program)}")
        result = _asserted_result(recording)
        yield _sample(program, "output", parts, result, {"form": "value", "strict": True})
    else:
        printed = recording.run_result.stdout
        if not printed.strip():
            raise Unfit("prints nothing")
        answer = _short(printed)
        parts = parts_of("stdout", files_of(recording), f"How it is run: {how_run(program)}")
        yield _sample(program, "output", parts, answer, {"form": "stdout"})


@guesses("output", "returned")
def guessed_output(prompt: str) -> str:
    """The last ``return`` of the function, if that is a literal; True for one whose value is a truth value;
    else the first argument of the call."""
    call = call_in(labelled(prompt, "Call"))
    return literal_of(last_return(tree_of(code_in(prompt)), called_name(call))) or first_argument(call)


@guesses("made")
def _guessed_made(prompt: str) -> str:
    """An object without attributes."""
    name = re.search(r"\(([\w.<>]+#1)\b", labelled(prompt, "Call"))
    return f"{name[1]}()" if name else "None"


@guesses("stdout")
def _guessed_stdout(prompt: str) -> str:
    """The first string that the program prints as a literal."""
    for node in ast.walk(tree_of(code_in(prompt))):
        if not isinstance(node, ast.Call) or called_name(node) != "print":
            continue
        if node.args and isinstance(node.args[0], ast.Constant):
            return str(node.args[0].value)
    return ""


def _makes_an_object(program: Program) -> bool:
    return "numbers" in program.extra and (program.entry or "").rpartition(".")[2] == "__init__"


def _object_sample(program: Program, files: Sequence[ShownSource], result: Returned, form: str) -> Sample:
    parts = parts_of(form, files, f"Call: {how_run(program)}")
    if not all(text in parts["question"] or text in parts["program"] for text in result.required_texts):
        raise Unfit("it contains a docstring or module name that is not shown")
    data = {"form": "object", "numbers": [*result.numbers]}
    return _sample(program, "output", parts, result.text, data)


def _is_data(recording: Recording) -> bool:
    """Whether the result is plain data, or there is none to speak of."""
    return recording.run_result.result_builtin or recording.run_result.result is None


def _result(recording: Recording) -> str:
    if recording.run_result.result == "None" and not returns_values(recording):
        raise Unfit("returns nothing but None")
    if not recording.run_result.result_builtin or recording.run_result.result is None:
        raise Unfit("the result is not plain data")
    return _short(recording.run_result.result)


def _short(answer: str) -> str:
    if len(answer) > ANSWER_CHARS:
        raise Unfit("the answer is too long")
    return answer


def _drawn(recording: Recording) -> str:
    """The list of values that the called generator yielded."""
    result = recording.run_result.result
    if result is None or not read_value(result, max_chars=ANSWER_CHARS)[0]:
        raise Unfit("its generator yields too many values, or some that are not plain data")
    frame = recording.trace.rows[0].frame
    begun = begun_by(recording.program, call_source(recording))
    for row in recording.trace.rows:
        if row.kind == Kind.YIELD and row.frame == frame:
            value = recording.trace[row.index].value
            if value is not None and not plain(value) and begun == "generator":
                raise Unfit("its generator yields too many values, or some that are not plain data")
    return result


def _asserted_result(recording: Recording) -> str:
    """The result of the last call of the function under test by the module itself."""
    check_all_recorded(recording)
    entry = recording.program.extra["entry"]
    entry_frames: set[int] = set()
    returned: int | None = None
    for row in recording.trace.rows:
        if row.function == entry and row.file == recording.program.filename:
            if row.kind == Kind.CALL and row.caller:
                caller = json.loads(row.caller)
                if caller["frame"] == 0 and "via" not in caller:
                    entry_frames.add(row.frame)
            elif row.kind == Kind.RETURN and row.frame in entry_frames:
                returned = row.index
    if returned is None:
        raise Unfit("the module does not call the function under test")
    value = recording.trace[returned].value
    if value is None or not plain(value):
        raise Unfit("the result is not plain data")
    return _short(render(value))


@kind("input", "which arguments make the function return this value? answers are run")
def input_(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    if recording.program.mode is not Mode.CALL:
        raise Unfit("it is not a call")
    if begun_by(recording.program, call_source(recording)):
        raise Unfit("the call only begins a generator or coroutine")
    check_arguments(recording.program, "literal")
    if "own" in recording.program.extra and not recording.program.extra.get("alone"):
        raise Unfit("the call was not repeated without its test")
    if "python" in recording.program.extra:
        raise Unfit("it needs another interpreter")
    try:
        program = recording.program
        files = files_of(recording, all_methods=True)
        yield input_sample(program, files, _result(recording), strict=_strict(program))
    except Refused:
        raise Unfit("the arguments cannot be written in the form of an answer") from None


@guesses("input")
def _guessed_input(prompt: str) -> str:
    """The wanted value itself, once for every parameter without a default."""
    name, value = labelled(prompt, "Function"), prompt.rpartition("\nReturned: ")[2]
    function = function_named(tree_of(code_in(prompt)), name.rpartition(".")[2])
    count = 1
    if function is not None:
        count = len(function.args.args) + len(function.args.posonlyargs) - len(function.args.defaults)
    return f"{name}({', '.join([value] * max(count, 0))})"
