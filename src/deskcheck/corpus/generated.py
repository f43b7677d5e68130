"""Small programs that nobody wrote, typed and bounded by construction: ``generated:1000,level=4``.

    generated("generated:1000,seed=7,level=1-4")    programs, each with several argument lists
    program_text(random.Random("7:12"), 4)          one text and its arguments

Every program ends: loops go over what is bounded, or count towards a bound; recursion counts down. Every
variable has a type and an interval (numbers: of the value; texts and containers: of the length) that holds
wherever it can be seen, so values stay small: numbers mostly of one to three digits, lists of up to eight
items, texts of up to twenty characters. A call may be left by an exception from level 10 on.

The same seed gives the same programs on every supported Python: of the random numbers only `random()` is
used, whose sequence does not change between versions. What the language has at each level says `LEVELS`;
`coverage` measures what programs have.

Not in the language: classes, generators, decorators, lambdas, imports, globals, input and output of files,
floats other than halves, `while` on anything but counters, and the standard library.
"""

import random
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any

from deskcheck.corpus._generated_words import HELPERS, MESSAGES, NAMES, NOUNS, SHORT, VERBS, WORDS
from deskcheck.corpus._options import whole_number, whole_range, with_options
from deskcheck.recording import Mode, Program

PREFIX = "generated:"
SOURCE = f"deskcheck {PREFIX}"
LICENCE = "Apache-2.0"
LEVELS: Mapping[int, str] = {
    1: "arithmetic",
    2: "branches",
    3: "loops",
    4: "nested loops",
    5: "strings",
    6: "lists and tuples",
    7: "dictionaries and sets",
    8: "calls",
    9: "recursion",
    10: "exceptions",
}
"""A level has all of the levels below it. Level -> what it brings."""
LANGUAGE: Mapping[int, frozenset[str]] = {
    level: frozenset(words.split())
    for level, words in {
        1: "+ - * / // % ** & | ^ << >> -x ~x not < > <= >= == != += -= *= //= %= "
        "abs() divmod() int() max() min() round() FunctionDef Return Assign Tuple Name arg",
        2: "If IfExp and or chained-comparison",
        3: "For While Break Continue range() For-else",
        4: "",
        5: "in not-in Subscript Slice Attribute JoinedStr FormattedValue chr() enumerate() len() ord() str() "
        ".capitalize() .count() .endswith() .find() .isalpha() .isdigit() .islower() .isupper() .lower() "
        ".replace() .rfind() .startswith() .strip() .swapcase() .title() .upper() .zfill()",
        6: "List ListComp GeneratorExp comprehension Starred Delete Expr keyword all() any() list() "
        "reversed() sorted() sum() zip() .append() .extend() .insert() .join() .pop() .remove() .reverse() "
        ".sort() .split()",
        7: "Dict DictComp Set set() .add() .discard() .get() .items() .setdefault() .values()",
        8: "call default-argument keyword-argument",
        9: "recursion",
        10: "Try Try-else finally ExceptHandler Raise Assert ArithmeticError Exception IndexError KeyError "
        "LookupError RuntimeError TypeError ValueError ZeroDivisionError "
        "KeyError() RuntimeError() TypeError() ValueError()",
    }.items()
}
"""Level -> constructs that programs have from there on, in the words of `coverage`, blanks as hyphens;
literals are left out, and that loops stand inside loops from level 4 on."""
HIGHEST = len(LEVELS)
_OPTIONS = {
    "level": "what the programs may have: 4 means levels 1 to 4 in equal parts, 4-4 that level alone",
    "inputs": "argument lists for each program, 3 by default",
    "seed": "another number, other programs",
}
_LIMIT = 20_000
_PRODUCT = 5000
_LIST = 8
_TEXT = 20
_KEYS = 8
_TRIPS = 36
_COST = 160
"""About how many lines a call runs at most."""
_GROWTH = 4000


def generated(source: str) -> Iterator[Program]:
    """The programs of ``generated:COUNT[,OPTION=VALUE...]``, one for each argument list.

    COUNT is how many texts. Text k is the same whatever COUNT is. `extra` has level, text (k) and input.

    Raises:
        InputError: the source says something else.
    """
    head, options = with_options(source.removeprefix(PREFIX), _OPTIONS, source)
    count = whole_number(head, "COUNT", source)
    inputs = whole_number(options.get("inputs", "3"), "inputs", source, most=100)
    seed = whole_number(options.get("seed", "0"), "seed", source, least=0)
    asked = options.get("level", str(HIGHEST))
    levels = whole_range(asked, "level", source, least=1, most=HIGHEST)
    return _programs(count, inputs, seed, levels if "-" in asked else range(1, levels[-1] + 1))


def _programs(count: int, inputs: int, seed: int, levels: range) -> Iterator[Program]:
    for number in range(count):
        numbers = random.Random(f"{seed}:{number}")
        level = levels[int(numbers.random() * len(levels))]
        made = program_text(numbers, level, inputs)
        for k, arguments in enumerate(made.arguments):
            yield Program(
                id=f"generated-{seed}-{number}-{k}",
                code=made.code,
                mode=Mode.CALL,
                entry=made.entry,
                arguments=arguments,
                source=f"{SOURCE}{levels[0]}-{levels[-1]}",
                licence=LICENCE,
                train_ok=True,
                extra={"level": level, "seed": seed, "text": number, "input": k},
            )


@dataclass(frozen=True, slots=True)
class Made:
    """A text, the function in it that is called, and argument lists for it, all different."""

    code: str
    entry: str
    arguments: tuple[str, ...]


def program_text(numbers: random.Random, level: int, inputs: int = 3) -> Made:
    """One program with something of that level in it."""
    for _ in range(50):
        writer = _Writer(numbers, level)
        made = writer.module(inputs)
        if made is not None and level in writer.used:
            return made
    raise AssertionError(f"no program of level {level} in 50 attempts")


# -- what is known of a value ----------------------------------------------------------------------


@dataclass(slots=True)
class _Value:
    """An expression. lo, hi: interval of a number, or of the length of a text or container.

    prec: how tightly its text is bound: 3 a name or call, 2 a product, 1 a sum, 0 less.
    items, item_lo, item_hi: the same of what a container holds ("int" or "str"); of a dict, of its values,
    and keys is the type of its keys. indexes: the list in which the number is an index.
    """

    text: str
    kind: str
    lo: int = 0
    hi: int = 0
    prec: int = 3
    items: str = ""
    item_lo: int = 0
    item_hi: int = 0
    keys: str = ""
    indexes: str = ""

    def at(self, prec: int) -> str:
        return self.text if self.prec >= prec else f"({self.text})"


@dataclass(slots=True)
class _Variable(_Value):
    """depth: of loops where it may be assigned to; 0 outside. branch: of branches where it was made.

    looped: a loop runs its assignments again: lo and hi stay as they are, assigned values keep between
    base_lo and base_hi, and it may grow by `growth` in all. since: the loop that widened it. locked: its
    length may not change: it is gone through, or has two names.
    """

    depth: int = 0
    branch: int = 0
    looped: bool = False
    base_lo: int = 0
    base_hi: int = 0
    growth: int = 0
    since: int = 0
    locked: bool = False
    counter: bool = False


@dataclass(frozen=True, slots=True)
class _Function:
    """A helper that was written. cost: lines that a call runs. optional: parameters with a default.
    level: what it belongs to. lines: its text."""

    name: str
    parameters: tuple[_Value, ...]
    returns: _Value
    cost: int
    optional: int = 0
    level: int = 8
    lines: tuple[str, ...] = ()


_Expression = Callable[["_Writer", int], "_Value | None"]
_Condition = Callable[["_Writer"], "str | None"]
_Statement = Callable[["_Writer"], bool]

_INTS: list[tuple[int, float, _Expression]] = []
_STRINGS: list[tuple[int, float, _Expression]] = []
_LISTS: list[tuple[int, float, _Expression]] = []
_CONDITIONS: list[tuple[int, float, _Condition]] = []
_STATEMENTS: list[tuple[int, float, _Statement]] = []
_LOOPS: list[tuple[int, float, _Statement]] = []


def _entered(table: list[Any], level: int, weight: float) -> Callable[[Any], Any]:
    def enter(function: Any) -> Any:
        table.append((level, weight, function))
        return function

    return enter


_TABLES: Mapping[str, list[Any]] = {
    "int": _INTS,
    "str": _STRINGS,
    "list": _LISTS,
    "condition": _CONDITIONS,
    "statement": _STATEMENTS,
    "loop": _LOOPS,
}


@cache
def _choices(table: str, level: int) -> tuple[list[float], list[tuple[int, Any]]]:
    """Cumulative weights and what they belong to; what a level brings weighs more at that level."""
    known = [row for row in _TABLES[table] if row[0] <= level]
    favour = 1 if level == 1 else 4 if level < 5 else 2.5
    weights = [weight * (favour if own == level else 1) for own, weight, _ in known]
    return list(accumulate(weights)), [(own, function) for own, _, function in known]


