"""A second opinion on what questions about control flow and objects ask: the program counts by itself.

Its syntax tree is rewritten so that each statement, condition and loop tells `Counted` that it runs; then it is run as it
is, without a tracer. Nothing of this is shared with the package: no events, no line table, no arrivals.

Not rewritten, so that nothing is said of it (`Refused`): ``async for``, star imports.
"""

import ast
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

ME = "_w_"
LIMIT = 30_000
STATES = 5_000
"""Moments whose variables are written down."""


class Unknown:
    """A value that is not written down: no data of builtins alone, or after `STATES` moments."""

    def __repr__(self) -> str:
        return "?"


UNKNOWN: Any = Unknown()


@dataclass(slots=True)
class Moment:
    """A statement begins. frame: how many-th of all. line: of the statement; of a call's end 0. k: how often the
    line was met. values: of the frame's variables, as `repr` writes them."""

    frame: int
    function: str
    line: int
    k: int
    values: dict[str, Any]


class Refused(Exception):
    """The program holds something that is not rewritten, or runs too long."""


class Counted:
    """What a run told. Places are (line, how often it was met)."""

    def __init__(self) -> None:
        self.on = False
        self.runs: Counter[int] = Counter()
        """Line -> how often its statement began."""
        self.then: dict[tuple[int, int], int | str] = {}
        self.branches: dict[tuple[int, int], bool] = {}
        self.entered: Counter[int] = Counter()
        self.passes: Counter[tuple[int, int]] = Counter()
        """(Line of a loop, how many-th time it is entered) -> passes."""
        self.after: dict[tuple[int, int], dict[str, str]] = {}
        """The same -> what variables hold when the loop has ended."""
        self.types: dict[tuple[int, int], dict[str, str]] = {}
        self.same: dict[tuple[int, int], dict[str, set[str]]] = {}
        """Place -> variable -> other variables that are the same object."""
        self.calls: Counter[tuple[str, str]] = Counter()
        self.stack: list[str] = ["<module>"]
        self.moments: list[Moment] = []
        self.begun: dict[str, list[int]] = defaultdict(list)
        """Function -> frames of its calls."""
        self.left: dict[int, tuple[str, dict[str, Any]]] = {}
        """Frame -> how its call ends, and what its variables hold then."""
        self.values: dict[int, Any] = {}
        """Frame -> what it returns."""
        self._frames: dict[Any, int] = {}
        self._last_number = -1
        self._last: dict[Any, tuple[int, int]] = {}
        """Frame -> place."""
        self._inside: dict[Any, dict[int, int]] = defaultdict(dict)
        """Frame -> line of a loop -> how many-th time it is entered."""

    # what the rewritten program calls

    def at(self, line: int, frame: Any = None) -> None:
        if not self.on:
            return
        frame = frame or sys._getframe(1)
        self.runs[line] += 1
        if sum(self.runs.values()) > LIMIT:
            raise Refused("long")
        place = line, self.runs[line]
        if frame in self._last:
            self.then[self._last[frame]] = line
        self._last[frame] = place
        names = _names(frame)
        number = self._number(frame)
        self.moments.append(Moment(number, frame.f_code.co_qualname, *place, self._written(names)))
        self.types[place] = {name: type(value).__name__ for name, value in names.items()}
        self.same[place] = {
            name: {other for other, theirs in names.items() if theirs is value and other != name}
            for name, value in names.items()
        }

    def _number(self, frame: Any) -> int:
        """Of a frame that runs: how many-th it is. Frames that are left are not held, or what they hold would
        die later than it does."""
        if frame not in self._frames:
            self._frames[frame] = self._last_number = self._last_number + 1
        return self._frames[frame]

    def _written(self, names: dict[str, Any]) -> dict[str, Any]:
        return {
            name: _text(value) if len(self.moments) < STATES else UNKNOWN for name, value in names.items()
        }

    def test(self, line: int, value: bool) -> bool:
        if self.on:
            self.branches[line, self.runs[line]] = value
            loops = self._inside[sys._getframe(1)]
            if line in loops and value:
                self.passes[line, loops[line]] += 1
        return value

    def loop(self, line: int) -> None:
        if self.on:
            self.entered[line] += 1
            self._inside[sys._getframe(1)][line] = self.entered[line]

    def each(self, line: int, items: Any) -> Any:
        frame = sys._getframe(1)
        number = self._inside[frame].get(line, 0)
        return self._each(line, iter(items), frame, number)

    def _each(self, line: int, items: Any, frame: Any, number: int) -> Any:
        first = True
        while True:
            if not first:
                self.at(line, frame)
            first = False
            try:
                item = next(items)
            except StopIteration:
                return
            if self.on:
                self.passes[line, number] += 1
            yield item

    def ended(self, line: int) -> None:
        if self.on:
            frame = sys._getframe(1)
            names = dict(frame.f_locals)
            self.after[line, self._inside[frame][line]] = {k: repr(v) for k, v in names.items()}

    def enter(self, name: str) -> int:
        if self.on:
            self.calls[self.stack[-1], name] += 1
            frame = sys._getframe(1)
            self.begun[frame.f_code.co_qualname].append(self._number(frame))
        self.stack.append(name)
        return len(self.stack)

    def leave(self, depth: int, how: str) -> None:
        frame = sys._getframe(1)
        del self.stack[depth - 1 :]
        if self.on and frame in self._frames:
            self.left.setdefault(self._frames[frame], (how, self._written(_names(frame))))
            if how == "return":  # which is told last, also behind an exception
                del self._frames[frame]
        if frame in self._last:
            self.then.setdefault(self._last.pop(frame), how)

    def returns(self, value: Any) -> Any:
        frame = sys._getframe(1)
        if self.on and frame in self._frames:
            self.values[self._frames[frame]] = _text(value)
        return value

    def done(self) -> None:
        """A module or the body of a class ends."""
        frame = sys._getframe(1)
        self._frames.pop(frame, None)
        if frame in self._last:
            self.then.setdefault(self._last.pop(frame), "return")

    def inside(self, name: str) -> int:
        self.stack.append(name)
        return len(self.stack)

    def out(self, depth: int, value: Any) -> Any:
        del self.stack[depth - 1 :]
        return value

    def leaving(self, line: int) -> "_Leaving":
        return _Leaving(self, line, sys._getframe(1))

    def decorator(self, line: int, decorate: Any) -> Any:
        """A decorator that tells when it is called: its line runs then."""
        frame = sys._getframe(1)

        def called(made: Any) -> Any:
            self.at(line, frame)
            return decorate(made)

        return called

    def same_(self, made: Any) -> Any:
        return made


