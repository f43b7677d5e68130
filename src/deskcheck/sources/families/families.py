"""Families of long executions: ``family:collatz``.

A family is one task, several texts that solve it, and inputs for runs of any length. Collatz, the binary
counter and Fibonacci are those of Execution Tuning (arXiv 2503.05703), whose texts were not published. The
texts of a family return the same results and otherwise differ, so a model can be trained on some and asked
about another. `variants` rewrites a text as often as needed.

Only the programs of families are run in this process, to find inputs for a run of the requested length.
"""

import functools
import itertools
import math
import random
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from types import FrameType
from typing import Any, NamedTuple

from deskcheck.recording import InputError, Mode, Program
from deskcheck.sources.families.variants import variant
from deskcheck.sources.sets.files import short_id
from deskcheck.sources.text.options import whole_number, whole_range, with_options
from deskcheck.sources.text.shipped import shipped

PREFIX = "family:"
LICENCE = "Apache-2.0"
_SEPARATOR = "# ----\n"
"""The line between two texts in the file of a family."""
_OPTIONS = {
    "inputs": "inputs for each text, 10 by default; 'paper': those of Execution Tuning",
    "events": "the approximate number of line events in each run",
    "size": "sizes of inputs, such as 50 (up to 50) or 20-50; their meaning depends on the family",
    "texts": "numbers of the texts, such as 2 or 0-2; all by default",
    "variants": "numbers of rewritten texts, such as 1-20 for twenty; 0, the default, is the original",
    "seed": "a number; another one gives other inputs",
}
_PAPER_RANGES = ((4, 1, 20), (5, 20, 4000))
"""Numbers of inputs, and their bounds, in the long executions of the paper, which names only the input
3038."""
_PAPER_NAMED = 3038
_TOLERANCE = 1.5
"""A run of N line events may differ from the requested length by this factor. One more disk doubles
Hanoi's."""
_COUNTED_MOST = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A task; shipped/families.toml explains the fields."""

    name: str
    what: str
    arguments: str
    size: int
    most: int
    least: int = 1
    paper: bool = False
    erratic: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        return _texts(self.name)

    def draw(self, rng: random.Random, size: int) -> str:
        """The text of an argument list."""
        if self.arguments in _DRAWN:
            return _DRAWN[self.arguments](rng, size)
        return _filled(self.arguments, rng, size)


@functools.cache
def _texts(name: str) -> tuple[str, ...]:
    joined = shipped(f"families/{name}.py")
    return tuple(text.strip("\n") + "\n" for text in joined.split(_SEPARATOR))


def entry(text: str) -> str:
    """The function of a text that is called: the last that it defines."""
    return text.rpartition("\ndef ")[2].removeprefix("def ").partition("(")[0]


def text_of(family: Family, number: int, variant_number: int = 0) -> str:
    """A text of a family, unchanged (variant 0) or rewritten. Each number gives another text."""
    text = family.texts[number]
    if variant_number == 0:
        return text
    return variant(text, random.Random(f"{family.name}:{number}:{variant_number}"))


def families(source: str) -> Iterator[Program]:
    """The programs of ``family:NAME[,OPTION=VALUE...]``; NAME ``all`` means every family, in order.

    `extra` has the family's name, the numbers of text and variant, and the size. If a length was requested,
    it also has events, the number of line events in the run.

    Raises:
        InputError: the family or option does not exist, or the family does not support the option.
    """
    name, options = with_options(source.removeprefix(PREFIX), _OPTIONS, source)
    if name != "all" and name not in FAMILIES:
        raise InputError(
            f"{source}: unknown family {name!r}. The families are {', '.join(FAMILIES)}, and all."
        )
    chosen = list(FAMILIES.values()) if name == "all" else [FAMILIES[name]]
    if options.get("inputs") == "paper":
        chosen = _with_paper_inputs(chosen, name, options, source)
    return chain.from_iterable([_programs(_request(family, options, source)) for family in chosen])


def _with_paper_inputs(
    chosen: list[Family], name: str, options: Mapping[str, str], source: str
) -> list[Family]:
    for option in ("events", "size"):
        if option in options:
            raise InputError(f"{source}: {option} cannot be combined with inputs=paper.")
    able = [family for family in chosen if family.paper]
    if not able:
        names = ", ".join(family.name for family in FAMILIES.values() if family.paper)
        raise InputError(f"{source}: {name} takes more than one number; inputs=paper is for {names}.")
    return able


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """The programs of one family that a source names."""

    family: Family
    source: str
    texts: range
    variants: range
    inputs: int | None
    """Number of inputs for each text; None for the inputs of the paper."""
    sizes: range
    longest: int
    """The largest size if a length of run is requested."""
    events: int | None
    seed: str


def _request(family: Family, options: Mapping[str, str], source: str) -> _Request:
    seed, inputs = options.get("seed", "0"), options.get("inputs", "10")
    whole_number(seed, "seed", source, minimum=0)
    location = f"{source} ({family.name})"
    texts = range(len(family.texts))
    if "texts" in options:
        texts = whole_range(options["texts"], "texts", location, maximum=len(texts) - 1)
    sizes, longest = range(family.least, family.size + 1), family.most
    if "size" in options:
        sizes = whole_range(options["size"], "size", location, minimum=family.least, maximum=family.most)
        longest = sizes[-1]
        if "-" not in options["size"]:
            sizes = range(family.least, longest + 1)
    return _Request(
        family=family,
        source=source,
        texts=texts,
        variants=whole_range(options.get("variants", "0"), "variants", source, maximum=100_000),
        inputs=None if inputs == "paper" else whole_number(inputs, "inputs", source),
        sizes=sizes,
        longest=longest,
        events=whole_number(options["events"], "events", source, maximum=_COUNTED_MOST)
        if "events" in options
        else None,
        seed=seed,
    )


def _programs(request: _Request) -> Iterator[Program]:
    name = request.family.name
    for number, variant_number in itertools.product(request.texts, request.variants):
        text = text_of(request.family, number, variant_number)
        again = f".{variant_number}" if variant_number else ""
        ids: set[str] = set()
        for arguments, facts in _inputs(request, text):
            identifier = short_id(f"{name}-{number}{again}{arguments}")
            if identifier in ids:  # a small size has few inputs
                continue
            ids.add(identifier)
            yield Program(
                id=identifier,
                code=text,
                mode=Mode.CALL,
                entry=entry(text),
                arguments=arguments,
                source=f"deskcheck {PREFIX}{name}",
                licence=LICENCE,
                train_ok=True,
                extra={"family": name, "text": number, "variant": variant_number, **facts},
            )


def _inputs(request: _Request, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Argument lists. They are the same for every text of the family, unless a length of run is requested."""
    family, sizes = request.family, request.sizes
    if request.inputs is None:
        for n in paper_inputs(request.seed):
            yield f"({n})", {"size": n}
        return
    rng = random.Random(f"{family.name}:{request.seed}")
    for _ in range(request.inputs):
        if request.events is not None:
            run = _of_length(request, text, request.events, rng)
            yield run.arguments, {"size": run.size, "events": run.events}
        else:
            size = between(rng, sizes[0], sizes[-1])
            yield family.draw(rng, size), {"size": size}