class _Writer:
    """Writes one module: helpers, then the function that is called."""

    def __init__(self, numbers: random.Random, level: int) -> None:
        self.random = numbers.random
        self.level = level
        self.used = {1}
        self.functions: list[_Function] = []
        self.global_names: set[str] = set()
        self.begin_function()

    def begin_function(self) -> None:
        self.lines: list[str] = []
        self.variables: list[_Variable] = []
        self.names: set[str] = set()
        self.indent = 1
        self.loops: list[int] = []
        self.jumps: list[tuple[str, ...]] = []
        self.finishing = False
        self.calling = False
        self.room = 0
        self.branches = 0
        self.cost = 1
        self.returned: _Value | None = None
        self.returns = "int"
        self.helper = False

    # -- drawing -----------------------------------------------------------------------------------

    def below(self, n: int) -> int:
        return int(self.random() * n)

    def between(self, low: int, high: int) -> int:
        return low + int(self.random() * (high - low + 1))

    def chance(self, share: float) -> bool:
        return self.random() < share

    def pick(self, known: Any) -> Any:
        return known[int(self.random() * len(known))]

    def recent(self, known: list[_Variable]) -> _Variable:
        """One of them, the later ones more often."""
        n = len(known)
        return known[max(int(self.random() * n), int(self.random() * n))]

    def draw(self, table: str) -> tuple[int, Any]:
        weights, known = _choices(table, self.level)
        return known[bisect(weights, self.random() * weights[-1])]

    # -- names and variables -----------------------------------------------------------------------

    def fresh(self, kind: str) -> str:
        known = NAMES[kind]
        for _ in range(20):
            name: str = self.pick(known)
            if name not in self.names and name not in self.global_names:
                self.names.add(name)
                return name
        number = 2
        name = self.pick(known)
        while f"{name}{number}" in self.names:
            number += 1
        self.names.add(f"{name}{number}")
        return f"{name}{number}"

    def crowded(self) -> bool:
        """Whether there are so many variables that another makes the state long."""
        return len(self.variables) >= 5 and self.chance(0.85)

    def of(self, kind: str, items: str = "") -> list[_Variable]:
        return [v for v in self.variables if v.kind == kind and (not items or v.items == items)]

    def assignable(self, kind: str, items: str = "") -> list[_Variable]:
        depth = len(self.loops)
        return [v for v in self.of(kind, items) if v.depth == depth and not v.counter]

    def growable(self, kind: str, items: str = "") -> list[_Variable]:
        """Containers and texts whose length may change here."""
        return [v for v in self.assignable(kind, items) if not v.locked]

    def declare(self, name: str, value: _Value) -> _Variable:
        variable = _Variable(
            text=name,
            kind=value.kind,
            lo=value.lo,
            hi=value.hi,
            items=value.items,
            item_lo=value.item_lo,
            item_hi=value.item_hi,
            keys=value.keys,
            indexes=value.indexes,
            depth=len(self.loops),
            branch=self.branches,
        )
        self.variables.append(variable)
        return variable

    def fits(self, variable: _Variable, value: _Value) -> bool:
        """Whether the value may be assigned; keeps what is known of the variable true."""
        if variable.items and (
            value.items != variable.items
            or value.item_lo < variable.item_lo
            or value.item_hi > variable.item_hi
        ):
            return False
        if variable.looped:
            if value.lo < variable.base_lo or value.hi > variable.base_hi:
                return False
            variable.indexes = ""
            return True
        variable.indexes = ""
        if self.branches > variable.branch:
            variable.lo, variable.hi = min(variable.lo, value.lo), max(variable.hi, value.hi)
        else:
            variable.lo, variable.hi = value.lo, value.hi
        return True

    def may_grow(self, variable: _Variable, low: int, high: int, most: int) -> bool:
        """Whether the variable may change by low..high here; keeps what is known of it true."""
        variable.indexes = ""
        if variable.looped:
            trips = 1
            for count in self.loops[variable.since :]:
                trips *= count
            needed = max(-low, high, 0) * trips
            if needed > variable.growth or (low < 0 <= variable.lo):
                return False
            variable.growth -= needed
            return True
        least = variable.lo + low
        if variable.kind != "int":
            least = max(least, 0)
        if variable.hi + high > most or least < -most:
            return False
        if self.branches > variable.branch:
            variable.lo, variable.hi = min(variable.lo, least), max(variable.hi, variable.hi + high)
        else:
            variable.lo, variable.hi = least, variable.hi + high
        return True

    # -- writing -----------------------------------------------------------------------------------

    def trips(self) -> int:
        product = 1
        for count in self.loops:
            product *= count
        return product

    def write(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)
        self.cost += self.trips()
        self.room -= 1

    def block(self, most: int, *, branch: bool = False) -> None:
        """An indented block of 1 to `most` statements; what is declared in it cannot be seen after it."""
        seen = len(self.variables)
        self.indent += 1
        self.branches += branch
        length = len(self.lines)
        for k in range(self.between(1, most)):
            if k == 0 or self.room > 0:
                self.statement()
        if len(self.lines) == length:
            self.write("pass")
        self.branches -= branch
        self.indent -= 1
        del self.variables[seen:]

    def branch(self, most: int = 2) -> None:
        self.block(most, branch=True)

    def statement(self) -> None:
        for _ in range(6):
            own, write = self.draw("statement")
            if write(self):
                self.used.add(own)
                return
        _something(self)

    # -- expressions -------------------------------------------------------------------------------

    def number(self, depth: int | None = None) -> _Value:
        """An expression of type int."""
        if depth is None:
            depth = 0 if self.chance(0.08) else 1 if self.chance(0.75) else 2
        if depth > 0:
            for _ in range(5):
                own, make = self.draw("int")
                value: _Value | None = make(self, depth - 1)
                if value is not None and (
                    value.lo < value.hi or self.chance(0.1)
                ):  # else no more than a literal
                    self.used.add(own)
                    return value
        return self.atom()

    def atom(self) -> _Value:
        known = self.of("int")
        if known and self.chance(0.8):
            return self.recent(known)
        return self.constant()

    def variable(self) -> _Value:
        known = self.of("int")
        return self.recent(known) if known else self.constant()

    def constant(self) -> _Value:
        draw = self.random()
        low, high = (
            (0, 9) if draw < 0.6 else (10, 20) if draw < 0.8 else (10, 99) if draw < 0.95 else (100, 999)
        )
        return self.literal(low, high)

    def literal(self, low: int, high: int) -> _Value:
        n = self.between(low, high)
        return _Value(str(n), "int", n, n, 3 if n >= 0 else 1)

    def number_in(self, low: int, high: int) -> _Value:
        """An int between the bounds."""
        value = self.variable()
        for _ in range(3):
            if low <= value.lo and value.hi <= high:
                return value
            value = self.number(self.below(2))
        if low <= 0 < high and value.lo != value.hi and self.chance(0.8):
            modulus = min(high + 1, self.pick((2, 3, 4, 5, 7, 8, 10, 10, 20, 100)))
            return _Value(f"{value.at(2)} % {modulus}", "int", 0, modulus - 1, 2)
        return self.literal(max(low, 0) if high >= 0 else low, min(high, max(low, 0) + 20))

    def word(self) -> str:
        """A short text, as it stands between quotes."""
        if self.chance(0.35):
            return "".join(self.pick("abcdexyz") for _ in range(self.between(1, 4)))
        return str(self.pick(WORDS))

    def letter(self) -> str:
        return str(self.pick("aaabbcdeeilnorstxy"))

    def string(self, depth: int | None = None) -> _Value:
        """An expression of type str."""
        if depth is None:
            depth = 0 if self.chance(0.15) else 1 if self.chance(0.85) else 2
        if depth > 0:
            for _ in range(5):
                own, make = self.draw("str")
                value: _Value | None = make(self, depth - 1)
                if value is not None:
                    self.used.add(own)
                    return value
        known = self.of("str")
        if known and self.chance(0.75):
            return self.recent(known)
        word = self.word()
        return _Value(f'"{word}"', "str", len(word), len(word))

    def list_of_numbers(self) -> _Value:
        for _ in range(5):
            own, make = self.draw("list")
            value: _Value | None = make(self, 1)
            if value is not None and value.items == "int":
                self.used.add(own)
                return value
        return self.list_display()

    def list_display(self, low: int = 1, high: int = 5) -> _Value:
        n = self.between(low, high)
        items = [self.literal(0, 9) if self.chance(0.7) else self.small() for _ in range(n)]
        least, most = min((v.lo for v in items), default=0), max((v.hi for v in items), default=0)
        return _Value(
            f"[{', '.join(v.text for v in items)}]",
            "list",
            n,
            n,
            items="int",
            item_lo=min(0, least),
            item_hi=max(99, most),
        )

    def small(self) -> _Value:
        """A number of at most three digits."""
        known = [v for v in self.of("int") if v.lo >= -999 and v.hi <= 999]
        return self.recent(known) if known and self.chance(0.7) else self.constant()

    def condition(self) -> str:
        for _ in range(5):
            own, make = self.draw("condition")
            text: str | None = make(self)
            if text is not None:
                self.used.add(own)
                return text
        return f"{self.variable().at(1)} {self.pick(('>', '<'))} {self.below(10)}"

    # -- functions ---------------------------------------------------------------------------------

    def parameter(self, kinds: tuple[str, ...]) -> _Value:
        kind = self.pick(kinds)
        if kind == "int":
            low, high = self.pick(
                ((0, 9), (0, 9), (1, 9), (0, 20), (1, 20), (0, 99), (0, 99), (-9, 9), (-20, 99), (0, 999))
            )
            return _Value(self.fresh("int"), "int", low, high)
        if kind == "bool":
            return _Value(self.fresh("bool"), "bool")
        if kind == "str":
            return _Value(self.fresh("str"), "str", self.below(2), self.between(4, 8))
        if kind == "list":
            low, high = self.pick(((0, 9), (0, 9), (0, 20), (-9, 9), (0, 99)))
            least = self.below(3)
            return _Value(
                self.fresh("list"), "list", least, self.between(4, 6), items="int", item_lo=low, item_hi=high
            )
        if kind == "strs":
            return _Value(
                self.fresh("strs"),
                "list",
                self.below(2),
                self.between(2, 4),
                items="str",
                item_lo=1,
                item_hi=5,
            )
        return _Value(
            self.fresh("dict"), "dict", 0, self.between(2, 4), items="int", item_lo=0, item_hi=999, keys="str"
        )

    def kinds(self) -> tuple[str, ...]:
        """Kinds of parameters, those that the level is about more often."""
        known: tuple[str, ...] = ("int", "int", "int")
        if self.level >= 2:
            known += ("int", "bool")
        if self.level >= 5:
            known += ("str",) * (6 if self.level == 5 else 2)
        if self.level >= 6:
            known += ("list", "list", "strs") * (3 if self.level == 6 else 1)
        if self.level >= 7:
            known += ("dict",) * (6 if self.level == 7 else 1)
        return known

    def argument(self, of: _Value) -> str:
        """The text of an argument in the interval of a parameter."""
        if of.kind == "int":
            return str(self.drawn(of.lo, of.hi))
        if of.kind == "bool":
            return str(self.chance(0.5))
        if of.kind == "str":
            return repr(self.drawn_word(of.lo, of.hi))
        n = self.between(of.lo, of.hi)
        if of.kind == "list" and of.items == "int":
            return str([self.drawn(of.item_lo, of.item_hi) for _ in range(n)])
        if of.kind == "list":
            return str([self.drawn_word(of.item_lo, of.item_hi) for _ in range(n)])
        entries = {self.drawn_word(1, 3): self.drawn(0, 99) for _ in range(n)}
        return str(entries)

    def drawn(self, low: int, high: int) -> int:
        """Ends and small numbers more often than the rest."""
        if self.chance(0.1):
            return int(self.pick((low, high)))
        if self.chance(0.3):
            return self.between(max(low, 0), min(high, max(low, 0) + 9))
        return self.between(low, high)

    def drawn_word(self, low: int, high: int) -> str:
        fitting = [word for word in WORDS if low <= len(word) <= high]
        if fitting and self.chance(0.6):
            return str(self.pick(fitting))
        n = self.between(low, high)
        return "".join(self.pick("aabbcdexyz") for _ in range(n))

    def module(self, inputs: int) -> Made | None:
        """The text, or None where it came out too long."""
        if self.level >= 8 and self.chance(0.9 if self.level == 8 else 0.3):
            for _ in range(2 if self.chance(0.2) else 1):
                self.define_helper()
        if self.level >= 9 and self.chance(0.95 if self.level == 9 else 0.15):
            _define_recursive(self)
        if self.level >= 9 and self.functions and self.chance(0.3) and self.functions[-1].level == 9:
            self.used.add(9)
            called = self.functions.pop()
            parameters = list(called.parameters)
            return self.made(called.name, parameters, list(called.lines), inputs, recursive=True)
        name = self.function_name()
        self.begin_function()
        self.global_names.add(name)
        counts = (1, 2, 2, 2, 3) if self.level < 7 else (1, 1, 2, 2)  # several containers make long states
        parameters = [self.parameter(self.kinds()) for _ in range(self.pick(counts))]
        self.body(parameters, most={1: 6, 2: 9, 3: 11, 8: 10, 9: 9}.get(self.level, 13))
        header = f"def {name}({', '.join(p.text for p in parameters)}):"
        return self.made(name, parameters, [header, *self.lines], inputs)

    def made(
        self, name: str, parameters: list[_Value], lines: list[str], inputs: int, *, recursive: bool = False
    ) -> Made | None:
        """The text with the helpers that it calls; None where it is too long, or calls none and should."""
        called = [f for f in self.functions if any(f"{f.name}(" in line for line in lines)]
        if not any(f.level == self.level for f in called) and self.level in (8, 9) and not recursive:
            return None
        lines = [line for f in called for line in (*f.lines, "", "")] + lines
        if len(lines) > 30:
            return None
        arguments: dict[str, None] = {}
        for _ in range(3 * inputs):
            if len(arguments) < inputs:
                arguments[f"({', '.join(self.argument(p) for p in parameters)})"] = None
        return Made("\n".join(lines) + "\n", name, tuple(arguments))

    def function_name(self) -> str:
        while True:
            name = str(self.pick(SHORT) if self.chance(0.6) else f"{self.pick(VERBS)}_{self.pick(NOUNS)}")
            if name not in self.global_names:
                return name

    def body(self, parameters: list[_Value], most: int) -> None:
        for p in parameters:
            self.declare(p.text, p)
        self.room = self.between(2, most)
        calls_at = self.room - self.below(3) if self.level in (8, 9) else 0
        while self.room > 0 and self.cost < _COST:
            if self.room <= calls_at:
                calls_at = 0
                (_call_statement if self.level == 8 else _call_recursive)(self)
            self.statement()
        self.write_return()

    def write_return(self) -> None:
        value = self.result()
        self.write(f"return {value.text}")
        self.note_returned(value)

    def note_returned(self, value: _Value) -> None:
        if self.returned is None:
            self.returned = _Value(
                "", value.kind, value.lo, value.hi, 3, value.items, value.item_lo, value.item_hi, value.keys
            )
            return
        known = self.returned
        known.lo, known.hi = min(known.lo, value.lo), max(known.hi, value.hi)
        known.item_lo, known.item_hi = min(known.item_lo, value.item_lo), max(known.item_hi, value.item_hi)

    def result(self) -> _Value:
        """What the function returns: of `returns` where that is asked for, else what was made last."""
        if self.helper or self.returned is not None:
            kind = self.returns if self.returned is None else self.returned.kind
            if kind == "int":
                return self.variable() if self.chance(0.5) else self.number()
            if kind == "str":
                known = self.of("str")
                return self.recent(known) if known and self.chance(0.5) else self.string()
        if self.level >= 6 and self.chance(0.1):
            known = self.of("int") + self.of("str") + self.of("list")
            if len(known) >= 2:
                a, b = self.recent(known), self.recent(known)
                return _Value(f"{a.text}, {b.text}", "tuple")
        if self.variables and self.chance(0.7):
            changed = self.changed()
            return self.recent(changed if changed and self.chance(0.85) else self.variables)
        if self.level >= 5 and self.chance(0.25):
            return self.string()
        return self.number()

    def changed(self) -> list[_Variable]:
        """Variables that the last lines assigned to or changed."""
        last = [line.lstrip() for line in self.lines[-8:]]
        return [
            v
            for v in self.variables
            if any(line.startswith((f"{v.text} ", f"{v.text}.", f"{v.text}[")) for line in last)
        ]

    def define_helper(self) -> None:
        while (
            name := str(self.pick(HELPERS) if self.chance(0.6) else self.pick(SHORT))
        ) in self.global_names:
            pass
        self.begin_function()
        self.global_names.add(name)
        self.helper = True
        self.returns = "str" if self.level >= 5 and self.chance(0.25) else "int"
        parameters = [
            self.parameter(tuple(k for k in self.kinds() if k != "dict"))
            for _ in range(self.pick((1, 1, 2, 2, 3)))
        ]
        level, self.level = self.level, min(self.level, 7)
        for p in parameters:
            self.declare(p.text, p).locked = True
        for _ in range(self.below(3)):
            if self.cost < 30:
                self.room = 3
                self.statement()
        if self.level >= 2 and self.chance(0.35):
            _early_return(self)
        self.write_return()
        self.level = level
        optional = 1 if parameters[-1].kind == "int" and self.chance(0.3) else 0
        texts = [p.text for p in parameters]
        if optional:
            texts[-1] += f"={self.between(max(parameters[-1].lo, 0), min(parameters[-1].hi, 9))}"
        lines = (f"def {name}({', '.join(texts)}):", *self.lines)
        assert self.returned is not None
        self.functions.append(
            _Function(name, tuple(parameters), self.returned, self.cost, optional, lines=lines)
        )


# -- numbers ---------------------------------------------------------------------------------------


def _sum(a: _Value, sign: str, b: _Value) -> _Value | None:
    low, high = (a.lo + b.lo, a.hi + b.hi) if sign == "+" else (a.lo - b.hi, a.hi - b.lo)
    if low < -_LIMIT or high > _LIMIT:
        return None
    return _Value(f"{a.at(1)} {sign} {b.at(2)}", "int", low, high, 1)


def _largest(value: _Value) -> int:
    return max(abs(value.lo), abs(value.hi))


def _product(a: _Value, b: _Value) -> _Value | None:
    if _largest(a) * _largest(b) > _PRODUCT or min(_largest(a), _largest(b)) > 20:
        return None
    corners = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi]
    return _Value(f"{a.at(2)} * {b.at(3)}", "int", min(corners), max(corners), 2)