@dataclass(slots=True)
class _Leaving:
    """The innermost item of a ``with``: its line runs again when the block is left."""

    told: Counted
    line: int
    frame: Any

    def __enter__(self) -> None:
        pass

    def __exit__(self, *problem: object) -> None:
        self.told.at(self.line, self.frame)


_PLAIN = (int, float, complex, str, bytes, bool, type(None), range, type(...))


def _text(value: Any) -> Any:
    try:
        return repr(value) if is_plain(value) else UNKNOWN
    except ValueError:  # more digits than Python writes
        return UNKNOWN


def is_plain(value: Any, depth: int = 0) -> bool:
    """Whether a value is data of builtins, and no container holds itself."""
    if type(value) in _PLAIN:
        return True
    if depth > 50:
        return False
    if type(value) in (list, tuple, set, frozenset):
        return all(is_plain(item, depth + 1) for item in value)
    if type(value) is bytearray:
        return True
    return type(value) is dict and all(
        is_plain(key, depth + 1) and is_plain(item, depth + 1) for key, item in value.items()
    )


def _names(frame: Any) -> dict[str, Any]:
    return {
        name: value
        for name, value in dict(frame.f_locals).items()
        if type(name) is str and name.isidentifier() and not name.startswith("_w_")
    }


def _call(name: str, *args: ast.expr | str | int) -> ast.Call:
    given = [arg if isinstance(arg, ast.expr) else ast.Constant(arg) for arg in args]
    return ast.Call(ast.Attribute(ast.Name(ME, ast.Load()), name, ast.Load()), given, [])


