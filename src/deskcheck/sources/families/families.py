"""Families of long executions: ``family:collatz``. A family is one task, several texts that solve it, and
inputs of any length of run.

Collatz, the binary counter and Fibonacci are those of Execution Tuning (arXiv 2503.05703), whose own texts
were not published. The texts of a family give the same results and differ in all else, so that a model can
be trained on some and asked about another. `variants` writes a text otherwise, as often as is wanted.

Only programs of this file are run here, in this process, to find inputs for a run of a wanted length.
"""

import math
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

from deskcheck.recording import InputError, Mode, Program
from deskcheck.sources.families.texts import TEXTS
from deskcheck.sources.families.variants import variant
from deskcheck.sources.sets.files import short_id
from deskcheck.sources.text.options import whole_number, whole_range, with_options

PREFIX = "family:"
LICENCE = "Apache-2.0"
_OPTIONS = {
    "inputs": "inputs for each text, 10 by default; 'paper': those of Execution Tuning",
    "events": "about so many line events in each run",
    "size": "sizes of inputs: up to 50, or 20-50; what it counts, the family decides",
    "texts": "which of the texts: 2, or 0-2; all by default",
    "variants": "each text written otherwise, as 1-20: twenty times; 0, the default: as it stands",
    "seed": "another number, other inputs",
}
_PAPER_RANGES = ((4, 1, 20), (5, 20, 4000))
"""So many inputs between these bounds had the paper's long executions; 3038 is the one that it names."""
_PAPER_NAMED = 3038
_TOLERANCE = 1.5
"""A run of between N / this and N * this line events has about N: a disk more doubles Hanoi's."""
_COUNTED_MOST = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A task.

    texts: programs that solve it. arguments: (random numbers, size) -> the text of an argument list. what:
    what the size counts. size: the largest, where nothing else is asked for. most: beyond it states get
    long, or recursion too deep. paper: the input is one number, so it can have those of Execution Tuning.
    erratic: a larger size need not give a longer run.
    """

    name: str
    texts: tuple[str, ...]
    what: str
    arguments: Callable[[random.Random, int], str]
    size: int
    most: int
    least: int = 1
    paper: bool = False
    erratic: bool = False


def entry(text: str) -> str:
    """The function of a text that is called: the last that it defines."""
    return text.rpartition("\ndef ")[2].removeprefix("def ").partition("(")[0]


def text_of(family: Family, number: int, variant_number: int = 0) -> str:
    """A text of a family as it stands (variant 0), or written otherwise: each number gives another text."""
    text = family.texts[number]
    if variant_number == 0:
        return text
    return variant(text, random.Random(f"{family.name}:{number}:{variant_number}"))


def families(source: str) -> Iterator[Program]:
    """The programs of ``family:NAME[,OPTION=VALUE...]``; NAME ``all`` means every family, in order.

    In `extra` stand family, text and variant (their numbers) and size; where a length was asked for, also
    events: how many line events the run has.

    Raises:
        InputError: no such family or option; an option that the family cannot serve.
    """
    name, options = with_options(source.removeprefix(PREFIX), _OPTIONS, source)
    if name != "all" and name not in FAMILIES:
        raise InputError(f"{source}: no family is called {name!r}. There are {', '.join(FAMILIES)}, and all.")
    chosen = list(FAMILIES.values()) if name == "all" else [FAMILIES[name]]
    seed = options.get("seed", "0")
    whole_number(seed, "seed", source, least=0)
    if options.get("inputs") == "paper":
        for option in ("events", "size"):
            if option in options:
                raise InputError(f"{source}: inputs=paper leaves no choice of {option}.")
        chosen = _with_paper_inputs(chosen, name, source)
    elif "inputs" in options:
        whole_number(options["inputs"], "inputs", source)
    for family in chosen:
        most = len(family.texts) - 1
        if "texts" in options:
            whole_range(options["texts"], "texts", f"{source} ({family.name})", most=most)
        if "size" in options:
            _sizes(family, options, f"{source} ({family.name})")
    if "variants" in options:
        whole_range(options["variants"], "variants", source, most=100_000)
    if "events" in options:
        whole_number(options["events"], "events", source, most=_COUNTED_MOST)
    return _chained(chosen, options, seed, source)


def _chained(chosen: list[Family], options: Mapping[str, str], seed: str, source: str) -> Iterator[Program]:
    for family in chosen:
        numbers = range(len(family.texts))
        if "texts" in options:
            numbers = whole_range(options["texts"], "texts", source)
        for number in numbers:
            for k in whole_range(options.get("variants", "0"), "variants", source):
                yield from _programs(family, number, k, options, seed, source)


def _programs(
    family: Family, number: int, k: int, options: Mapping[str, str], seed: str, source: str
) -> Iterator[Program]:
    text = text_of(family, number, k)
    seen: set[str] = set()
    inputs = _inputs(family, text, options, seed, source)
    for arguments, facts in inputs:
        identifier = short_id(f"{family.name}-{number}{f'.{k}' if k else ''}{arguments}")
        if identifier in seen:  # a small size has few inputs
            continue
        seen.add(identifier)
        yield Program(
            id=identifier,
            code=text,
            mode=Mode.CALL,
            entry=entry(text),
            arguments=arguments,
            source=f"deskcheck {PREFIX}{family.name}",
            licence=LICENCE,
            train_ok=True,
            extra={"family": family.name, "text": number, "variant": k, **facts},
        )


def _inputs(
    family: Family, text: str, options: Mapping[str, str], seed: str, source: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Argument lists, the same ones for every text of the family but where a length of run is asked for."""
    numbers = random.Random(f"{family.name}:{seed}")
    if options.get("inputs") == "paper":
        for n in paper_inputs(seed):
            yield f"({n})", {"size": n}
        return
    count = int(options.get("inputs", "10"))
    sizes = _sizes(family, options, source)
    for _ in range(count):
        if "events" in options:
            most = sizes[-1] if "size" in options else family.most
            arguments, of, events = _of_length(family, text, int(options["events"]), most, numbers, source)
            yield arguments, {"size": of, "events": events}
        else:
            size = between(numbers, sizes[0], sizes[-1])
            yield family.arguments(numbers, size), {"size": size}


