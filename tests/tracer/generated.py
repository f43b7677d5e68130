"""Python programs that nobody wrote, as text: a grammar of templates, filled in with variables of known types.

    program_of_seed("7-0")     the same text for the same seed, quickly
    programs()                 the same grammar as a Hypothesis strategy, which shrinks what it finds

Programs end by themselves within some thousand events, print no address and no order of a set, and mean the
same on 3.11, 3.12 and 3.13. About one in ten is left by an exception. Half have their expressions over several lines.

In a template, after `$`:

    I F B S L ...   an expression of that type (see `LITERALS`)
    i f b s l ...   a variable of that type; with a digit, the same one again: `$l1.append(len($l1))`
    =I              a variable to assign to, known to be of the type from then on
    +I              a new variable, bound by the line it stands on: a parameter, a loop's variable
    -I              a variable of the innermost block, gone from then on
    ~I              a variable of the enclosing function (or module) that this one may assign to from then on
    !               a new name of no type; with a digit, the same one again
    ^               an expression of the type that the function returns
    :               alone on its line: a block of statements; `:3`, one that runs three times
"""

import ast
import bisect
import itertools
import random
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from hypothesis import assume
from hypothesis import strategies as st

from tests.tracer._templates import (
    CLASSES,
    DEFINITIONS,
    EXPRESSIONS,
    HEADER,
    HELPERS,
    LITERALS,
    NAMES,
    STATEMENTS,
)
from tests.tracer.layouts import drawn

Below = Callable[[int], int]
"""below(n): a choice from 0 to n - 1; 0 is the simplest."""

BUDGETS = (60, 120, 250, 500, 1000)
"""About how many events a program makes: one of these."""

_TOKEN = re.compile(r"\$(?:([=+\-~]?)([A-Za-z])([0-9]?)|!([0-9]?)|\^)")


_WEIGHTS = list(itertools.accumulate(weight for weight, _, _ in STATEMENTS))
_OWN_ONLY = frozenset("OVJ")
"""Types with methods of the program's: a function may not reach them from outside, or it might call itself."""


def _closed(template: str) -> str:
    """A template in parentheses where another operator beside it could tear it apart."""
    tree = ast.parse(_TOKEN.sub("a", template), mode="eval").body
    joined = isinstance(tree, ast.BinOp | ast.BoolOp | ast.UnaryOp | ast.Compare | ast.IfExp | ast.Lambda)
    return f"({template})" if joined and not re.fullmatch(r"\([^()]*\)", template) else template


_EXPRESSIONS = {kind: [_closed(template) for template in known] for kind, known in EXPRESSIONS.items()}
_LITERALS = {kind: [_closed(template) for template in known] for kind, known in LITERALS.items()}


class _NotHere(Exception):
    """A template asks for what there is not: a variable of a type, a loop to break out of."""


@dataclass
class _Scope:
    """A function, or the module. blocks: what is bound, by type, innermost block last.

    own: names that may be assigned to. flags: where we are: loop, function, generator, async.
    """

    parent: "_Scope | None" = None
    blocks: list[dict[str, list[str]]] = field(default_factory=lambda: [{}])
    own: set[str] = field(default_factory=set)
    flags: frozenset[str] = frozenset()
    returns: str = "I"
    pinned: set[str] = field(default_factory=set)
    """Names that a function reads: they are never deleted."""

    def readable(self, kind: str) -> list[str]:
        found = [name for block in self.blocks for name in block.get(kind, ())]
        if self.parent is not None and kind not in _OWN_ONLY:
            found = self.parent.readable(kind) + found
        return found

    def assignable(self, kind: str) -> list[str]:
        return [name for block in self.blocks for name in block.get(kind, ()) if name in self.own]

    def bind(self, kind: str, name: str, *, own: bool = True) -> None:
        if not any(name in block.get(kind, ()) for block in self.blocks):
            self.blocks[-1].setdefault(kind, []).append(name)
        if own:
            self.own.add(name)

    def pin(self, name: str) -> None:
        scope: _Scope | None = self
        while scope is not None:
            scope.pinned.add(name)
            scope = scope.parent