def _said(name: str, line: int) -> ast.stmt:
    return ast.Expr(_call(name, line))


def _after(first: ast.expr, value: ast.expr) -> ast.expr:
    """The value, once the first is worked out."""
    return ast.Subscript(ast.Tuple([first, value], ast.Load()), ast.Constant(1), ast.Load())


class _Rewriter(ast.NodeTransformer):
    def __init__(self) -> None:
        self.names: list[str] = []

    def _own(self) -> str:
        return ".".join(self.names) or "<module>"

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for node in body:
            quiet = isinstance(node, (ast.Global, ast.Nonlocal)) or (
                isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            )
            quiet = quiet or (isinstance(node, ast.AnnAssign) and node.value is None)
            quiet = quiet or (isinstance(node, ast.ImportFrom) and node.names[0].name == "*")
            quiet = quiet or bool(getattr(node, "decorator_list", None))
            if not quiet and not isinstance(node, (ast.If, ast.While)):
                found.append(_said("at", node.lineno))
            line = node.lineno
            if isinstance(node, (ast.For, ast.While)):
                found.append(_said("loop", line))
            new = self.visit(node)
            found.append(new)
            if isinstance(node, (ast.For, ast.While)) and not node.orelse:
                found.append(_said("ended", line))
        return found

    def _blocks(self, node: Any) -> None:
        for name in ("body", "orelse", "finalbody"):
            if isinstance(getattr(node, name, None), list) and getattr(node, name):
                setattr(node, name, self.block(getattr(node, name)))

    def _test(self, node: Any) -> None:
        tested = _call(
            "test", node.lineno, ast.Call(ast.Name("bool", ast.Load()), [self.visit(node.test)], [])
        )
        node.test = _after(_call("at", node.lineno), tested)

    def visit_If(self, node: ast.If | ast.While) -> Any:
        if not _constant(node.test):
            self._test(node)
        self._blocks(node)
        return node

    def visit_While(self, node: ast.While) -> Any:
        forever = _constant(node.test)
        self.visit_If(node)
        if forever:
            node.body = [_said("at", node.lineno), *node.body]
        return node

    def visit_For(self, node: ast.For) -> Any:
        node.iter = _call("each", node.lineno, self.visit(node.iter))
        self._blocks(node)
        return node

    def visit_Try(self, node: Any) -> Any:
        for handler in node.handlers:
            caught = self.visit(handler.type) if handler.type else ast.Name("BaseException", ast.Load())
            handler.type = _after(_call("at", handler.lineno), caught)
            handler.body = self.block(handler.body)
        self._blocks(node)
        return node

    visit_TryStar = visit_Try

    def visit_With(self, node: Any) -> Any:
        node.items = [self.visit(item) for item in node.items]
        self._blocks(node)
        if isinstance(node, ast.With):
            node.items.append(ast.withitem(_call("leaving", node.lineno), None))
        else:
            node.body = [ast.With([ast.withitem(_call("leaving", node.lineno), None)], node.body)]
        return node

    visit_AsyncWith = visit_With

    def visit_Match(self, node: ast.Match) -> Any:
        node.subject = self.visit(node.subject)
        cases: list[ast.match_case] = []
        for case in node.cases:
            never = ast.BoolOp(ast.And(), [_call("at", case.pattern.lineno), ast.Constant(False)])
            cases.append(ast.match_case(ast.MatchAs(None, None), never, [ast.Pass()]))
            case.guard = self.visit(case.guard) if case.guard else None
            case.body = self.block(case.body)
            cases.append(case)
        node.cases = cases
        return node

    def visit_Return(self, node: ast.Return) -> Any:
        if node.value is not None:
            node.value = _call("returns", self.visit(node.value))
        return node

    def _decorated(self, node: Any) -> list[ast.expr]:
        """The decorators with what tells of them: of their lines when they are worked out and when they are
        called, of the line of the definition before and after it is made."""
        if not node.decorator_list:
            return []
        told = [
            _call("decorator", one.lineno, _after(_call("at", one.lineno), self.visit(one)))
            for one in node.decorator_list
        ]
        same = ast.Attribute(ast.Name(ME, ast.Load()), "same_", ast.Load())
        last = _call("decorator", node.lineno, same)
        return [last, *told, _after(_call("at", node.lineno), same)]

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        node.decorator_list = self._decorated(node)
        node.bases = [self.visit(base) for base in node.bases]
        self.names.append(node.name)
        self._blocks(node)
        node.body.append(ast.Expr(_call("done")))
        self.names.pop()
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        node.decorator_list = self._decorated(node)
        node.args = self.visit(node.args)
        self.names.append(node.name)
        first = node.body[0]
        head = [first] if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) else []
        body = self.block(node.body[len(head) :])
        depth = ast.Name("_w_depth", ast.Store())
        entered = ast.Assign([depth], _call("enter", self._own()))
        left = [
            ast.Expr(_call("leave", ast.Name("_w_depth", ast.Load()), how)) for how in ("raise", "return")
        ]
        fails = ast.ExceptHandler(ast.Name("BaseException", ast.Load()), None, [left[0], ast.Raise()])
        node.body = [*head, entered, ast.Try(body or [ast.Pass()], [fails], [], [left[1]])]
        self.names.pop()
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        node.body = self._held(self.visit(node.body))
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        node.elt = self._held(self.visit(node.elt))
        return self.generic_visit(node)

    def _held(self, value: ast.expr) -> ast.expr:
        """The value, worked out as code of the function that is written here."""
        return _call("out", _call("inside", self._own()), value)

    def visit_AsyncFor(self, node: Any) -> Any:
        raise Refused("async")