def paper_inputs(seed: str = "0") -> list[int]:
    """Four numbers in 1..20 and five in 20..4000, as many as the long executions of Execution Tuning had.

    Of its numbers only 3038 is known, which is always included.
    """
    rng = random.Random(f"paper:{seed}")
    inputs: list[int] = []
    for count, low, high in _PAPER_RANGES:
        drawn: set[int] = {_PAPER_NAMED} if low <= _PAPER_NAMED <= high else set()
        while len(drawn) < count:
            drawn.add(between(rng, low, high))
        inputs += sorted(drawn)
    return inputs


# -- runs of a wanted length -----------------------------------------------------------------------


class _Run(NamedTuple):
    error: float
    """Logarithmic distance from the requested length."""
    arguments: str
    size: int
    events: int


def _of_length(request: _Request, text: str, events: int, rng: random.Random) -> _Run:
    """A run of approximately `events` line events.

    Sizes are doubled until the run is long enough, then the gap is halved. This fails if runs of the same
    size differ in length; then inputs of similar sizes are tried.
    """
    family, low, high = request.family, request.family.least, request.longest
    target = events * (0.9 + 0.2 * rng.random())  # so that several inputs differ
    runs: list[_Run] = []

    def attempt(size: int) -> int:
        arguments = family.draw(rng, size)
        counted = line_events(text, arguments, limit=3 * events + 100)
        runs.append(_Run(abs(math.log(counted / target)), arguments, size, counted))
        return counted

    def best() -> _Run:
        return min(runs, key=lambda run: run.error)

    if not family.erratic:
        high = low
        while attempt(high) < target and high < request.longest:
            low, high = high, min(2 * high, request.longest)
        while high - low > 1 and best().error > math.log(1.02):
            middle = (low + high) // 2
            if attempt(middle) < target:
                low = middle
            else:
                high = middle
        low, high = max(family.least, low // 2), min(request.longest, 2 * high)
    for _ in range(300):
        if runs and best().error <= math.log(1.1 if family.erratic else _TOLERANCE):
            break
        attempt(round(low * (high / low) ** rng.random()))
    nearest = best()
    if nearest.error > math.log(_TOLERANCE):
        raise InputError(
            f"{request.source}: no input of {family.name} has about {events} line events: the nearest run, "
            f"{nearest.arguments:.60}, has {nearest.events}. {family.name} has sizes up to {request.longest} "
            f"here ({family.what})."
        )
    return nearest


class _Enough(Exception):
    """The run has reached the limit."""


def line_events(text: str, arguments: str, *, limit: int = _COUNTED_MOST) -> int:
    """The number of line events of a call, counted by `sys.settrace`, or `limit` if there are more.

    The call runs in this process, so the text must be one of a family.
    """
    namespace: dict[str, Any] = {}
    exec(compile(text, "<family>", "exec"), namespace)
    called = eval(f"lambda: {entry(text)}{arguments}", namespace)
    count = 0

    def local(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        if event == "line":
            count += 1
            if count >= limit:
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


def between(rng: random.Random, low: int, high: int) -> int:
    """A whole number from low to high. Uses only `random()`, which gives the same numbers on every Python."""
    return low + int(rng.random() * (high - low + 1))


def _filled(template: str, rng: random.Random, size: int) -> str:
    """A template with its numbers drawn, such as ``({0..9}, {1..size}, {size})``."""

    def fill(hole: re.Match[str]) -> str:
        low, _, high = hole[1].replace("size", str(size)).partition("..")
        return str(between(rng, int(low), int(high))) if high else low

    return re.sub(r"\{(.*?)\}", fill, template)


def _list(rng: random.Random, size: int) -> str:
    return f"({[between(rng, 0, 99) for _ in range(size)]})"


def _word(rng: random.Random, size: int) -> str:
    return f"({''.join('ab'[between(rng, 0, 1)] for _ in range(size))!r})"


def _runs(rng: random.Random, size: int) -> str:
    text = ""
    while len(text) < size:
        letter = "abc"[between(rng, 0, 2)]
        text += letter * between(rng, 1, 5)
    return f"({text[:size]!r})"


def _brackets(rng: random.Random, size: int) -> str:
    """Brackets that are opened and closed at random, mostly balanced; sometimes one is replaced."""
    text, closers = "", ""
    while len(text) < size:
        if closers and (len(closers) >= min(size - len(text), 8) or rng.random() < 0.45):
            text, closers = text + closers[-1], closers[:-1]
        else:
            kind = between(rng, 0, 1)
            text, closers = text + "(["[kind], closers + ")]"[kind]
    if rng.random() < 0.3:
        position = between(rng, 0, size - 1)
        text = text[:position] + "()[]"[between(rng, 0, 3)] + text[position + 1 :]
    return f"({text!r})"


def _code(rng: random.Random, size: int) -> str:
    """A program for the stack machine that runs `size` times and leaves the height of the stack unchanged."""
    words: list[str] = []
    high = 0
    for _ in range(between(rng, 1, 3)):
        words.append(str(between(rng, 1, 9)))
        high += 1
        if rng.random() < 0.4:
            words.append("dup")
            high += 1
        while high > 0 and (rng.random() < 0.6 or high > 2):
            words.append(("add", "mul")[between(rng, 0, 1)])
            high -= 1
    words += ["add"] * high
    return f"({[*words, 'loop']}, {size})"


_DRAWN: Mapping[str, Callable[[random.Random, int], str]] = {
    "brackets": _brackets,
    "code": _code,
    "list": _list,
    "runs": _runs,
    "word": _word,
}
FAMILIES: Mapping[str, Family] = {
    name: Family(name=name, **facts) for name, facts in tomllib.loads(shipped("families.toml")).items()
}
"""Name -> family."""