class Maker:
    """Makes one program. budget: about how many events."""

    def __init__(self, below: Below, budget: int) -> None:
        self.below = below
        self.budget = budget
        self.lines: list[str] = []
        self.scope = _Scope(flags=frozenset({"module"}))
        self.cost = 0.0
        self.factor = 1.0
        self.depth = 0
        self.makers: dict[str, list[tuple[str, float]]] = {}
        """What the program has defined: type -> (expression template, cost)."""
        self.deferred = 0
        """Inside how many lambdas and generator expressions, which run later, we are."""
        self.comprehensions = 0
        self.counts: dict[str, int] = {}

    # -- choosing ------------------------------------------------------------------------------------

    def chance(self, percent: int) -> bool:
        return self.below(100) >= 100 - percent

    def pick(self, items: list[str]) -> str:
        return items[self.below(len(items))]

    def fresh(self, stem: str) -> str:
        self.counts[stem] = number = self.counts.get(stem, 0) + 1
        return f"{stem}{number}"

    # -- expressions ---------------------------------------------------------------------------------

    def expression(self, kind: str, depth: int) -> str:
        names = self.readable(kind)
        if depth > 0 and self.chance(55):
            made = self.makers.get(kind, [])
            known = _EXPRESSIONS.get(kind, [])
            for _ in range(4 if known or made else 0):
                at = self.below(len(known) + 2 * len(made))
                try:
                    if at < len(known):
                        return self.fill(known[at], depth - 1)
                    template, cost = made[(at - len(known)) // 2]
                    if self.factor * cost + self.cost <= self.budget * 1.5:
                        text = self.fill(template, depth - 1)
                        self.cost += self.factor * cost
                        return text
                except _NotHere:
                    pass
        if names and self.chance(70):
            return self.read(self.pick(names))
        if kind in _LITERALS:
            return self.fill(self.pick(_LITERALS[kind]), 0)
        if names:
            return self.read(self.pick(names))
        made = [
            (template, cost) for template, cost in self.makers.get(kind, ()) if "$" + kind not in template
        ]
        if made:
            template, cost = made[self.below(len(made))]
            self.cost += self.factor * cost
            return self.fill(template, 0)
        raise _NotHere

    def readable(self, kind: str) -> list[str]:
        return [] if self.deferred and kind in "GOVJ" else self.scope.readable(kind)

    def read(self, name: str) -> str:
        if name not in self.scope.own or self.deferred:
            self.scope.pin(name)
        return name

    def fill(self, template: str, depth: int, known: dict[str, str] | None = None) -> str:
        """A template with its tokens replaced, left to right. What it binds is known after the line."""
        known = {} if known is None else known
        bound: list[tuple[str, str]] = []

        def token(match: re.Match[str]) -> str:
            mark, kind, digit, anonymous = match.groups()
            if match[0] == "$^":
                return self.expression(self.scope.returns, depth)
            if kind is None:
                key = "!" + anonymous
                if key not in known or not anonymous:
                    known[key] = self.fresh("t")
                return known[key]
            key = kind.upper() + digit
            if digit and key in known:
                return known[key]
            text = self._token(mark, kind, depth, bound)
            if digit:
                known[key] = text
            return text

        comprehension = " for " in template and "$:" not in template
        later = "lambda" in template or (comprehension and template[0] == "(")
        if ":=" in template and self.comprehensions:
            raise _NotHere  # not allowed where a comprehension iterates
        self.deferred += later
        self.comprehensions += comprehension
        try:
            text = _TOKEN.sub(token, template)
        finally:
            self.deferred -= later
            self.comprehensions -= comprehension
        for kind, name in bound:
            self.scope.bind(kind, name)
        return text

    def _token(self, mark: str, kind: str, depth: int, bound: list[tuple[str, str]]) -> str:
        upper = kind.upper()
        if mark == "=":
            names = self.scope.assignable(upper)
            again = names and upper != "H" and self.chance(60)  # a function that calls itself has no end
            name = self.pick(names) if again else self.fresh(NAMES[upper])
            bound.append((upper, name))
            return name
        if mark == "+":
            name = self.fresh(NAMES[upper])
            bound.append((upper, name))
            return name
        if mark == "-":
            block = self.scope.blocks[-1].get(upper, [])
            free = [name for name in block if name not in self.scope.pinned and name in self.scope.own]
            if not free:
                raise _NotHere
            name = self.pick(free)
            block.remove(name)
            self.scope.own.discard(name)
            return name
        if mark == "~":
            parent = self.scope.parent
            names = parent.assignable(upper) if parent is not None else []
            names = [name for name in names if name not in self.scope.own]
            if not names:
                raise _NotHere
            name = self.pick(names)
            self.scope.pin(name)
            bound.append((upper, name))
            return name
        if kind == upper:
            return self.expression(kind, depth)
        names = self.readable(upper)
        if not names:
            raise _NotHere
        return self.read(self.pick(names))

    # -- statements ----------------------------------------------------------------------------------

    def block(self, indent: str, times: float = 1) -> None:
        """Statements at an indentation, at least one."""
        self.scope.blocks.append({})
        before, self.factor = self.factor, self.factor * times
        self.depth += 1
        start = len(self.lines)
        for _ in range(1 + self.below(4 if self.depth < 3 else 2)):
            if self.cost > self.budget and len(self.lines) > start:
                break
            self.statement(indent)
            if self.lines[-1].lstrip().startswith(("return", "break", "continue", "raise")):
                break
        self.depth -= 1
        self.factor = before
        self.scope.blocks.pop()

    def statement(self, indent: str) -> None:
        flags = self.scope.flags
        for _ in range(12):
            at = bisect.bisect_right(_WEIGHTS, self.below(_WEIGHTS[-1]))
            _, needs, text = STATEMENTS[at]
            if not flags >= set(needs.split()):
                continue
            if "$:" in text and (self.depth > 3 or self.cost > self.budget):
                continue
            if self.template(text, indent):
                return
        self.emit(indent, self.fill("$=I = $I", 1))

    def emit(self, indent: str, text: str) -> None:
        self.lines.append(indent + text)
        self.cost += self.factor

    def template(self, text: str, indent: str, known: dict[str, str] | None = None) -> bool:
        """Write a template of one or more lines; False if it does not fit here."""
        known = {} if known is None else known
        start, cost, outer = len(self.lines), self.cost, self.scope
        blocks = [{kind: list(names) for kind, names in block.items()} for block in outer.blocks]
        own, depth, factor = set(outer.own), self.depth, self.factor
        open_functions: list[tuple[int, _Scope]] = []
        open_blocks: list[tuple[int, _Scope, int]] = []
        try:
            for line in text.split("\n"):
                content = line.lstrip(" ")
                inner = len(line) - len(content)
                while open_blocks and inner <= open_blocks[-1][0]:
                    _, scope, count = open_blocks.pop()
                    del scope.blocks[count:]
                while open_functions and inner <= open_functions[-1][0]:
                    self.scope = open_functions.pop()[1]
                self._line(content, indent + " " * inner, inner, known, open_functions, open_blocks)
        except _NotHere:
            del self.lines[start:]
            self.cost, self.scope, self.depth, self.factor = cost, outer, depth, factor
            outer.blocks[:], outer.own = blocks, own
            return False
        self.scope = outer
        del outer.blocks[len(blocks) :]
        return True

    def _line(
        self,
        content: str,
        indent: str,
        inner: int,
        known: dict[str, str],
        open_functions: list[tuple[int, _Scope]],
        open_blocks: list[tuple[int, _Scope, int]],
    ) -> None:
        if content.startswith("$:"):
            times, _, flags = content[2:].partition(" ")
            before = self.scope.flags
            if "plain" in flags:
                self.scope.flags = before - {"loop", "function", "generator"}
            else:
                self.scope.flags = before | set(flags.split())
            try:
                self.block(indent, float(times or 1))
            finally:
                self.scope.flags = before
            return
        content, _, comment = content.partition("  #!")
        if content.startswith(("def ", "async def ")):
            head, _, rest = content.partition("(")
            head = self.fill(head, 0, known)
            open_functions.append((inner, self.scope))
            inside = frozenset({"function", *comment.split()})
            returns = next((word[4:] for word in comment.split() if word.startswith("ret=")), "I")
            self.scope = _Scope(parent=self.scope, flags=inside, returns=returns)
            self.emit(indent, f"{head}({self.fill(rest, 0, known)}")
            return
        if (
            content.startswith("nonlocal ")
            and self.scope.parent is not None
            and self.scope.parent.parent is None
        ):
            content = content.replace("nonlocal", "global")
        if content.endswith(":"):  # what its line binds is known in its block
            open_blocks.append((inner, self.scope, len(self.scope.blocks)))
            self.scope.blocks.append({})
        self.emit(indent, self.fill(content, 2, known))

    # -- definitions ---------------------------------------------------------------------------------

    @contextmanager
    def apart(self) -> Iterator[list[float]]:
        """What is written inside costs nothing yet; the list gets its cost, once a call."""
        cost, budget, factor = self.cost, self.budget, self.factor
        self.cost, self.budget, self.factor = 0.0, 25 + self.below(4) * 15, 1.0
        taken: list[float] = []
        yield taken
        taken.append(self.cost)
        self.cost, self.budget, self.factor = cost + 1, budget, factor

    def define(self, indent: str = "") -> None:
        """A function, a generator or a class, and from then on what its calls give."""
        table = DEFINITIONS if self.chance(65) else CLASSES
        gives, text = table[self.below(len(table))]
        known: dict[str, str] = {}
        with self.apart() as cost:
            done = self.template(text, indent, known)
        if not done:
            return
        for kind, expression in gives.items():
            filled = re.sub(r"\$!([0-9])", lambda match: known["!" + match[1]], expression)
            self.makers.setdefault(kind, []).append((filled, cost[0] * 1.5))

    def program(self) -> str:
        for kind in "ISLMDU":
            self.emit("", self.fill(f"$+{kind} = ${kind}", 1))
        for _ in range(1 + self.below(4)):
            self.define()
        while self.cost < self.budget:
            if self.chance(15):
                self.define()
            else:
                self.statement("")
        for kind in "islmd":
            if self.scope.readable(kind.upper()):
                self.emit("", self.fill(f"print(${kind})", 0))
        return _with_helpers("\n".join(self.lines) + "\n")


def _with_helpers(body: str) -> str:
    used: list[str] = []
    text = body
    while new := [name for name in HELPERS if name not in used and re.search(rf"\b{name}\b", text)]:
        used += new
        text = "\n".join(HELPERS[name] for name in new)
    return "\n\n".join([HEADER, *(HELPERS[name] for name in HELPERS if name in used), body])


def is_python(text: str) -> bool:
    """Whether it compiles: about one in a hundred says `nonlocal` or `:=` where it may not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "program.py", "exec", dont_inherit=True)
        except SyntaxError:
            return False
    return True


def program_of_seed(seed: str, budget: int | None = None) -> str:
    """A program; the same for the same seed and budget (about how many events; None: one of `BUDGETS`)."""
    choose = random.Random(seed)
    while True:
        text = Maker(choose.randrange, budget or choose.choice(BUDGETS)).program()
        if is_python(text):
            return drawn(text, choose)


@st.composite
def programs(draw: st.DrawFn, budget: int = 60) -> str:
    """Programs as a Hypothesis strategy."""
    text = Maker(lambda n: draw(st.integers(0, n - 1)) if n > 1 else 0, budget).program()
    assume(is_python(text))
    return text