def _constant(test: ast.expr) -> bool:
    """Whether the compiler decides it. It works out no comparison."""
    return not any(
        isinstance(n, (ast.Name, ast.Call, ast.Attribute, ast.Yield, ast.Compare)) for n in ast.walk(test)
    ) or any(isinstance(n, ast.Name) and n.id == "__debug__" for n in ast.walk(test))


class Names(dict[str, Any]):
    """Builtins, for a program of which a part is left out: what it names and nobody shows is there, and is an
    exception, as that is all that may be used of it."""

    def __missing__(self, name: str) -> Any:
        if name.startswith("__"):
            raise KeyError(name)
        return self.setdefault(name, type(name, (Exception,), {"__module__": "left.out"}))


def counted(code: str, call: str | None = None, **names: Any) -> tuple[Counted, Any]:
    """Run a program, or a call of its functions once it is loaded, and what it told. An exception of its own is
    its result.

    Raises Refused.
    """
    tree = ast.parse(code)
    rewriter = _Rewriter()
    head = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    body = rewriter.block([node for node in tree.body if node not in head])
    tree.body = [*head, *(_said("at", node.lineno) for node in head), *body, ast.Expr(_call("done"))]
    made = compile(ast.fix_missing_locations(tree), "counted", "exec", dont_inherit=True)
    found = Counted()
    space = {"__name__": "__main__", ME: found, **names}
    try:
        if call is None:
            found.on = True
            exec(made, space)
            return found, None
        exec(made, space)
        found.stack, found._last = ["<caller>"], {}
        found.on = True
        return found, eval(call, space)
    except Refused:
        raise
    except Exception as error:  # noqa: BLE001 (the program's, whatever it is)
        for place in found._last.values():
            found.then.setdefault(place, "raise")
        return found, error
    finally:
        found.on = False