@_entered(_INTS, 1, 10)
def _add(w: _Writer, depth: int) -> _Value | None:
    return _sum(w.number(depth), "+", w.atom())


@_entered(_INTS, 1, 7)
def _subtract(w: _Writer, depth: int) -> _Value | None:
    a, b = w.number(depth), w.atom()
    return None if a.text == b.text else _sum(a, "-", b)


@_entered(_INTS, 1, 3)
def _from_constant(w: _Writer, depth: int) -> _Value | None:
    a, b = w.constant(), w.variable()
    return _product(a, b) if w.chance(0.4) else _sum(a, w.pick("+-"), b)


@_entered(_INTS, 1, 6)
def _multiply(w: _Writer, depth: int) -> _Value | None:
    other = w.literal(2, 9) if w.chance(0.7) else w.variable()
    return _product(w.number(depth) if w.chance(0.3) else w.variable(), other)


def _dividend(by: int) -> int:
    """The largest number that is divided by this one. By 2, 5 and 10 a result's last digits need few of the
    number's; by 7 they need them all, which is much to ask of one step."""
    return 9999 if by in (2, 5, 10, 100) else 999


@_entered(_INTS, 1, 5)
def _modulo(w: _Writer, depth: int) -> _Value | None:
    a, by = w.number(depth), w.pick((2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 10, 100))
    if a.lo == a.hi or _largest(a) > _dividend(by):
        return None
    return _Value(f"{a.at(2)} % {by}", "int", 0, by - 1, 2)