def _sizes(family: Family, options: Mapping[str, str], source: str) -> range:
    if "size" not in options:
        return range(family.least, family.size + 1)
    found = whole_range(options["size"], "size", source, least=family.least, most=family.most)
    return found if "-" in options["size"] else range(family.least, found[-1] + 1)


def paper_inputs(seed: str = "0") -> list[int]:
    """Four numbers in 1..20 and five in 20..4000, as many as Execution Tuning had for its long executions.
    Of its own only 3038 is known, which is always among them."""
    numbers = random.Random(f"paper:{seed}")
    found: list[int] = []
    for count, low, high in _PAPER_RANGES:
        drawn: set[int] = {_PAPER_NAMED} if low <= _PAPER_NAMED <= high else set()
        while len(drawn) < count:
            drawn.add(between(numbers, low, high))
        found += sorted(drawn)
    return found


def _with_paper_inputs(chosen: list[Family], name: str, source: str) -> list[Family]:
    able = [family for family in chosen if family.paper]
    if not able:
        names = ", ".join(family.name for family in FAMILIES.values() if family.paper)
        raise InputError(f"{source}: {name} takes more than one number; inputs=paper is for {names}.")
    return able


# -- runs of a wanted length -----------------------------------------------------------------------


def _of_length(
    family: Family, text: str, events: int, most: int, numbers: random.Random, source: str
) -> tuple[str, int, int]:
    """Arguments for a run of about so many line events, their size, and how many it really has.

    Sizes are doubled until the run is long enough, then the gap is halved; where that finds none (the input
    is drawn, and its run may be long or short), inputs of sizes near there are tried.
    """
    best: tuple[float, str, int, int] | None = None
    wanted = events * (0.9 + 0.2 * numbers.random())  # so that several inputs are not one and the same

    def attempt(size: int) -> int:
        nonlocal best
        arguments = family.arguments(numbers, size)
        counted = line_events(text, arguments, most=3 * events + 100)
        far = abs(math.log(counted / wanted))
        if best is None or far < best[0]:
            best = far, arguments, size, counted
        return counted

    low, high = family.least, most
    if not family.erratic:
        high = low
        while attempt(high) < wanted and high < most:
            low, high = high, min(2 * high, most)
        while high - low > 1 and best is not None and best[0] > math.log(1.02):
            middle = (low + high) // 2
            if attempt(middle) < wanted:
                low = middle
            else:
                high = middle
        low, high = max(family.least, low // 2), min(most, 2 * high)
    for _ in range(300):
        if best is not None and best[0] <= math.log(1.1 if family.erratic else _TOLERANCE):
            break
        attempt(round(low * (high / low) ** numbers.random()))
    assert best is not None
    far, arguments, size, counted = best
    if far > math.log(_TOLERANCE):
        raise InputError(
            f"{source}: found no input of {family.name} with about {events} line events: the nearest run, "
            f"{arguments:.60}, has {counted}. {family.name} has sizes up to {most} here ({family.what})."
        )
    return arguments, size, counted


class _Enough(Exception):
    """The run is longer than is of interest."""


def line_events(text: str, arguments: str, *, most: int = _COUNTED_MOST) -> int:
    """How many lines a call runs in all, as `sys.settrace` counts them, or `most` if they are more.

    For programs of this file alone: it runs them in this process.
    """
    namespace: dict[str, Any] = {}
    exec(compile(text, "<family>", "exec"), namespace)
    called = eval(f"lambda: {entry(text)}{arguments}", namespace)
    count = 0

    def local(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        if event == "line":
            count += 1
            if count >= most:
                raise _Enough
        return local

    def start(frame: FrameType, event: str, argument: Any) -> Any:
        return local if frame.f_code.co_filename == "<family>" else None

    before = sys.gettrace()
    sys.settrace(start)
    try:
        called()
    except _Enough:
        pass
    finally:
        sys.settrace(before)
    return count


# -- inputs ----------------------------------------------------------------------------------------


def between(numbers: random.Random, low: int, high: int) -> int:
    """A whole number from low to high. By `random()` alone, which gives the same on every Python."""
    return low + int(numbers.random() * (high - low + 1))


def _number(numbers: random.Random, size: int) -> str:
    return f"({size})"


def _list(numbers: random.Random, size: int) -> str:
    return f"({[between(numbers, 0, 99) for _ in range(size)]})"


def _bits(numbers: random.Random, size: int) -> str:
    return f"({[between(numbers, 0, 1) for _ in range(10)]}, {size})"


def _word(letters: str) -> Callable[[random.Random, int], str]:
    def word(numbers: random.Random, size: int) -> str:
        return f"({''.join(letters[between(numbers, 0, len(letters) - 1)] for _ in range(size))!r})"

    return word


def _runs(numbers: random.Random, size: int) -> str:
    text = ""
    while len(text) < size:
        letter = "abc"[between(numbers, 0, 2)]
        text += letter * between(numbers, 1, 5)
    return f"({text[:size]!r})"


def _brackets(numbers: random.Random, size: int) -> str:
    """Mostly balanced: opened and closed at random, and now and then one bracket put in place of another."""
    text, wanted = "", ""
    while len(text) < size:
        if wanted and (len(wanted) >= min(size - len(text), 8) or numbers.random() < 0.45):
            text, wanted = text + wanted[-1], wanted[:-1]
        else:
            kind = between(numbers, 0, 1)
            text, wanted = text + "(["[kind], wanted + ")]"[kind]
    if numbers.random() < 0.3:
        at = between(numbers, 0, size - 1)
        text = text[:at] + "()[]"[between(numbers, 0, 3)] + text[at + 1 :]
    return f"({text!r})"


def _code(numbers: random.Random, size: int) -> str:
    """A program for the stack machine that leaves the stack as high as it was, gone through `size` times."""
    words: list[str] = []
    high = 0
    for _ in range(between(numbers, 1, 3)):
        words.append(str(between(numbers, 1, 9)))
        high += 1
        if numbers.random() < 0.4:
            words.append("dup")
            high += 1
        while high > 0 and (numbers.random() < 0.6 or high > 2):
            words.append(("add", "mul")[between(numbers, 0, 1)])
            high -= 1
    words += ["add"] * high
    return f"({[*words, 'loop']}, {size})"


def _sides(numbers: random.Random, size: int) -> str:
    return f"({size}, {between(numbers, 1, size)})"


def _long_and_short(numbers: random.Random, size: int) -> str:
    return f"({size}, {between(numbers, 1, 40)})"


def _matrix(numbers: random.Random, size: int) -> str:
    a, b, c, d = (between(numbers, 0, 9) for _ in range(4))
    return f"([[{a}, {b}], [{c}, {d}]], {size})"


def _family(
    name: str, what: str, arguments: Callable[[random.Random, int], str], size: int, most: int, **more: Any
) -> Family:
    return Family(
        name=name, texts=tuple(TEXTS[name]), what=what, arguments=arguments, size=size, most=most, **more
    )


def _ackermann(numbers: random.Random, size: int) -> str:
    return f"({between(numbers, 0, 2)}, {between(numbers, 0, size)})"


def _random_start(numbers: random.Random, size: int) -> str:
    return f"({between(numbers, 0, 63)}, {size})"


def _grid(numbers: random.Random, size: int) -> str:
    return f"({size}, {between(numbers, 2, 40)})"


def _circle(numbers: random.Random, size: int) -> str:
    return f"({size}, {between(numbers, 2, 9)})"


FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        _family("ackermann", "the second number", _ackermann, 4, 8),
        _family("automaton", "generations of ten cells", _bits, 10, 100_000),
        _family("binary_counter", "steps of the counter", _number, 1000, 1_000_000, paper=True),
        _family("brackets", "brackets", _brackets, 12, 400),
        _family("bubble_sort", "items", _list, 8, 100),
        _family("collatz", "the start", _number, 100_000, 1_000_000_000, paper=True, erratic=True),
        _family("collatz_longest", "the starts that are tried", _number, 30, 100_000, paper=True),
        _family("coprime_pairs", "the largest number", _number, 12, 2000, paper=True),
        _family("digit_sums", "the numbers that are summed", _number, 100, 1_000_000, paper=True),
        _family("fibonacci", "the index", _number, 40, 20_000, paper=True),
        _family("fibonacci_calls", "the index", _number, 8, 25),
        _family("gcd", "the first number", _sides, 10_000, 1_000_000_000, erratic=True),
        _family("gcd_by_subtraction", "the first number", _long_and_short, 200, 1_000_000),
        _family("hanoi", "disks", _number, 4, 14),
        _family("insertion_sort", "items", _list, 8, 100),
        _family("josephus", "people", _circle, 10, 200),
        _family("matrix_power", "the exponent", _matrix, 6, 100_000),
        _family("odometer", "steps of the counter", _number, 1000, 1_000_000, paper=True),
        _family("primes", "the numbers that are tried", _number, 40, 20_000, paper=True),
        _family("random_numbers", "numbers drawn", _random_start, 50, 1_000_000),
        _family("run_length", "letters", _runs, 16, 500),
        _family("selection_sort", "items", _list, 8, 100),
        _family("sieve", "the largest number", _number, 20, 300, least=2, paper=True),
        _family("stack_machine", "rounds", _code, 5, 200_000),
        _family("string_rewriting", "letters", _word("ab"), 8, 120),
        _family("table_sum", "rows", _grid, 6, 100_000),
    )
}
"""Name -> family."""
