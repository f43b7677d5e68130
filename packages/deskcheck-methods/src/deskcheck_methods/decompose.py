"""Works on a program function by function.

`bottom_up` shows the model the recorded calls of each function in a failing test, callees first, and asks for
a repair (MGDebugger, arXiv:2410.01215, in which a model simulates the calls). `combinations` asks for several
versions of each function and takes the first combination that passes (Parsel, arXiv:2212.10561). `modules`
shows the most similar functions of several programs as parts of new ones (CodeChain, arXiv:2310.08992).
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from deskcheck.ask.answers.code import code_said
from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.scoring.programs import Tested
from deskcheck.ask.scoring.score import PROGRAM_FORMS
from deskcheck.fences import fenced, fenced_code
from deskcheck.settings import Setting
from deskcheck.sources.near import tokens_of
from deskcheck.sources.text.python import unparsed
from deskcheck_methods.bench import Bench, Completion, Options, scaffold
from deskcheck_methods.call_graph import (
    RecordedFunction,
    bottom_up,
    call_graph,
    functions_of,
    source_of,
    with_function,
)
from deskcheck_methods.traces import call_in


@dataclass(frozen=True, slots=True, kw_only=True)
class DecomposeOptions(Options):
    """The way to assemble a program from parts."""

    how: Annotated[
        Literal["bottom_up", "combinations", "modules"],
        Setting("Repair by the recorded calls, try versions of each function, or build on common parts."),
    ] = "bottom_up"
    rounds: Annotated[int, Setting("Maximum number of rounds.", min=1)] = 2
    samples: Annotated[
        int, Setting("combinations: versions of each function. modules: programs in a round.", min=1)
    ] = 3
    parts: Annotated[int, Setting("modules: maximum number of functions to show as parts.", min=1)] = 3
    start: Annotated[
        Literal["draft", "given"],
        Setting("Start from the model's own answer, or from the unchanged code of the task."),
    ] = "draft"
    split: Annotated[bool, Setting("First ask to split a program that has one function.")] = True


@scaffold(
    "a program, worked on function by function by recorded calls", DecomposeOptions, forms=PROGRAM_FORMS
)
async def decompose(bench: Bench, options: DecomposeOptions) -> None:
    """Answer with a program that is assembled from functions."""
    if options.how == "modules":
        await _modules(bench, options)
        return
    code = await _begun(bench, options)
    if code is None:
        bench.ended = "no program to start from"
        return
    tested = await bench.test(code, "draft")
    if tested is None:
        bench.ended = "no visible test can be run, so nothing shows what to repair"
    elif tested.right:
        bench.ended = "passes the visible tests at once"
    elif options.how == "bottom_up":
        await _bottom_up(bench, options, code, tested)
    else:
        await _combinations(bench, options, code, tested)


async def _begun(bench: Bench, options: DecomposeOptions) -> str | None:
    """The first program, divided into several functions if the model does so."""
    if options.start == "given" and bench.puzzle.code:
        code: str | None = bench.puzzle.code
        bench.offer_code(bench.puzzle.code)
    else:
        completion = await bench.ask(bench.puzzle.prompt, "draft")
        bench.offer(completion)
        code = bench.code_of(completion).code
    if code is None or not options.split or len(functions_of(code)) > 1:
        return code
    tested = await bench.test(code, "draft, before it is split")
    if tested is not None and tested.right:
        return code
    completion = await bench.ask(
        f"{bench.puzzle.prompt}\n\nA program for it, which may be wrong:\n{fenced_code(code)}\n\nWrite it in "
        "small functions at the top level, one for each thing that it does, each with a docstring that says "
        f"what it must do. Repair nothing. Give the whole program between {OPEN} and {CLOSE}.",
        "split",
    )
    split = bench.code_of(completion).code
    if split is None or len(functions_of(split)) < 2:
        return code
    bench.offer(completion)
    return split


# -- bottom up -------------------------------------------------------------------------------------


async def _bottom_up(bench: Bench, options: DecomposeOptions, code: str, tested: Tested) -> None:
    for _ in range(options.rounds):
        test = bench.puzzle.tests[tested.failed or 0]
        graph = await _graph(bench, code, test)
        before = code
        for name in bottom_up(graph):
            text = await _repaired(bench, code, graph[name], test, tested)
            tried = with_function(code, name, text)
            if unparsed(tried) == unparsed(code):
                continue
            retested = await bench.test(tried, f"with another {name}")
            assert retested is not None
            if retested.right:
                bench.offer_code(tried)
                bench.ended = "passes the visible tests"
                return
            if retested.passed >= tested.passed:  # a repair that another one waits for changes no test
                code, tested = tried, retested
                bench.offer_code(code)
        if code == before:
            break
    bench.ended = "no function changes any more, and the visible tests do not pass"


async def _graph(bench: Bench, code: str, test: str) -> dict[str, RecordedFunction]:
    entry = bench.puzzle.entry_point
    assert entry is not None
    recording = await bench.recorded(code, call_in(test, entry), test)
    graph = call_graph(recording)
    calls = "\n".join(call for function in graph.values() for call in function.calls)
    edges = "; ".join(
        f"{function.name}: {', '.join(function.callees) or 'calls none'}" for function in graph.values()
    )
    bench.note("recorded calls", edges, trace=calls or "(no function ran)")
    if not graph:  # it failed before a call: the functions in the order of the text, callees unknown
        return {name: RecordedFunction(name) for name in functions_of(code)}
    return graph


async def _repaired(bench: Bench, code: str, function: RecordedFunction, test: str, tested: Tested) -> str:
    calls = "\n".join(function.calls) or "(none)"
    completion = await bench.ask(
        f"{bench.puzzle.prompt}\n\nA program for it:\n{fenced_code(code)}\n\n"
        f"This test fails:\n{fenced_code(test)}\nWhat came of it: {tested.reason}\n\n"
        f"Look at the function {function.name} alone:\n"
        f"{fenced_code(source_of(code, function.name))}\n\nIts calls in that test ({function.count}), as "
        f"they were recorded:\n{fenced(calls)}\n\nIf a call did not give what the function must give, repair "
        f"the function. Give all of {function.name}, as it is if it is right, between {OPEN} and {CLOSE}.",
        f"function {function.name}",
    )
    return _function_in(completion, function.name)


def _function_in(completion: Completion, name: str) -> str:
    return code_said(completion.text, name, complete=completion.whole).code or ""


# -- combinations ----------------------------------------------------------------------------------


async def _combinations(bench: Bench, options: DecomposeOptions, code: str, tested: Tested) -> None:
    versions: dict[str, list[str]] = {}
    for name in functions_of(code):
        known_texts = {unparsed(source_of(code, name))}
        versions[name] = [source_of(code, name)]
        for number in range(1, options.samples + 1):
            completion = await bench.ask(
                f"{bench.puzzle.prompt}\n\nA program for it, which may be wrong:\n{fenced_code(code)}\n\n"
                f"Write the function {name} anew, by its name, its parameters and what it must do; the other "
                f"functions stay. Give all of {name} between {OPEN} and {CLOSE}.",
                f"function {name}, version {number}",
            )
            text = _function_in(completion, name)
            if text and unparsed(text) not in known_texts:
                known_texts.add(unparsed(text))
                versions[name].append(text)
    best = tested.passed
    for number, chosen in enumerate(_nearest_first(list(versions.values()))):
        tried = code
        for name, text in zip(versions, chosen, strict=True):
            tried = with_function(tried, name, text)
        if number == 0:
            continue  # as it was
        tested_combination = await bench.test(tried, f"combination {number}")
        assert tested_combination is not None
        if tested_combination.passed > best or tested_combination.right:
            best = tested_combination.passed
            bench.offer_code(tried)
        if tested_combination.right:
            bench.ended = f"combination {number} passes the visible tests"
            return
    bench.ended = "no combination passes the visible tests"


def _nearest_first(versions: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """All combinations, those with the fewest changed functions first."""
    numbers = itertools.product(*(range(len(texts)) for texts in versions))
    for combination in sorted(itertools.islice(numbers, _MOST), key=lambda picks: sum(map(bool, picks))):
        yield tuple(texts[number] for texts, number in zip(versions, combination, strict=True))


_MOST = 10_000
"""Limit for the combinations that are sorted."""


# -- modules ---------------------------------------------------------------------------------------


async def _modules(bench: Bench, options: DecomposeOptions) -> None:
    prompt = (
        f"{bench.puzzle.prompt}\n\nWrite the program in small functions at the top level, one for each thing "
        "that it does, each with a docstring."
    )
    for number in range(1, options.rounds + 1):
        codes = []
        best = -1
        for sample in range(1, options.samples + 1):
            completion = await bench.ask(prompt, f"round {number}, program {sample}")
            if bench.answer is None:
                bench.offer(completion)
            code = bench.code_of(completion).code
            if code is None:
                continue
            codes.append(code)
            tested = await bench.test(code, f"round {number}, program {sample}")
            passed = 0 if tested is None else tested.passed
            if passed > best:
                best = passed
                bench.offer(completion)
            if tested is not None and tested.right:
                bench.ended = f"a program of round {number} passes the visible tests"
                return
        parts = common_parts(codes, bench.puzzle.entry_point, options.parts)
        if not parts:
            break
        bench.note("common parts", f"{len(parts)} functions to build on", code="\n\n\n".join(parts))
        fences = "\n\n".join(map(fenced_code, parts))
        prompt = (
            f"{bench.puzzle.prompt}\n\nFunctions that several programs for it have. Use them, changed where "
            f"they are wrong, or write better ones:\n{fences}\n\nWrite the program in small functions at the "
            "top level."
        )
    bench.ended = "no program passes the visible tests"


def common_parts(codes: Sequence[str], entry: str | None, count: int) -> list[str]:
    """A function from each of the largest groups of similar functions, without entry points.

    It is the function that is most similar to the others of its group.
    """
    texts = [source_of(code, name) for code in codes for name in functions_of(code) if name != entry]
    words = [frozenset(tokens_of(text)) for text in texts]
    groups: list[list[int]] = []
    for number in range(len(texts)):
        group = next((g for g in groups if _alike(words[number], words[g[0]]) >= _SAME), None)
        if group is None:
            groups.append([number])
        else:
            group.append(number)
    groups.sort(key=len, reverse=True)
    return [
        texts[max(group, key=lambda number: sum(_alike(words[number], words[member]) for member in group))]
        for group in groups[:count]
    ]


_SAME = 0.6
"""Share of common words that puts a function in the group of another."""


def _alike(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / max(1, len(first | second))