@_entered(_INTS, 1, 5)
def _divide(w: _Writer, depth: int) -> _Value | None:
    a, by = w.number(depth), w.pick((2, 2, 2, 3, 4, 5, 10, 10))
    if a.lo == a.hi or _largest(a) > _dividend(by):
        return None
    return _Value(f"{a.at(2)} // {by}", "int", a.lo // by, a.hi // by, 2)


@_entered(_INTS, 1, 1.5)
def _divide_by_variable(w: _Writer, depth: int) -> _Value | None:
    a, b = w.variable(), w.variable()
    if b.lo < 1 or b.hi > 20 or _largest(a) > 999 or a.text == b.text:
        return None
    if w.chance(0.5):
        return _Value(f"{a.at(2)} % {b.at(3)}", "int", 0, b.hi - 1, 2)
    return _Value(f"{a.at(2)} // {b.at(3)}", "int", min(a.lo, 0), max(a.hi, 0), 2)


@_entered(_INTS, 1, 1)
def _square(w: _Writer, depth: int) -> _Value | None:
    a = w.variable()
    if _largest(a) > 20 or a.text.lstrip("-").isdigit():
        return None
    low = 0 if a.lo <= 0 <= a.hi else min(a.lo * a.lo, a.hi * a.hi)
    return _Value(f"{a.at(3)} ** 2", "int", low, _largest(a) ** 2, 2)


@_entered(_INTS, 1, 1.2)
def _negate(w: _Writer, depth: int) -> _Value | None:
    a = w.variable()
    if a.text.lstrip("-").isdigit():
        return None
    return _Value(f"-{a.at(3)}", "int", -a.hi, -a.lo, 1)


@_entered(_INTS, 1, 2)
def _absolute(w: _Writer, depth: int) -> _Value | None:
    a = w.number(depth)
    if a.lo >= 0:
        return None
    return _Value(f"abs({a.text})", "int", 0, _largest(a))


@_entered(_INTS, 1, 4)
def _extreme(w: _Writer, depth: int) -> _Value | None:
    name, a, b = w.pick(("min", "max")), w.number(depth), w.atom()
    if a.text == b.text:
        return None
    best = min if name == "min" else max
    return _Value(f"{name}({a.text}, {b.text})", "int", best(a.lo, b.lo), best(a.hi, b.hi))


@_entered(_INTS, 1, 1)
def _bits(w: _Writer, depth: int) -> _Value | None:
    a = w.variable()
    if a.lo < 0 or a.hi > 99:
        return None
    sign = w.pick("&|^")
    b = w.pick((1, 2, 3, 4, 7))
    high = min(a.hi, b) if sign == "&" else (1 << max(a.hi, b).bit_length()) - 1
    return _Value(f"{a.at(3)} {sign} {b}", "int", 0, high, 0)


@_entered(_INTS, 1, 0.7)
def _shift(w: _Writer, depth: int) -> _Value | None:
    a, by = w.variable(), w.between(1, 3)
    if a.lo < 0 or a.hi > 99:
        return None
    if w.chance(0.5):
        return _Value(f"{a.at(3)} << {by}", "int", a.lo << by, a.hi << by, 0)
    return _Value(f"{a.at(3)} >> {by}", "int", a.lo >> by, a.hi >> by, 0)


@_entered(_INTS, 1, 0.6)
def _invert(w: _Writer, depth: int) -> _Value | None:
    a = w.variable()
    return _Value(f"~{a.at(3)}", "int", -a.hi - 1, -a.lo - 1, 1) if a.text[0].isalpha() else None


@_entered(_INTS, 1, 0.8)
def _whole_half(w: _Writer, depth: int) -> _Value | None:
    known = w.of("float")
    if not known:
        return None
    a = w.recent(known)
    return _Value(f"{w.pick(('int', 'int', 'round'))}({a.text})", "int", a.lo - 1, a.hi + 1)


@_entered(_INTS, 2, 4)
def _either(w: _Writer, depth: int) -> _Value | None:
    a, b = w.number(depth), w.atom()
    if a.text == b.text:
        return None
    return _Value(f"{a.at(1)} if {w.condition()} else {b.text}", "int", min(a.lo, b.lo), max(a.hi, b.hi), 0)


@_entered(_INTS, 5, 5)
def _length(w: _Writer, depth: int) -> _Value | None:
    known = [v for v in w.variables if v.kind in ("str", "list", "dict", "set")]
    if not known:
        return None
    a = w.recent(known)
    return _Value(f"len({a.text})", "int", max(a.lo, 0), a.hi)


@_entered(_INTS, 5, 2)
def _count(w: _Writer, depth: int) -> _Value | None:
    known = w.of("str") + (w.of("list") if w.level >= 6 else [])
    if not known:
        return None
    a = w.recent(known)
    if a.kind == "str":
        return _Value(f'{a.text}.count("{w.letter()}")', "int", 0, a.hi)
    if a.items == "str":
        return _Value(f'{a.text}.count("{w.word()}")', "int", 0, a.hi)
    return _Value(f"{a.text}.count({w.between(max(a.item_lo, 0), min(a.item_hi, 5))})", "int", 0, a.hi)


@_entered(_INTS, 5, 2)
def _find(w: _Writer, depth: int) -> _Value | None:
    known = w.of("str")
    if not known:
        return None
    a = w.recent(known)
    return _Value(
        f'{a.text}.{w.pick(("find", "find", "rfind"))}("{w.letter()}")', "int", -1, max(a.hi - 1, 0)
    )


@_entered(_INTS, 5, 0.8)
def _letter_number(w: _Writer, depth: int) -> _Value | None:
    known = [v for v in w.of("str") if v.lo >= 1]
    if not known:
        return None
    return _Value(f"ord({w.recent(known).text}[0])", "int", 0, 130)


@_entered(_INTS, 6, 8)
def _item(w: _Writer, depth: int) -> _Value | None:
    known = _indexed(w, "list", "int")
    if not known:
        return None
    a = w.recent(known)
    return _Value(f"{a.text}[{_place(w, a)}]", "int", a.item_lo, a.item_hi)


@_entered(_INTS, 6, 4)
def _of_list(w: _Writer, depth: int) -> _Value | None:
    known = w.of("list", "int")
    if not known:
        return None
    a, name = w.recent(known), w.pick(("sum", "max", "min", "sum"))
    if name == "sum":
        if a.hi > 6:
            return None
        return _Value(f"sum({a.text})", "int", min(a.item_lo * a.hi, 0), max(a.item_hi * a.hi, 0))
    if a.lo < 1:
        return _Value(f"{name}({a.text}, default=0)", "int", min(a.item_lo, 0), max(a.item_hi, 0))
    return _Value(f"{name}({a.text})", "int", a.item_lo, a.item_hi)


@_entered(_INTS, 6, 1)
def _of_pair(w: _Writer, depth: int) -> _Value | None:
    known = w.of("pair")
    if not known:
        return None
    a = w.recent(known)
    return _Value(f"{a.text}[{w.below(2)}]", "int", a.item_lo, a.item_hi)


@_entered(_INTS, 6, 1.5)
def _cell(w: _Writer, depth: int) -> _Value | None:
    known = w.of("grid")
    if not known:
        return None
    a = w.recent(known)
    return _Value(f"{a.text}[{w.below(2)}][{w.below(2)}]", "int", a.item_lo, a.item_hi)


@_entered(_INTS, 6, 0.8)
def _sum_over(w: _Writer, depth: int) -> _Value | None:
    known = [v for v in w.of("list", "int") if v.hi <= 5 and v.item_lo >= -99 and v.item_hi <= 99]
    if not known:
        return None
    a, x = w.recent(known), w.pick("xvn")
    if x in w.names:
        return None
    text = w.pick((f"sum({x} * 2 for {x} in {a.text})", f"sum(1 for {x} in {a.text} if {x} > {w.below(9)})"))
    return _Value(text, "int", min(0, 10 * a.item_lo), max(5, 10 * a.item_hi))


@_entered(_INTS, 7, 6)
def _lookup(w: _Writer, depth: int) -> _Value | None:
    known = w.of("dict")
    if not known:
        return None
    a = w.recent(known)
    default = w.between(max(a.item_lo, 0), min(a.item_hi, 3))
    return _Value(f"{a.text}.get({_key(w, a)}, {default})", "int", min(a.item_lo, 0), a.item_hi)


@_entered(_INTS, 7, 1.5)
def _of_dict(w: _Writer, depth: int) -> _Value | None:
    known = [v for v in w.of("dict") if v.hi <= 4 and v.item_hi <= 999]
    if not known:
        return None
    a = w.recent(known)
    return _Value(f"sum({a.text}.values())", "int", min(0, a.item_lo * a.hi), max(0, a.item_hi * a.hi))


@_entered(_INTS, 8, 14)
def _call(w: _Writer, depth: int) -> _Value | None:
    return _called(w, "int")


def _called(w: _Writer, kind: str, own: int | None = None) -> _Value | None:
    """A call of a helper that returns that kind; own: of one that this level brought."""
    if w.calling:
        return None
    known = [f for f in w.functions if f.returns.kind == kind and (own is None or f.level == own)]
    if not known:
        return None
    function = w.pick(known)
    if w.cost + function.cost * w.trips() > _COST:
        return None
    given = function.parameters
    if function.optional and w.chance(0.4):
        given = given[:-1]
    w.calling = True
    found = [_argument_for(w, p) for p in given]
    w.calling = False
    texts = [text for text in found if text is not None]
    if len(texts) < len(found):
        return None
    if len(given) > 1 and w.chance(0.2):
        texts[-1] = f"{given[-1].text}={texts[-1]}"
    w.cost += function.cost * w.trips()
    w.used.add(function.level)
    r = function.returns
    return _Value(f"{function.name}({', '.join(texts)})", kind, r.lo, r.hi)


def _argument_for(w: _Writer, p: _Value) -> str | None:
    if p.kind == "int":
        return w.number_in(p.lo, p.hi).text
    if p.kind == "bool":
        known = w.of("bool")
        return w.recent(known).text if known else w.condition()
    fitting = [
        v
        for v in w.of(p.kind)
        if p.lo <= v.lo
        and v.hi <= p.hi
        and v.items == p.items
        and (not p.items or (p.item_lo <= v.item_lo and v.item_hi <= p.item_hi))
    ]
    if fitting:
        return w.recent(fitting).text
    if p.kind == "str" or p.items == "int":
        return w.argument(p).replace("'", '"')
    return None


def _indices(w: _Writer, a: _Value) -> list[str]:
    """Variables that are indices in a list or text, whatever its length turns out to be."""
    return [v.text for v in w.of("int") if v.indexes == a.text or (v.lo >= 0 and v.hi < a.lo)]


def _indexed(w: _Writer, kind: str, items: str = "") -> list[_Variable]:
    """Lists or texts of which an item can be had."""
    inside = {v.indexes for v in w.of("int")}
    return [v for v in w.of(kind, items) if v.lo >= 1 or v.text in inside]


def _place(w: _Writer, a: _Variable) -> str:
    indices = _indices(w, a)
    if indices and (a.lo < 1 or w.chance(0.6)):
        return str(w.pick(indices))
    return str(w.pick((0, -1, w.below(a.lo))))


# -- texts -----------------------------------------------------------------------------------------


@_entered(_STRINGS, 5, 8)
def _join_two(w: _Writer, depth: int) -> _Value | None:
    a, b = w.string(depth), w.string(0)
    if w.chance(0.3):
        a, b = b, a
    if a.hi + b.hi > _TEXT or (a.text[0] == '"' and b.text[0] == '"'):
        return None
    return _Value(f"{a.at(1)} + {b.at(2)}", "str", a.lo + b.lo, a.hi + b.hi, 1)


def _a_string(w: _Writer) -> _Variable | None:
    known = w.of("str")
    return w.recent(known) if known else None


@_entered(_STRINGS, 5, 5)
def _slice(w: _Writer, depth: int) -> _Value | None:
    a = _a_string(w)
    if a is None:
        return None
    k = w.between(1, 3)
    form = w.below(5)
    if form == 0:
        return _Value(f"{a.text}[{k}:]", "str", max(a.lo - k, 0), max(a.hi - k, 0))
    if form == 1:
        return _Value(f"{a.text}[:{k}]", "str", min(a.lo, k), min(a.hi, k))
    if form == 2:
        return _Value(f"{a.text}[:-{k}]", "str", max(a.lo - k, 0), max(a.hi - k, 0))
    if form == 3:
        return _Value(f"{a.text}[{k}:{k + w.between(1, 3)}]", "str", 0, 3)
    return _Value(f"{a.text}[-{k}:]", "str", min(a.lo, k), min(a.hi, k))


@_entered(_STRINGS, 5, 2)
def _stride(w: _Writer, depth: int) -> _Value | None:
    a = _a_string(w)
    if a is None or a.hi > 10:
        return None
    if w.chance(0.6):
        return _Value(f"{a.text}[::-1]", "str", a.lo, a.hi)
    return _Value(f"{a.text}[::2]", "str", (a.lo + 1) // 2, (a.hi + 1) // 2)


@_entered(_STRINGS, 5, 5)
def _letter_of(w: _Writer, depth: int) -> _Value | None:
    known = _indexed(w, "str")
    if not known:
        return None
    a = w.recent(known)
    return _Value(f"{a.text}[{_place(w, a)}]", "str", 1, 1)


@_entered(_STRINGS, 5, 2)
def _repeat(w: _Writer, depth: int) -> _Value | None:
    a, k = w.string(0), w.between(2, 3)
    if a.hi * k > 12:
        return None
    return _Value(f"{a.at(2)} * {k}", "str", a.lo * k, a.hi * k, 2)


@_entered(_STRINGS, 5, 4)
def _case(w: _Writer, depth: int) -> _Value | None:
    a = _a_string(w)
    if a is None or a.hi > 12:
        return None
    return _Value(
        f"{a.text}.{w.pick(('upper', 'lower', 'upper', 'capitalize', 'title', 'swapcase'))}()",
        "str",
        a.lo,
        a.hi,
    )


@_entered(_STRINGS, 5, 4)
def _replace(w: _Writer, depth: int) -> _Value | None:
    a = _a_string(w)
    if a is None or a.hi > 12:
        return None
    form = w.below(4)
    if form == 0:
        return _Value(f'{a.text}.strip("{w.letter()}")', "str", 0, a.hi)
    old = w.letter()
    if form == 1:
        return _Value(f'{a.text}.replace("{old}", "")', "str", 0, a.hi)
    return _Value(f'{a.text}.replace("{old}", "{w.letter().upper()}")', "str", a.lo, a.hi)


@_entered(_STRINGS, 5, 3)
def _written(w: _Writer, depth: int) -> _Value | None:
    a = w.variable()
    return _Value(f"str({a.text})", "str", 1, len(str(_largest(a))) + (a.lo < 0))


@_entered(_STRINGS, 5, 3)
def _formatted(w: _Writer, depth: int) -> _Value | None:
    parts = w.of("str") + w.of("int")
    if not parts:
        return None
    a, b = w.recent(parts), w.recent(parts)
    high = sum(v.hi if v.kind == "str" else len(str(_largest(v))) + (v.lo < 0) for v in (a, b)) + 1
    if high > _TEXT:
        return None
    return _Value(f'f"{{{a.text}}}{w.pick(("-", ":", "", " "))}{{{b.text}}}"', "str", 0, high)


@_entered(_STRINGS, 5, 2)
def _string_either(w: _Writer, depth: int) -> _Value | None:
    a, b = w.string(0), w.string(0)
    if a.text == b.text:
        return None
    return _Value(f"{a.text} if {w.condition()} else {b.text}", "str", min(a.lo, b.lo), max(a.hi, b.hi), 0)


@_entered(_STRINGS, 5, 1)
def _pad(w: _Writer, depth: int) -> _Value | None:
    if w.chance(0.5):
        a = w.variable()
        if a.lo < 0:
            return None
        return _Value(f"str({a.text}).zfill(3)", "str", 3, max(3, len(str(a.hi))))
    a = w.variable()
    if a.lo < 0 or a.hi > 20:
        return None
    return _Value(f"chr(97 + {a.at(2)})", "str", 1, 1)


@_entered(_STRINGS, 6, 4)
def _join(w: _Writer, depth: int) -> _Value | None:
    known = [v for v in w.of("list", "str") if v.hi * (v.item_hi + 1) <= 2 * _TEXT]
    if not known:
        return None
    a, by = w.recent(known), w.pick(("", "-", ",", " "))
    return _Value(f'"{by}".join({a.text})', "str", 0, a.hi * (a.item_hi + 1))


@_entered(_STRINGS, 6, 4)
def _word_of(w: _Writer, depth: int) -> _Value | None:
    known = [v for v in w.of("list", "str") if v.lo >= 1]
    if not known:
        return None
    a = w.recent(known)
    return _Value(f"{a.text}[{w.pick((0, -1))}]", "str", a.item_lo, a.item_hi)


@_entered(_STRINGS, 8, 8)
def _call_string(w: _Writer, depth: int) -> _Value | None:
    return _called(w, "str")


# -- lists -----------------------------------------------------------------------------------------


def _numbers_list(w: _Writer) -> _Variable | None:
    known = w.of("list", "int")
    return w.recent(known) if known else None


def _like(a: _Value, text: str, low: int, high: int, prec: int = 3) -> _Value:
    return _Value(text, "list", low, high, prec, a.items, a.item_lo, a.item_hi)


@_entered(_LISTS, 6, 5)
def _display(w: _Writer, depth: int) -> _Value | None:
    return w.list_display()


@_entered(_LISTS, 6, 4)
def _list_of_values(w: _Writer, depth: int) -> _Value | None:
    values = [w.small() for _ in range(w.between(1, 4))]
    low, high = min(v.lo for v in values), max(v.hi for v in values)
    n = len(values)
    return _Value(
        f"[{', '.join(v.text for v in values)}]", "list", n, n, 3, "int", min(low, 0), max(high, 99)
    )


@_entered(_LISTS, 6, 4)
def _list_slice(w: _Writer, depth: int) -> _Value | None:
    known = w.of("list")
    if not known:
        return None
    a, k = w.recent(known), w.between(1, 3)
    form = w.below(5)
    if form == 0:
        return _like(a, f"{a.text}[{k}:]", max(a.lo - k, 0), max(a.hi - k, 0))
    if form == 1:
        return _like(a, f"{a.text}[:{k}]", min(a.lo, k), min(a.hi, k))
    if form == 2:
        return _like(a, f"{a.text}[::-1]", a.lo, a.hi)
    if form == 3:
        return _like(a, f"{a.text}[:]", a.lo, a.hi)
    return _like(a, f"{a.text}[::2]", (a.lo + 1) // 2, (a.hi + 1) // 2)


@_entered(_LISTS, 6, 2)
def _concatenate(w: _Writer, depth: int) -> _Value | None:
    a = _numbers_list(w)
    if a is None:
        return None
    b = _numbers_list(w) if w.chance(0.5) else w.list_display(1, 2)
    assert b is not None
    if a.hi + b.hi > _LIST:
        return None
    return _Value(
        f"{a.text} + {b.text}", "list", a.lo + b.lo, a.hi + b.hi, 1, "int",
        min(a.item_lo, b.item_lo), max(a.item_hi, b.item_hi),
    )  # fmt: skip


@_entered(_LISTS, 6, 2)
def _repeated_list(w: _Writer, depth: int) -> _Value | None:
    k, n = w.pick((0, 0, 1)), w.between(2, 4)
    return _Value(f"[{k}] * {n}", "list", n, n, 2, "int", 0, 99)


@_entered(_LISTS, 6, 3)
def _sorted_list(w: _Writer, depth: int) -> _Value | None:
    known = [v for v in w.of("list") if v.hi <= 5]
    if not known:
        return None
    a = w.recent(known)
    return _like(a, f"sorted({a.text}{', reverse=True' if w.chance(0.2) else ''})", a.lo, a.hi)


@_entered(_LISTS, 6, 2)
def _range_list(w: _Writer, depth: int) -> _Value | None:
    k = w.between(2, 5)
    if w.chance(0.4):
        return _Value(f"list(range({k}, 0, -1))", "list", k, k, 3, "int", 0, 99)
    return _Value(f"list(range({k}))", "list", k, k, 3, "int", 0, 99)


def _loop_name(w: _Writer, kind: str) -> str | None:
    """A name for the variable of a comprehension, which must not hide one of the function's."""
    name = str(w.pick(NAMES[kind]))
    return None if name in w.names or name in w.global_names else name


@_entered(_LISTS, 6, 6)
def _comprehension(w: _Writer, depth: int) -> _Value | None:
    a, x = _numbers_list(w), _loop_name(w, "item")
    if a is None or x is None or a.hi > 6 or _largest(_Value("", "int", a.item_lo, a.item_hi)) > 999:
        return None
    if w.chance(0.4):
        test = w.pick(
            (f"{x} > {w.below(10)}", f"{x} % 2 == 0", f"{x} < {w.below(20)}", f"{x} != {w.below(9)}")
        )
        return _like(a, f"[{x} for {x} in {a.text} if {test}]", 0, a.hi)
    k = w.between(2, 5)
    text, low, high = w.pick(
        (
            (f"{x} + {k}", a.item_lo + k, a.item_hi + k),
            (f"{x} - {k}", a.item_lo - k, a.item_hi - k),
            (f"{x} * {k}", min(a.item_lo * k, 0), max(a.item_hi * k, 0)),
            (f"{x} % {k}", 0, k - 1),
        )
    )
    return _Value(f"[{text} for {x} in {a.text}]", "list", a.lo, a.hi, 3, "int", low, high)


@_entered(_LISTS, 6, 1.5)
def _range_comprehension(w: _Writer, depth: int) -> _Value | None:
    i, k, n = _loop_name(w, "loop"), w.between(2, 5), w.between(2, 5)
    if i is None:
        return None
    return _Value(f"[{i} * {k} for {i} in range({n})]", "list", n, n, 3, "int", 0, 99)


@_entered(_LISTS, 6, 3)
def _letters(w: _Writer, depth: int) -> _Value | None:
    known = [v for v in w.of("str") if v.hi <= 6]
    if not known:
        return None
    a = w.recent(known)
    if w.chance(0.6):
        return _Value(f"list({a.text})", "list", a.lo, a.hi, 3, "str", 1, 1)
    return _Value(f'{a.text}.split("{w.letter()}")', "list", 1, a.hi + 1, 3, "str", 0, a.hi)


@_entered(_LISTS, 6, 3)
def _words(w: _Writer, depth: int) -> _Value | None:
    n = w.between(1, 3)
    words = [w.word() for _ in range(n)]
    return _Value(
        f"[{', '.join(f'{chr(34)}{word}{chr(34)}' for word in words)}]", "list", n, n, 3, "str", 0, 5
    )


@_entered(_LISTS, 6, 2)
def _word_comprehension(w: _Writer, depth: int) -> _Value | None:
    known = [v for v in w.of("list", "str") if v.hi <= 4 and v.item_hi <= 6]
    x = _loop_name(w, "char")
    if not known or x is None:
        return None
    a = w.recent(known)
    if w.chance(0.4):
        return _Value(f"[len({x}) for {x} in {a.text}]", "list", a.lo, a.hi, 3, "int", 0, 99)
    return _like(
        a, w.pick((f"[{x}.upper() for {x} in {a.text}]", f"[{x}[::-1] for {x} in {a.text}]")), a.lo, a.hi
    )


@_entered(_LISTS, 7, 4)
def _keys_list(w: _Writer, depth: int) -> _Value | None:
    known = w.of("dict")
    if not known:
        return None
    a = w.recent(known)
    form = w.below(3)
    if form == 0:
        return _Value(f"list({a.text}.values())", "list", a.lo, a.hi, 3, "int", a.item_lo, a.item_hi)
    kind, low, high = ("str", 0, 8) if a.keys == "str" else ("int", 0, 99)
    return _Value(f"{w.pick(('list', 'sorted'))}({a.text})", "list", a.lo, a.hi, 3, kind, low, high)


@_entered(_LISTS, 7, 1.5)
def _set_list(w: _Writer, depth: int) -> _Value | None:
    known = w.of("set")
    if not known:
        return None
    return _Value(f"sorted({w.recent(known).text})", "list", 0, 8, 3, "int", 0, 99)


# -- conditions ------------------------------------------------------------------------------------


@_entered(_CONDITIONS, 1, 10)
def _compare(w: _Writer) -> str | None:
    a = w.variable()
    if a.text.lstrip("-").isdigit():
        return None
    sign = w.pick(("<", ">", "<=", ">=", "==", "!=", "<", ">"))
    low, high = max(a.lo, -20), min(a.hi, 99)
    if high <= low:
        low, high = a.lo, a.hi
    middle = w.between(low, min(high, low + w.pick((5, 10, 20, 120))))
    return f"{a.text} {sign} {middle}"


@_entered(_CONDITIONS, 1, 5)
def _compare_two(w: _Writer) -> str | None:
    a, b = w.variable(), w.variable()
    if a.text == b.text or a.text.lstrip("-").isdigit():
        return None
    return f"{a.text} {w.pick(('<', '>', '<=', '>=', '==', '!='))} {b.text}"


@_entered(_CONDITIONS, 1, 5)
def _divides(w: _Writer) -> str | None:
    a = w.variable()
    by, sign = w.pick((2, 2, 2, 3, 3, 4, 5)), w.pick(("==", "==", "==", "!=", ">"))
    if a.text.lstrip("-").isdigit() or _largest(a) > _dividend(by):
        return None
    return f"{a.text} % {by} {sign} {w.pick((0, 0, 0, 1))}"


@_entered(_CONDITIONS, 1, 2)
def _compare_sum(w: _Writer) -> str | None:
    a = w.number(1)
    if a.prec < 1 or a.lo == a.hi:
        return None
    return (
        f"{a.at(1)} {w.pick(('<', '>', '==', '!=', '<='))} {w.between(max(a.lo, -9), min(max(a.hi, -9), 50))}"
    )


@_entered(_CONDITIONS, 1, 2)
def _flag(w: _Writer) -> str | None:
    known = w.of("bool")
    if not known:
        return None
    return f"{'not ' if w.chance(0.35) else ''}{w.recent(known).text}"


@_entered(_CONDITIONS, 2, 3)
def _both(w: _Writer) -> str | None:
    a, b = _compare(w), w.pick((_compare, _divides, _compare_two, _flag))(w)
    if a is None or b is None or a == b:
        return None
    return f"{a} {w.pick(('and', 'or'))} {b}"


@_entered(_CONDITIONS, 2, 1)
def _not(w: _Writer) -> str | None:
    a = _compare_two(w)
    return None if a is None else f"not {a}"


@_entered(_CONDITIONS, 2, 1.5)
def _chain(w: _Writer) -> str | None:
    a = w.variable()
    if a.text.lstrip("-").isdigit():
        return None
    low = w.between(max(a.lo, -9), max(a.lo, -9) + 5)
    return f"{low} {w.pick(('<', '<='))} {a.text} {w.pick(('<', '<='))} {low + w.between(2, 20)}"


@_entered(_CONDITIONS, 2, 1)
def _nonzero(w: _Writer) -> str | None:
    known = [v for v in w.variables if v.kind in ("int", "str", "list", "dict")]
    return w.recent(known).text if known else None


@_entered(_CONDITIONS, 5, 6)
def _string_test(w: _Writer) -> str | None:
    a = _a_string(w)
    if a is None:
        return None
    form = w.below(8)
    if form == 0:
        return f'"{w.letter()}" in {a.text}'
    if form == 1:
        return f'{a.text} {w.pick(("==", "!="))} "{w.word() if a.hi > 1 else w.letter()}"'
    if form == 2:
        return f'{a.text}.{w.pick(("startswith", "endswith"))}("{w.letter()}")'
    if form == 3:
        return f"len({a.text}) {w.pick(('>', '<', '==', '>='))} {w.between(a.lo, max(a.hi - 1, a.lo))}"
    if form == 4:
        return f"{a.text}.{w.pick(('isdigit', 'isalpha', 'isupper', 'islower'))}()"
    if form == 5:
        return f'{a.text} {"not " if w.chance(0.3) else ""}in "{w.pick(("aeiou", "abc", "xyz", "abcde"))}"'
    if form == 6:
        return f'{a.text} < "{w.letter()}"'
    return f"{a.text} == {a.text}[::-1]" if a.hi <= 8 else None


@_entered(_CONDITIONS, 6, 4)
def _list_test(w: _Writer) -> str | None:
    known = w.of("list")
    if not known:
        return None
    a = w.recent(known)
    form = w.below(3)
    if form == 0:
        return f"len({a.text}) {w.pick(('>', '<', '==', '>='))} {w.between(a.lo, max(a.hi - 1, a.lo))}"
    if a.items == "str":
        strings = w.of("str")
        return f"{w.recent(strings).text if strings else chr(34) + w.word() + chr(34)} in {a.text}"
    return f"{w.small().at(1)} {'not ' if w.chance(0.3) else ''}in {a.text}"


@_entered(_CONDITIONS, 6, 0.8)
def _any_all(w: _Writer) -> str | None:
    a, x = _numbers_list(w), _loop_name(w, "item")
    if a is None or x is None or a.hi > 5:
        return None
    return f"{w.pick(('any', 'all'))}({x} > {w.below(9)} for {x} in {a.text})"


@_entered(_CONDITIONS, 7, 5)
def _key_test(w: _Writer) -> str | None:
    known = w.of("dict") + w.of("set")
    if not known:
        return None
    a = w.recent(known)
    key = _key(w, a) if a.kind == "dict" and a.keys == "str" else w.number_in(0, 7).at(1)
    return f"{key} {'not ' if w.chance(0.3) else ''}in {a.text}"


def _key(w: _Writer, a: _Value) -> str:
    """A key for a dict: a variable or a constant of the type of its keys."""
    if a.keys == "int":
        return w.number_in(0, 9).text
    known = [v for v in w.of("str") if v.hi <= 6]
    if known and w.chance(0.7):
        return w.recent(known).text
    return f'"{w.word() if w.chance(0.3) else w.letter()}"'


# -- statements ------------------------------------------------------------------------------------


def _something(w: _Writer) -> None:
    """A statement that can be written anywhere."""
    if not (_augment(w) or _assign(w)):
        name = w.fresh("int")
        value = w.number()
        w.write(f"{name} = {value.text}")
        w.declare(name, value)


@_entered(_STATEMENTS, 1, 10)
def _new_number(w: _Writer) -> bool:
    if w.crowded():
        return False
    value = w.number() if w.chance(0.9) else w.constant()
    name = w.fresh("int")
    w.write(f"{name} = {value.text}")
    w.declare(name, value)
    return True


@_entered(_STATEMENTS, 1, 6)
def _assign(w: _Writer) -> bool:
    known = w.assignable("int")
    if not known:
        return False
    variable = w.recent(known)
    value = w.number()
    if value.text == variable.text:
        return False
    if not w.fits(variable, value):
        if variable.base_lo > 0 or variable.base_hi < 1:
            return False
        value = w.number_in(max(variable.base_lo, 0), variable.base_hi)
        if value.text == variable.text or not w.fits(variable, value):
            return False
    w.write(f"{variable.text} = {value.text}")
    return True


@_entered(_STATEMENTS, 1, 9)
def _augment(w: _Writer) -> bool:
    known = w.assignable("int")
    if not known:
        return False
    variable = w.recent(known)
    draw = w.random()
    if draw < 0.8:
        value = w.number(w.below(2)) if w.chance(0.5) else w.atom()
        if _largest(value) > 999:
            return False
        sign = w.pick("++-")
        low, high = (value.lo, value.hi) if sign == "+" else (-value.hi, -value.lo)
        if not w.may_grow(variable, low, high, _LIMIT):
            return False
        if w.chance(0.3) and value.prec >= 1:
            w.write(f"{variable.text} = {variable.text} {sign} {value.at(2)}")
        else:
            w.write(f"{variable.text} {sign}= {value.text}")
        return True
    before = _Value(variable.text, "int", variable.lo, variable.hi)
    by = w.between(2, 5)
    result = _product(before, _Value("", "int", by, by)) if draw < 0.9 else None
    if result is not None and w.fits(variable, result):
        w.write(f"{variable.text} *= {by}")
        return True
    if _largest(variable) > _dividend(by):
        return False
    if draw < 0.95:
        if not w.fits(variable, _Value("", "int", before.lo // by, before.hi // by)):
            return False
        w.write(f"{variable.text} //= {by}")
        return True
    by = w.pick((3, 5, 7, 10, 10, 20))
    if _largest(variable) > _dividend(by) or not w.fits(variable, _Value("", "int", 0, by - 1)):
        return False
    w.write(f"{variable.text} %= {by}")
    return True


@_entered(_STATEMENTS, 1, 2)
def _swap(w: _Writer) -> bool:
    known = w.assignable("int")
    if len(known) < 2:
        return False
    a, b = w.recent(known), w.recent(known)
    if a is b:
        return False
    if w.chance(0.5):
        new_a, new_b = _Value(b.text, "int", b.lo, b.hi), _Value(a.text, "int", a.lo, a.hi)
    else:
        total = _sum(a, "+", b)
        if total is None:
            return False
        new_a, new_b = _Value(b.text, "int", b.lo, b.hi), total
    if not (_keeps(a, new_a) and _keeps(b, new_b)):
        return False
    w.fits(a, new_a)
    w.fits(b, new_b)
    w.write(f"{a.text}, {b.text} = {new_a.text}, {new_b.text}")
    return True


def _keeps(variable: _Variable, value: _Value) -> bool:
    return not variable.looped or (variable.base_lo <= value.lo and value.hi <= variable.base_hi)


@_entered(_STATEMENTS, 1, 1.5)
def _two_at_once(w: _Writer) -> bool:
    if w.crowded():
        return False
    first, second = w.number(), w.number(0)
    a, b = w.fresh("int"), w.fresh("int")
    if w.chance(0.3):
        w.write(f"{a} = {b} = {first.text}")
        second = first
    elif w.chance(0.3) and first.lo >= 0 and first.hi <= 999:
        by = w.pick((2, 3, 5, 10))
        w.write(f"{a}, {b} = divmod({first.text}, {by})")
        first, second = _Value("", "int", 0, first.hi // by), _Value("", "int", 0, by - 1)
    else:
        w.write(f"{a}, {b} = {first.text}, {second.text}")
    w.declare(a, first)
    w.declare(b, second)
    return True


@_entered(_STATEMENTS, 1, 2)
def _new_flag(w: _Writer) -> bool:
    if w.crowded():
        return False
    text = w.condition()
    name = w.fresh("bool")
    w.write(f"{name} = {text}" if not text.isidentifier() else f"{name} = not {text}")
    w.declare(name, _Value(name, "bool"))
    return True


@_entered(_STATEMENTS, 1, 1)
def _new_half(w: _Writer) -> bool:
    if w.crowded():
        return False
    known = w.of("float")
    if known and w.chance(0.5):
        a = w.recent(known)
        text, low, high = w.pick(
            (
                (f"{a.text} + 0.5", a.lo, a.hi + 1),
                (f"{a.text} * 2", 2 * a.lo - 2, 2 * a.hi + 2),
                (f"{a.text} - 1", a.lo - 1, a.hi),
            )
        )
    else:
        b = w.variable()
        if b.text.lstrip("-").isdigit():
            return False
        text, low, high = w.pick(
            ((f"{b.text} / 2", b.lo // 2, b.hi // 2 + 1), (f"{b.text} * 0.5", b.lo // 2, b.hi // 2 + 1))
        )
    if max(abs(low), abs(high)) > 999:
        return False
    name = w.fresh("float")
    w.write(f"{name} = {text}")
    w.declare(name, _Value(name, "float", low, high))
    return True


@_entered(_STATEMENTS, 2, 12)
def _if(w: _Writer) -> bool:
    if w.indent > 4 or w.cost > _COST or w.room < 3:
        return False
    w.write(f"if {w.condition()}:")
    w.branch()
    while w.room > 2 and w.chance(0.2):
        w.write(f"elif {w.condition()}:")
        w.branch()
    if w.room > 1 and w.chance(0.5):
        w.write("else:")
        w.branch()
    return True


@_entered(_STATEMENTS, 2, 1.2)
def _assign_in_both(w: _Writer) -> bool:
    """A variable that both branches make."""
    if w.indent > 3 or w.room < 4:
        return False
    condition = w.condition()
    a, b = w.number(), w.number()
    name = w.fresh("int")
    w.write(f"if {condition}:")
    w.indent += 1
    w.write(f"{name} = {a.text}")
    w.indent -= 1
    w.write("else:")
    w.indent += 1
    w.write(f"{name} = {b.text}")
    w.indent -= 1
    w.declare(name, _Value(name, "int", min(a.lo, b.lo), max(a.hi, b.hi)))
    return True


@_entered(_STATEMENTS, 2, 1)
def _return_early(w: _Writer) -> bool:
    return _early_return(w)


def _early_return(w: _Writer) -> bool:
    if w.indent > 3 or w.finishing:
        return False
    w.write(f"if {w.condition()}:")
    w.indent += 1
    w.write_return()
    w.indent -= 1
    return True


@_entered(_STATEMENTS, 3, 20)
def _loop(w: _Writer) -> bool:
    deepest = 1 if w.level < 4 else 2 if w.chance(0.97) else 3
    if len(w.loops) >= deepest or w.indent > 4 or w.cost > _COST or (w.helper and w.loops) or w.room < 3:
        return False
    own, write = w.draw("loop")
    nested = bool(w.loops)
    if not write(w):
        return False
    w.used.add(own)
    if nested:
        w.used.add(4)
    return True


@_entered(_STATEMENTS, 4, 10)
def _nested_loop(w: _Writer) -> bool:
    return _loop(w) if len(w.loops) == 1 else False


@_entered(_STATEMENTS, 3, 4)
def _leave(w: _Writer) -> bool:
    if not w.loops or w.finishing or w.indent > 4:
        return False
    word = w.pick(w.jumps[-1])
    w.write(f"if {w.condition()}:")
    w.indent += 1
    w.write(word)
    w.indent -= 1
    return True


@_entered(_STATEMENTS, 5, 8)
def _new_string(w: _Writer) -> bool:
    if w.crowded():
        return False
    value = w.string()
    name = w.fresh("str")
    w.write(f"{name} = {value.text}")
    w.declare(name, value)
    return True


@_entered(_STATEMENTS, 5, 6)
def _assign_string(w: _Writer) -> bool:
    known = w.growable("str")
    if not known:
        return False
    variable, value = w.recent(known), w.string()
    if value.text == variable.text or not w.fits(variable, value):
        return False
    w.write(f"{variable.text} = {value.text}")
    return True


@_entered(_STATEMENTS, 5, 7)
def _extend_string(w: _Writer) -> bool:
    known = w.growable("str")
    if not known:
        return False
    variable, value = w.recent(known), w.string(w.below(2))
    if value.hi > 6 or not w.may_grow(variable, value.lo, value.hi, _TEXT):
        return False
    form = w.below(3)
    if form == 0 and value.prec >= 1:
        w.write(f"{variable.text} = {value.at(1)} + {variable.text}")
    elif form == 1 and value.prec >= 1:
        w.write(f"{variable.text} = {variable.text} + {value.at(2)}")
    else:
        w.write(f"{variable.text} += {value.text}")
    return True


@_entered(_STATEMENTS, 6, 8)
def _new_list(w: _Writer) -> bool:
    if w.crowded():
        return False
    for _ in range(4):
        own, make = w.draw("list")
        value: _Value | None = make(w, 1)
        if value is not None and value.hi <= _LIST:
            w.used.add(own)
            name = w.fresh("list" if value.items == "int" else "strs")
            w.write(f"{name} = {value.text}")
            w.declare(name, value)
            return True
    return False


@_entered(_STATEMENTS, 6, 8)
def _append(w: _Writer) -> bool:
    known = w.growable("list")
    if not known:
        return False
    a = w.recent(known)
    if a.items == "str":
        item = w.string(w.below(2))
        if item.lo < a.item_lo or item.hi > a.item_hi:
            return False
    else:
        item = w.number_in(a.item_lo, a.item_hi)
    if not w.may_grow(a, 1, 1, _LIST):
        return False
    form = w.below(8)
    if form == 0:
        w.write(f"{a.text}.insert(0, {item.text})")
    elif form == 1:
        w.write(f"{a.text} += [{item.text}]")
    elif form == 2:
        w.write(f"{a.text}.extend([{item.text}])")
    else:
        w.write(f"{a.text}.append({item.text})")
    return True


@_entered(_STATEMENTS, 6, 6)
def _set_item(w: _Writer) -> bool:
    known = [v for v in _indexed(w, "list", "int") if not (w.helper and v.locked)]
    if not known:
        return False
    a = w.recent(known)
    at = _place(w, a)
    if not w.loops and w.chance(0.3) and a.item_hi < 900:
        by = w.between(1, 9)
        a.item_hi += by
        w.write(f"{a.text}[{at}] += {by}")
        return True
    item = w.number_in(a.item_lo, a.item_hi)
    if item.text == f"{a.text}[{at}]":
        return False
    w.write(f"{a.text}[{at}] = {item.text}")
    return True


@_entered(_STATEMENTS, 6, 1.5)
def _swap_items(w: _Writer) -> bool:
    known = [v for v in w.of("list") if v.lo >= 2]
    if not known:
        return False
    a = w.recent(known).text
    w.write(f"{a}[0], {a}[-1] = {a}[-1], {a}[0]")
    return True


@_entered(_STATEMENTS, 6, 4)
def _change_list(w: _Writer) -> bool:
    known = w.growable("list")
    if not known:
        return False
    a = w.recent(known)
    if a.hi <= 5 and w.chance(0.4):
        w.write(f"{a.text}.{w.pick(('reverse()', 'sort()', 'sort()'))}")
        return True
    if a.looped and a.base_lo > 0:
        return False
    kept = not a.looped
    if kept and a.lo >= 1:  # it cannot be empty
        w.write(f"{a.text}.pop({w.pick(('', '0'))})" if w.chance(0.7) else f"del {a.text}[{w.pick((0, -1))}]")
        w.may_grow(a, -1, -1, _LIST)
        return True
    if w.indent > 4:
        return False
    form = w.below(3)
    if form == 0 and a.items == "int":
        n = w.between(max(a.item_lo, 0), min(a.item_hi, 9))
        w.write(f"if {n} in {a.text}:")
        text = f"{a.text}.remove({n})"
    else:
        w.write(f"if {a.text}:")
        text = f"{a.text}.pop({w.pick(('', '0'))})"
    w.indent += 1
    w.write(text)
    w.indent -= 1
    if kept:
        a.lo = max(a.lo - 1, 0)
    return True


@_entered(_STATEMENTS, 6, 1.5)
def _take_item(w: _Writer) -> bool:
    if w.crowded():
        return False
    known = [v for v in w.growable("list", "int") if v.lo >= 1 and not v.looped]
    if not known or w.loops:
        return False
    a = w.recent(known)
    name = w.fresh("int")
    w.write(f"{name} = {a.text}.pop({w.pick(('', '', '0'))})")
    w.declare(name, _Value(name, "int", a.item_lo, a.item_hi))
    w.may_grow(a, -1, -1, _LIST)
    return True


@_entered(_STATEMENTS, 6, 1.5)
def _slice_assign(w: _Writer) -> bool:
    known = [v for v in w.of("list", "int") if v.lo >= 2 and v.item_lo <= 0 and v.item_hi >= 9]
    if not known or w.helper:
        return False
    a = w.recent(known)
    w.write(f"{a.text}[:2] = [{w.below(9)}, {w.below(9)}]")
    return True


@_entered(_STATEMENTS, 6, 2)
def _unpack_list(w: _Writer) -> bool:
    if w.crowded():
        return False
    known = [v for v in w.of("list", "int") if v.lo >= 2 and not v.looped]
    if not known:
        return False
    a = w.recent(known)
    first, rest = w.fresh("int"), w.fresh("list")
    w.write(f"{first}, *{rest} = {a.text}")
    w.declare(first, _Value(first, "int", a.item_lo, a.item_hi))
    w.declare(rest, _like(a, rest, a.lo - 1, a.hi - 1))
    return True


@_entered(_STATEMENTS, 6, 2)
def _new_pair(w: _Writer) -> bool:
    if w.crowded():
        return False
    known = w.of("pair")
    if known and w.chance(0.5):
        pair = w.recent(known)
        a_name, b_name = w.fresh("int"), w.fresh("int")
        w.write(f"{a_name}, {b_name} = {pair.text}")
        for part in (a_name, b_name):
            w.declare(part, _Value(part, "int", pair.item_lo, pair.item_hi))
        return True
    a, b = w.number(), w.atom()
    name = w.fresh("pair")
    w.write(f"{name} = ({a.text}, {b.text})")
    w.declare(name, _Value(name, "pair", 2, 2, 3, "int", min(a.lo, b.lo), max(a.hi, b.hi)))
    return True


@_entered(_STATEMENTS, 6, 1.5)
def _new_grid(w: _Writer) -> bool:
    if w.crowded():
        return False
    name = w.fresh("grid")
    if w.chance(0.4):
        i = _loop_name(w, "loop")
        if i is None:
            return False
        w.write(f"{name} = [[0] * 2 for {i} in range(2)]")
    else:
        a, b, c, d = (w.below(10) for _ in range(4))
        w.write(f"{name} = [[{a}, {b}], [{c}, {d}]]")
    w.declare(name, _Value(name, "grid", 2, 2, 3, "int", -99, 999))
    return True


@_entered(_STATEMENTS, 6, 2)
def _set_cell(w: _Writer) -> bool:
    known = w.of("grid")
    if not known:
        return False
    a = w.recent(known)
    w.write(f"{a.text}[{w.below(2)}][{w.below(2)}] = {w.number_in(a.item_lo, a.item_hi).text}")
    return True


@_entered(_STATEMENTS, 6, 1)
def _second_name(w: _Writer) -> bool:
    """Two names for one list: neither may change its length from now on."""
    if w.crowded():
        return False
    known = [v for v in w.of("list", "int") if not v.looped and v.depth == len(w.loops)]
    if not known or w.branches:
        return False
    a = w.recent(known)
    name = w.fresh("list")
    w.write(f"{name} = {a.text}")
    a.locked = True
    w.declare(name, _like(a, name, a.lo, a.hi)).locked = True
    return True


@_entered(_STATEMENTS, 7, 6)
def _new_dict(w: _Writer) -> bool:
    if w.crowded():
        return False
    name = w.fresh("dict")
    keys = w.pick(("str", "str", "int"))
    n = w.pick((0, 0, 1, 2, 3))
    known = [v for v in w.of("list", "int") if v.hi <= 4]
    text = _loop_name(w, "item")
    if known and text is not None and w.chance(0.2):
        a = w.recent(known)
        if a.item_lo >= 0 and a.item_hi <= 99:
            w.write(f"{name} = {{{text}: {text} * 2 for {text} in {a.text}}}")
            w.declare(name, _Value(name, "dict", 0, a.hi, 3, "int", 0, 999, "int"))
            return True
    parts = {
        (f'"{w.word()}"' if keys == "str" else str(w.below(10))): w.literal(0, 20).text for _ in range(n)
    }
    w.write(f"{name} = {{{', '.join(f'{k}: {v}' for k, v in parts.items())}}}")
    w.declare(name, _Value(name, "dict", len(parts), len(parts), 3, "int", 0, 999, keys))
    return True


@_entered(_STATEMENTS, 7, 9)
def _set_key(w: _Writer) -> bool:
    known = w.growable("dict")
    if not known:
        return False
    a = w.recent(known)
    if not w.may_grow(a, 0, 1, _KEYS):
        return False
    key = _key(w, a)
    form = w.below(5)
    if form == 0 and a.looped is False and w.chance(0.5):
        w.write(f"{a.text}.setdefault({key}, {w.below(10)})")
    elif form <= 2:
        # What a loop counts is far less than the 99 that are kept free for it.
        w.write(f"{a.text}[{key}] = {a.text}.get({key}, 0) + {w.pick((1, 1, 1, 2))}")
    else:
        w.write(f"{a.text}[{key}] = {w.number_in(0, 900).text}")
    return True


@_entered(_STATEMENTS, 7, 3)
def _change_dict(w: _Writer) -> bool:
    known = w.growable("dict")
    if not known or w.indent > 4:
        return False
    a = w.recent(known)
    if a.looped and a.base_lo > 0:
        return False
    key = _key(w, a) if a.keys == "str" else str(w.below(10))
    form = w.below(3)
    if form == 0:
        w.write(f"{a.text}.pop({key}, None)")
    else:
        w.write(f"if {key} in {a.text}:")
        w.indent += 1
        w.write(f"del {a.text}[{key}]" if form == 1 else f"{a.text}[{key}] = {w.below(10)}")
        w.indent -= 1
    if not a.looped:
        a.lo = 0
    return True


@_entered(_STATEMENTS, 7, 3)
def _new_set(w: _Writer) -> bool:
    if w.crowded():
        return False
    name = w.fresh("set")
    form = w.below(3)
    known = [v for v in w.of("list", "int") if v.item_lo >= 0 and v.item_hi <= 7]
    if form == 0:
        w.write(f"{name} = set()")
    elif form == 1 and known:
        w.write(f"{name} = set({w.recent(known).text})")
    else:
        low = w.below(3)
        w.write(f"{name} = {{{low}, {low + w.between(1, 4)}}}")
    w.declare(name, _Value(name, "set", 0, 8, 3, "int", 0, 7))
    return True


@_entered(_STATEMENTS, 7, 5)
def _change_set(w: _Writer) -> bool:
    known = [v for v in w.of("set") if not v.locked]
    if not known:
        return False
    a = w.recent(known)
    item = w.number_in(0, 7).text
    w.write(f"{a.text}.{w.pick(('add', 'add', 'add', 'discard'))}({item})")
    return True


@_entered(_STATEMENTS, 7, 1)
def _combine_sets(w: _Writer) -> bool:
    if w.crowded():
        return False
    known = w.of("set")
    if not known:
        return False
    a, b = w.recent(known), w.below(5)
    name = w.fresh("set")
    w.write(f"{name} = {a.text} {w.pick('|&-')} {{{b}, {b + w.between(1, 3)}}}")
    w.declare(name, _Value(name, "set", 0, 8, 3, "int", 0, 7))
    return True


@_entered(_STATEMENTS, 8, 10)
def _call_statement(w: _Writer) -> bool:
    if w.crowded():
        return False
    kind = w.pick(("int", "int", "str"))
    value = _called(w, kind)
    if value is None:
        return False
    name = w.fresh(kind)
    w.write(f"{name} = {value.text}")
    w.declare(name, value)
    return True


@_entered(_STATEMENTS, 9, 20)
def _call_recursive(w: _Writer) -> bool:
    kind = w.pick(("int", "int", "str"))
    value = _called(w, kind, 9)
    if value is None:
        return False
    name = w.fresh(kind)
    w.write(f"{name} = {value.text}")
    w.declare(name, value)
    return True


# -- recursion -------------------------------------------------------------------------------------


def _define_recursive(w: _Writer) -> None:
    """A function that calls itself, a few times, on something smaller."""
    n, m, xs, s = (
        w.pick("nkm"),
        w.pick("xyab"),
        w.pick(("xs", "items", "values")),
        w.pick(("s", "text", "word")),
    )
    acc, rest = w.pick(("total", "acc", "result")), w.pick(("rest", "below", "got", "part"))
    taken = {n, m, xs, s, acc, rest, "i", "sum", *w.global_names}
    f = str(w.pick([name for name in (*HELPERS, *SHORT, *VERBS) if name not in taken]))
    w.global_names.add(f)
    k, c = w.between(1, 5), w.below(4)
    parameters: tuple[_Value, ...]
    number, few = _Value(n, "int", 0, 5), _Value(m, "int", 0, 20)
    digits = _Value(n, "int", 0, 999)
    numbers = _Value(xs, "list", 0, 4, 3, "int", 0, 20)
    word = _Value(s, "str", 0, 5)
    form = w.below(13)
    returns = _Value("", "int", -99, 6000)
    if form == 0:
        more = w.pick((n, k, f"{n} * {k}"))
        text = f"({n}):|if {n} {w.pick(('== 0', '<= 0', '< 1'))}:|    return {c}|return {f}({n} - 1) + {more}"
        parameters = (number,)
    elif form == 1:
        more = w.pick((n, k, f"{n} * 2"))
        text = f"({n}, {acc}):|if {n} == 0:|    return {acc}|return {f}({n} - 1, {acc} + {more})"
        parameters = (number, _Value(acc, "int", 0, 20))
    elif form == 2:
        empty = w.pick((f"not {xs}", f"len({xs}) == 0", f"{xs} == []"))
        text = f"({xs}):|if {empty}:|    return {c}|return {xs}[0] + {f}({xs}[1:])"
        parameters = (numbers,)
    elif form == 3:
        empty = w.pick((f"not {s}", f"len({s}) == 0"))
        turned = w.pick((f"{f}({s}[1:]) + {s}[0]", f"{s}[-1] + {f}({s}[:-1])"))
        text = f'({s}):|if {empty}:|    return ""|return {turned}'
        parameters, returns = (word,), _Value("", "str", 0, 5)
    elif form == 4:
        text = f"({n}, {m}):|if {m} == 0:|    return {n}|return {f}({m}, {n} % {m})"
        parameters, returns = (_Value(n, "int", 0, 99), _Value(m, "int", 0, 99)), _Value("", "int", 0, 99)
    elif form == 5:
        text = f"({n}):|if {n} < 10:|    return {n}|return {n} % 10 + {f}({n} // 10)"
        parameters, returns = (digits,), _Value("", "int", 0, 27)
    elif form == 6:
        text = f"({n}):|if {n} < 2:|    return {w.pick((n, 1))}|return {f}({n} - 1) + {f}({n} - 2)"
        parameters, returns = (_Value(n, "int", 0, 4),), _Value("", "int", 0, 8)
    elif form == 7:
        more = w.pick((1, f"{n} % 2"))
        text = f"({n}):|if {n} <= 1:|    return {c}|{rest} = {f}({n} // 2)|return {rest} + {more}"
        parameters, returns = (_Value(n, "int", 0, 99),), _Value("", "int", 0, 20)
    elif form == 8:
        text = (
            f"({xs}, i):|if i == len({xs}):|    return {c}|{rest} = {f}({xs}, i + 1)|"
            f"if {xs}[i] > {k}:|    {rest} += {w.pick((1, f'{xs}[i]'))}|return {rest}"
        )
        parameters = (numbers, _Value("i", "int", 0, 0))
    elif form == 9:
        text = f"({n}):|if {n} == 0:|    return 1|{rest} = {f}({n} - 1)|return {w.pick((2, 3, n))} * {rest}"
        parameters, returns = (number,), _Value("", "int", 1, 243)
    elif form == 10:
        more = w.pick((f'"{w.letter()}"', f"{s}[:1]"))
        text = f"({s}, {n}):|if {n} == 0 or len({s}) > 6:|    return {s}|return {f}({s} + {more}, {n} - 1)"
        parameters, returns = (word, number), _Value("", "str", 0, 10)
    elif form == 11:
        text = (
            f"({n}):|if {n} <= {c}:|    return {n}|if {n} % 2 == 0:|    return {f}({n} // 2)|"
            f"return {f}({n} - {w.pick((1, 3))}) + 1"
        )
        parameters, returns = (_Value(n, "int", 0, 40),), _Value("", "int", -9, 40)
    else:
        text = (
            f"({n}, {m}):|if {n} <= 0:|    return {m}|if {m} > {k * 4}:|    return {f}({n} - 1, {m} - {k})|"
            f"return {f}({n} - 2, {m} + {w.pick((1, n))})"
        )
        parameters, returns = (number, few), _Value("", "int", -20, 60)
    head, *body = text.split("|")
    lines = (f"def {f}{head}", *(f"    {line}" for line in body))
    w.functions.append(_Function(f, parameters, returns, 25, level=9, lines=lines))


# -- exceptions ------------------------------------------------------------------------------------


def _handled(w: _Writer, body: str, kinds: tuple[str, ...], name: str, value: _Value, other: int) -> bool:
    """try: body, which binds name; except: another value for it; sometimes with else or finally."""
    w.write("try:")
    w.indent += 1
    w.write(body)
    w.indent -= 1
    caught = w.pick(kinds)
    bound = w.chance(0.2)
    w.write(f"except {caught} as error:" if bound else f"except {caught}:")
    w.indent += 1
    w.write(f"{name} = {'len(error.args)' if bound and w.chance(0.7) else other}")
    w.indent -= 1
    w.declare(name, _Value(name, "int", min(value.lo, other, 0), max(value.hi, other, 1)))
    if w.chance(0.15):
        w.write("else:")
        w.branch(1)
    if w.chance(0.2):
        _finally(w)
    return True


def _too_deep(w: _Writer) -> bool:
    return w.indent > (3 if w.chance(0.35) else 1)


def _finally(w: _Writer) -> None:
    w.write("finally:")
    finishing, w.finishing = w.finishing, True
    w.branch(1)
    w.finishing = finishing


@_entered(_STATEMENTS, 10, 8)
def _try_divide(w: _Writer) -> bool:
    a, b = w.small(), w.small()
    if _too_deep(w) or b.lo > 0 or b.hi < 0 or b.text.lstrip("-").isdigit():
        return False
    name = w.fresh("int")
    sign = w.pick(("//", "//", "%"))
    bound = max(_largest(a), _largest(b))
    kinds = ("ZeroDivisionError", "ZeroDivisionError", "ArithmeticError", "(ZeroDivisionError, ValueError)")
    return _handled(
        w,
        f"{name} = {a.at(2)} {sign} {b.at(3)}",
        kinds,
        name,
        _Value("", "int", -bound, bound),
        w.between(-1, 9),
    )


@_entered(_STATEMENTS, 10, 8)
def _try_item(w: _Writer) -> bool:
    known = w.of("list", "int")
    if _too_deep(w) or not known:
        return False
    a = w.recent(known)
    name = w.fresh("int")
    indices = [v for v in w.of("int") if v.lo >= 0 and v.hi < 100]
    at = w.recent(indices).text if indices and w.chance(0.7) else str(w.between(0, max(a.hi, 1)))
    return _handled(
        w, f"{name} = {a.text}[{at}]", ("IndexError", "IndexError", "LookupError", "Exception"), name,
        _Value("", "int", a.item_lo, a.item_hi), w.between(-1, 9),
    )  # fmt: skip


@_entered(_STATEMENTS, 10, 6)
def _try_key(w: _Writer) -> bool:
    known = w.of("dict")
    if _too_deep(w) or not known:
        return False
    a = w.recent(known)
    key, name = _key(w, a), w.fresh("int")
    return _handled(
        w, f"{name} = {a.text}[{key}]", ("KeyError", "KeyError", "LookupError"), name,
        _Value("", "int", a.item_lo, a.item_hi), w.between(-1, 9),
    )  # fmt: skip


@_entered(_STATEMENTS, 10, 6)
def _try_number(w: _Writer) -> bool:
    known = [v for v in w.of("str") if v.hi <= 3]
    if _too_deep(w):
        return False
    text = w.recent(known).text if known else w.pick(('"7"', '"x"', '"12"', '"4a"', '""'))
    name = w.fresh("int")
    return _handled(
        w, f"{name} = int({text})", ("ValueError", "ValueError", "(ValueError, TypeError)"), name,
        _Value("", "int", -99, 999), w.between(-1, 9),
    )  # fmt: skip


@_entered(_STATEMENTS, 10, 5)
def _try_raise(w: _Writer) -> bool:
    if _too_deep(w):
        return False
    kind = w.pick(("ValueError", "ValueError", "KeyError", "RuntimeError", "TypeError"))
    name = w.fresh("int")
    value = w.number()
    other = w.between(-1, 9)
    w.write("try:")
    w.indent += 1
    w.write(f"if {w.condition()}:")
    w.indent += 1
    w.write(f'raise {kind}("{w.pick(MESSAGES)}")')
    w.indent -= 1
    w.write(f"{name} = {value.text}")
    w.indent -= 1
    bound = w.chance(0.3)
    w.write(f"except {kind}{' as error' if bound else ''}:")
    w.indent += 1
    w.write(f"{name} = {'len(str(error))' if bound else other}")
    w.indent -= 1
    w.declare(name, _Value(name, "int", min(value.lo, -1), max(value.hi, 20)))
    return True


@_entered(_STATEMENTS, 10, 3)
def _risk(w: _Writer) -> bool:
    """What may raise, with nothing round it."""
    if w.crowded():
        return False
    name = w.fresh("int")
    lists, dicts = w.of("list", "int"), w.of("dict")
    form = w.below(3)
    if form == 0 and lists:
        a = w.recent(lists)
        text, low, high = f"{a.text}[{w.between(0, max(a.hi - 1, 0))}]", a.item_lo, a.item_hi
    elif form == 1 and dicts:
        a = w.recent(dicts)
        text, low, high = f"{a.text}[{_key(w, a)}]", a.item_lo, a.item_hi
    else:
        divisors = [v for v in w.of("int") if v.lo <= 0 <= v.hi <= 20]
        number = w.small()
        if not divisors or number.text[0].isdigit():
            return False
        sign, by = w.pick(("//", "%")), w.recent(divisors)
        if number.text == by.text:
            return False
        high = max(_largest(number), _largest(by))
        text, low = f"{number.at(2)} {sign} {by.at(3)}", -high
    w.write(f"{name} = {text}")
    w.declare(name, _Value(name, "int", low, high))
    return True


@_entered(_STATEMENTS, 10, 3)
def _raise(w: _Writer) -> bool:
    """Leaves the function, in a few calls in a hundred."""
    if w.indent > 3:
        return False
    known = [v for v in w.of("int") if v.lo <= 0 and v.hi > 3]
    if not known:
        return False
    a = w.recent(known)
    kind = w.pick(("ValueError", "ValueError", "KeyError", "RuntimeError"))
    if w.chance(0.25):
        w.write(
            f"assert {a.text} != {w.between(0, 5)}" + (f', "{w.pick(MESSAGES)}"' if w.chance(0.5) else "")
        )
        return True
    test = f"{a.text} < 0" if a.lo < 0 else f"{a.text} == {w.between(0, min(a.hi, 5))}"
    w.write(f"if {test}:")
    w.indent += 1
    w.write(f'raise {kind}("{w.pick(MESSAGES)}")' if w.chance(0.85) else f"raise {kind}")
    w.indent -= 1
    return True


@_entered(_STATEMENTS, 10, 3)
def _try_loop(w: _Writer) -> bool:
    """A try round whatever comes, with the exception that comes least."""
    if _too_deep(w):
        return False
    w.write("try:")
    w.branch()
    if w.chance(0.5):
        w.write("except ValueError:")
        w.branch(1)
        if w.chance(0.4):
            _finally(w)
    else:
        _finally(w)
    return True


# -- loops -----------------------------------------------------------------------------------------


def _loop_body(
    w: _Writer,
    header: str,
    trips: int,
    *,
    made: tuple[_Value, ...] = (),
    last: str = "",
    leave: bool = True,
    locked: tuple[_Variable, ...] = (),
    other: bool = True,
) -> bool:
    """A loop: what it may assign to is widened first. made: variables that its header binds. last: the line
    that ends each round, which nothing may jump over."""
    targets = _targets(w, locked)
    before = [(v, v.depth, v.looped, v.growth, v.since, v.base_lo, v.base_hi) for v in targets]
    depth = len(w.loops)
    nested = depth > 0
    for v in targets:
        _widen(v, depth, signed=w.chance(0.4))
    kept = [(v, v.locked) for v in locked]
    for v in locked:
        v.locked = True
    w.write(header)
    w.loops.append(trips)
    w.jumps.append(("break", "break", "continue") if leave else ("break",))
    seen = len(w.variables)
    for value in made:
        w.declare(value.text, value)
    w.indent += 1
    branches, w.branches = w.branches, 0
    length = len(w.lines)
    _work(w, targets, made)
    if w.level == 4 and not nested and w.chance(0.75):
        _loop(w)
    for _ in range(w.pick((0, 0, 1, 1, 1, 2))):
        if w.cost < _COST and w.room > -2:
            w.statement()
    if len(w.lines) == length:
        _something(w)
    if last:
        w.write(last)
    w.branches = branches
    w.indent -= 1
    del w.variables[seen:]
    w.loops.pop()
    w.jumps.pop()
    for v, was in kept:
        v.locked = was
    for v, was_depth, was_looped, growth, since, base_lo, base_hi in before:
        v.depth, v.since = was_depth, since
        if was_looped:
            v.base_lo, v.base_hi = base_lo, base_hi
        else:
            v.looped, v.growth = False, growth
    if other and leave and w.chance(0.04):
        w.write("else:")
        w.room = min(w.room, 2)  # no loop: it would stand in this one, as the text has it
        w.branch(1)
    return True


def _targets(w: _Writer, locked: tuple[_Variable, ...]) -> list[_Variable]:
    """One to three variables that the loop may assign to; where there are none, one is made before it."""
    known = [
        v
        for kind in ("int", "str", "list", "dict")
        for v in w.assignable(kind)
        if v not in locked and not v.locked and not (kind == "int" and _largest(v) > 999)
    ]
    chosen = []
    for _ in range(w.pick((0, 1, 1, 2))):
        if known:
            chosen.append(known.pop(w.below(len(known))))
    if not chosen or w.chance(0.5):
        kinds = ["int", "int", "int"]
        kinds += ["str"] * 2 * (w.level >= 5) + ["list"] * 2 * (w.level >= 6) + ["dict"] * 2 * (w.level >= 7)
        kind = w.pick(kinds)
        if w.loops and w.chance(0.5):
            kind = "int"
        name = w.fresh(kind)
        if kind == "int":
            n = w.pick((0, 0, 0, 1, 1, w.below(20)))
            w.write(f"{name} = {n}")
            value = _Value(name, "int", n, n)
        elif kind == "str":
            w.write(f'{name} = ""')
            value = _Value(name, "str", 0, 0)
        elif kind == "list":
            w.write(f"{name} = []")
            value = _Value(name, "list", 0, 0, 3, "int", w.pick((0, 0, -99)), w.pick((99, 99, 999)))
        else:
            w.write(f"{name} = {{}}")
            value = _Value(name, "dict", 0, 0, 3, "int", 0, 999, w.pick(("str", "str", "int")))
        chosen.append(w.declare(name, value))
    return chosen


def _widen(v: _Variable, depth: int, signed: bool) -> None:
    """From here on `v` may be assigned to in the loop that begins, within bounds that its rounds
    cannot leave. signed: whether a number may get below zero that was not."""
    v.indexes = ""
    if not v.looped:
        v.since = depth
        v.looped = True
        if v.kind == "int":
            v.base_lo, v.base_hi = min(v.lo, 0), max(v.hi, 99)
            v.growth = _GROWTH
            v.lo, v.hi = v.base_lo - (v.growth if v.lo < 0 or signed else 0), v.base_hi + v.growth
        else:
            most = {"list": _LIST, "str": _TEXT, "dict": _KEYS}[v.kind]
            v.base_lo, v.base_hi = 0, v.hi
            v.growth = max(most - v.hi, 0)
            v.lo, v.hi = 0, v.hi + v.growth
    v.depth = depth + 1


def _work(w: _Writer, targets: list[_Variable], made: tuple[_Value, ...]) -> None:
    """Something done to a target in each round, so that the loop is for something."""
    v = w.pick(targets)
    for _ in range(4):
        if v.kind == "int":
            done = _accumulate(w, v, made)
        elif v.kind == "str":
            done = _extend_string(w)
        elif v.kind == "list":
            done = _append(w)
        else:
            done = _set_key(w)
        if done:
            return


def _accumulate(w: _Writer, v: _Variable, made: tuple[_Value, ...]) -> bool:
    draw = w.random()
    own = [value for value in made if value.kind == "int"]
    if draw < 0.15:
        modulus = w.pick((7, 10, 10, 50, 100))
        k = w.between(2, 5)
        value = _product(_Value(v.text, "int", v.lo, v.hi), _Value(str(k), "int", k, k))
        if value is not None and modulus - 1 <= v.base_hi:
            w.write(f"{v.text} = ({value.text} + {w.atom().at(1)}) % {modulus}")
            return True
    value = w.pick(own) if own and w.chance(0.5) else w.number() if draw < 0.5 else w.atom()
    if value.text == v.text or _largest(value) > 99 * (1 + 9 * (w.trips() <= 4)):
        return False
    minus = draw > 0.85 and v.lo < 0
    if value.lo < 0 and v.lo >= 0:  # the interval that was promised has no room below
        return False
    low, high = (-value.hi, -value.lo) if minus else (value.lo, value.hi)
    if not w.may_grow(v, low, high, _LIMIT):
        return False
    if w.chance(0.25) and value.prec >= 1:
        w.write(f"{v.text} = {v.text} {'-' if minus else '+'} {value.at(2)}")
    else:
        w.write(f"{v.text} {'-' if minus else '+'}= {value.text}")
    return True


def _allowed(w: _Writer, trips: int) -> bool:
    return w.trips() * trips <= _TRIPS


@_entered(_LOOPS, 3, 16)
def _for_range(w: _Writer) -> bool:
    form = w.below(5)
    known = [v for v in w.of("int") if v.hi <= 9 and v.hi >= 1]
    name = w.fresh("loop")
    if form <= 1 and known:
        n = w.recent(known)
        text, low, high, trips = n.text, 0, max(n.hi - 1, 0), max(n.hi, 1)
    elif form == 2:
        a, k = w.between(1, 4), w.between(2, 5)
        text, low, high, trips = f"{a}, {a + k}", a, a + k - 1, k
    elif form == 3:
        step, k = w.pick((2, 2, 3, -1)), w.between(2, 5)
        if step < 0:
            text, low, high, trips = f"{k}, 0, -1", 1, k, k
        else:
            text, low, high, trips = f"0, {step * k}, {step}", 0, step * (k - 1), k
    else:
        k = w.between(2, 6)
        text, low, high, trips = str(k), 0, k - 1, k
    if not _allowed(w, trips):
        return False
    return _loop_body(w, f"for {name} in range({text}):", trips, made=(_Value(name, "int", low, high),))


@_entered(_LOOPS, 3, 4)
def _while_counter(w: _Writer) -> bool:
    name = w.fresh("loop")
    k, step = w.between(2, 5), w.pick((1, 1, 1, 2))
    known = [v for v in w.of("int") if 1 <= v.hi <= 8 and not v.looped]
    bound, high = str(k * step), k * step
    if known and step == 1 and w.chance(0.4):
        n = w.recent(known)
        if n.depth == len(w.loops):
            return False  # the loop may assign to it
        bound, high, k = n.text, n.hi, n.hi
    if not _allowed(w, k):
        return False
    w.write(f"{name} = 0")
    counter = w.declare(name, _Value(name, "int", 0, high + step))
    counter.counter = True
    last = f"{name} += {step}" if w.chance(0.7) else f"{name} = {name} + {step}"
    return _loop_body(w, f"while {name} < {bound}:", k, last=last, leave=False)


@_entered(_LOOPS, 3, 5)
def _while_down(w: _Writer) -> bool:
    """Counts a variable down, by steps or by division."""
    known = [v for v in w.assignable("int") if not v.looped and v.hi >= 2]
    if w.branches:
        known = []
    if known and w.chance(0.8):
        v = w.recent(known)
    else:
        k = w.between(3, 20)
        name = w.fresh("int")
        w.write(f"{name} = {k}")
        v = w.declare(name, _Value(name, "int", k, k))
    if v.hi > 999:
        return False
    if v.hi <= 8 and w.chance(0.6):
        trips, last = v.hi, f"{v.text} -= 1"
    elif v.hi <= 40 and w.chance(0.5):
        step = max(2, v.hi // 6)
        trips, last = v.hi // step + 1, f"{v.text} -= {step}"
    else:
        by = w.pick((2, 2, 3)) if v.hi <= 99 else w.pick((3, 10, 10))
        trips, rest = 1, v.hi
        while rest:
            rest //= by
            trips += 1
        last = f"{v.text} //= {by}" if w.chance(0.6) else f"{v.text} = {v.text} // {by}"
    trips = max(trips, 1)
    if not _allowed(w, trips):
        return False
    v.counter = True
    low, v.lo = v.lo, 1  # where its rounds can see it
    made = _loop_body(w, f"while {v.text} > 0:", trips, last=last, leave=False)
    v.lo = min(low, -9)
    v.counter = False
    return made


@_entered(_LOOPS, 3, 2)
def _while_true(w: _Writer) -> bool:
    """Counts up to a bound, and leaves from the middle."""
    name = w.fresh("loop")
    k = w.between(2, 5)
    if not _allowed(w, k):
        return False
    w.write(f"{name} = 0")
    counter = w.declare(name, _Value(name, "int", 0, k))
    counter.counter = True
    targets_at = len(w.lines)
    done = _loop_body(w, "while True:", k, other=False)
    # The counting stands first, so that nothing can jump over it.
    header = next(i for i in range(targets_at, len(w.lines)) if w.lines[i].strip() == "while True:")
    pad = "    " * (w.indent + 1)
    w.lines[header + 1 : header + 1] = [f"{pad}{name} += 1", f"{pad}if {name} > {k - 1}:", f"{pad}    break"]
    w.cost += 3 * k
    return done


@_entered(_LOOPS, 3, 2)
def _while_below(w: _Writer) -> bool:
    """Grows a number until it is large enough."""
    start, by = w.between(1, 5), w.pick((2, 2, 3))
    limit = w.pick((20, 30, 50, 100))
    name = w.fresh("int")
    trips, n = 0, start
    while n < limit:
        n *= by
        trips += 1
    if not _allowed(w, trips):
        return False
    w.write(f"{name} = {start}")
    v = w.declare(name, _Value(name, "int", start, limit * by))
    v.counter = True
    last = f"{name} *= {by}" if w.chance(0.6) else f"{name} = {name} * {by}"
    done = _loop_body(w, f"while {name} < {limit}:", trips, last=last, leave=False)
    v.counter = False
    return done


@_entered(_LOOPS, 5, 8)
def _for_letter(w: _Writer) -> bool:
    known = [v for v in w.of("str") if 1 <= v.hi <= 8]
    if not known:
        return False
    a = w.recent(known)
    if not _allowed(w, a.hi):
        return False
    form = w.below(4)
    if form == 0:
        i, c = w.fresh("loop"), w.fresh("char")
        made: tuple[_Value, ...] = (_Value(i, "int", 0, a.hi - 1), _Value(c, "str", 1, 1))
        return _loop_body(w, f"for {i}, {c} in enumerate({a.text}):", a.hi, made=made, locked=(a,))
    if form == 1:
        i = w.fresh("loop")
        made = (_Value(i, "int", 0, a.hi - 1, indexes=a.text),)
        return _loop_body(w, f"for {i} in range(len({a.text})):", a.hi, made=made, locked=(a,))
    c = w.fresh("char")
    return _loop_body(w, f"for {c} in {a.text}:", a.hi, made=(_Value(c, "str", 1, 1),), locked=(a,))


@_entered(_LOOPS, 6, 14)
def _for_item(w: _Writer) -> bool:
    known = [v for v in w.of("list") if 1 <= v.hi <= _LIST]
    if not known:
        return False
    a = w.recent(known)
    if not _allowed(w, a.hi):
        return False
    x = w.fresh("item" if a.items == "int" else "str")
    item = _Value(x, a.items, a.item_lo, a.item_hi)
    form = w.below(8)
    if form == 0:
        i = w.fresh("loop")
        made: tuple[_Value, ...] = (_Value(i, "int", 0, a.hi - 1), item)
        return _loop_body(w, f"for {i}, {x} in enumerate({a.text}):", a.hi, made=made, locked=(a,))
    if form == 1 and a.items == "int":
        i = w.fresh("loop")
        w.names.discard(x)
        made = (_Value(i, "int", 0, a.hi - 1, indexes=a.text),)
        return _loop_body(w, f"for {i} in range(len({a.text})):", a.hi, made=made, locked=(a,))
    if form == 2:
        others = [v for v in w.of("list", "int") if v is not a and v.hi >= 1]
        if others:
            b, y = w.recent(others), w.fresh("item")
            made = (item, _Value(y, "int", b.item_lo, b.item_hi))
            return _loop_body(
                w, f"for {x}, {y} in zip({a.text}, {b.text}):", min(a.hi, b.hi), made=made, locked=(a, b)
            )
    if form == 3:
        text = w.pick((f"reversed({a.text})", f"{a.text}[1:]", f"sorted({a.text})" if a.hi <= 5 else a.text))
        return _loop_body(w, f"for {x} in {text}:", a.hi, made=(item,), locked=(a,))
    return _loop_body(w, f"for {x} in {a.text}:", a.hi, made=(item,), locked=(a,))


@_entered(_LOOPS, 6, 2.5)
def _while_items(w: _Writer) -> bool:
    """Empties a list."""
    known = [v for v in w.growable("list", "int") if not v.looped and 1 <= v.hi <= 6]
    if not known or w.branches:
        return False
    a = w.recent(known)
    if not _allowed(w, a.hi):
        return False
    x = w.fresh("item")
    trips = a.hi
    header = w.pick((f"while {a.text}:", f"while len({a.text}) > 0:"))
    at = len(w.lines)
    a.lo = 0
    done = _loop_body(
        w, header, trips, made=(_Value(x, "int", a.item_lo, a.item_hi),), locked=(a,), other=False
    )
    place = next(i for i in range(at, len(w.lines)) if w.lines[i].strip() == header)
    w.lines.insert(place + 1, "    " * (w.indent + 1) + f"{x} = {a.text}.pop({w.pick(('', '', '0'))})")
    w.cost += trips
    a.lo = 0
    return done


@_entered(_LOOPS, 6, 2)
def _for_row(w: _Writer) -> bool:
    known = w.of("grid")
    if not known or not _allowed(w, 4) or w.indent > 3:
        return False
    a, row = w.recent(known), w.fresh("row")
    made: tuple[_Value, ...] = (_Value(row, "list", 2, 2, 3, "int", a.item_lo, a.item_hi),)
    if w.chance(0.3):
        x, y = w.fresh("item"), w.fresh("item")
        w.names.discard(row)
        made = (_Value(x, "int", a.item_lo, a.item_hi), _Value(y, "int", a.item_lo, a.item_hi))
        return _loop_body(w, f"for {x}, {y} in {a.text}:", 2, made=made)
    return _loop_body(w, f"for {row} in {a.text}:", 2, made=made)


@_entered(_LOOPS, 7, 9)
def _for_key(w: _Writer) -> bool:
    known = [v for v in w.of("dict") if v.hi >= 1]
    if not known:
        return False
    a = w.recent(known)
    trips = min(a.hi, _KEYS)
    if not _allowed(w, trips):
        return False
    k = w.fresh("key")
    key = _Value(k, "str", 0, 8) if a.keys == "str" else _Value(k, "int", 0, 99)
    form = w.below(3)
    if form == 0:
        return _loop_body(w, f"for {k} in {a.text}:", trips, made=(key,), locked=(a,))
    v = w.fresh("item")
    value = _Value(v, "int", a.item_lo, a.item_hi)
    if form == 1:
        w.names.discard(k)
        return _loop_body(w, f"for {v} in {a.text}.values():", trips, made=(value,), locked=(a,))
    return _loop_body(w, f"for {k}, {v} in {a.text}.items():", trips, made=(key, value), locked=(a,))


@_entered(_LOOPS, 7, 1.5)
def _for_set(w: _Writer) -> bool:
    known = w.of("set")
    if not known or not _allowed(w, 6):
        return False
    a, x = w.recent(known), w.fresh("item")
    return _loop_body(w, f"for {x} in sorted({a.text}):", 6, made=(_Value(x, "int", 0, 7),), locked=(a,))
