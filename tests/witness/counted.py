"""A second opinion on what questions about control flow and objects ask: the program counts by itself.

Its syntax tree is rewritten so that each statement, condition and loop tells `Counted` that it runs; then it is run as it
is, without a tracer. Nothing of this is shared with the package: no events, no line table, no arrivals.

Not rewritten, so that nothing is said of it (`Refused`): ``match``, ``async``, ``yield from`` an own frame, star imports.
"""

import ast
import sys
from collections import Counter, defaultdict
from typing import Any

ME = "_w_"
LIMIT = 30_000


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
        names = {
            k: v
            for k, v in dict(frame.f_locals).items()
            if type(k) is str and k.isidentifier() and not k.startswith("_w_")
        }
        self.types[place] = {name: type(value).__name__ for name, value in names.items()}
        self.same[place] = {
            name: {other for other, theirs in names.items() if theirs is value and other != name}
            for name, value in names.items()
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
        self.stack.append(name)
        return len(self.stack)

    def leave(self, depth: int, how: str) -> None:
        frame = sys._getframe(1)
        del self.stack[depth - 1 :]
        if frame in self._last:
            self.then.setdefault(self._last.pop(frame), how)

    def done(self) -> None:
        """A module or the body of a class ends."""
        frame = sys._getframe(1)
        if frame in self._last:
            self.then.setdefault(self._last.pop(frame), "return")

    def inside(self, name: str) -> int:
        self.stack.append(name)
        return len(self.stack)

    def out(self, depth: int, value: Any) -> Any:
        del self.stack[depth - 1 :]
        return value


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
            if isinstance(node, (ast.Match, ast.AsyncFunctionDef)):
                raise Refused(type(node).__name__)
            quiet = isinstance(node, (ast.Global, ast.Nonlocal)) or (
                isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            )
            quiet = quiet or (isinstance(node, ast.AnnAssign) and node.value is None)
            if isinstance(node, ast.ImportFrom) and (
                node.module == "__future__" or node.names[0].name == "*"
            ):
                quiet = True
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

    def visit_With(self, node: ast.With) -> Any:
        node.items = [self.visit(item) for item in node.items]
        self._blocks(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        node.bases = [self.visit(base) for base in node.bases]
        self.names.append(node.name)
        self._blocks(node)
        node.body.append(ast.Expr(_call("done")))
        self.names.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
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
    return not any(
        isinstance(n, (ast.Name, ast.Call, ast.Attribute, ast.Yield)) for n in ast.walk(test)
    ) or any(isinstance(n, ast.Name) and n.id == "__debug__" for n in ast.walk(test))


def counted(code: str, call: str | None = None, **names: Any) -> tuple[Counted, Any]:
    """Run a program, or a call of its functions once it is loaded, and what it told. An exception of its own is
    its result.

    Raises Refused.
    """
    tree = ast.parse(code)
    rewriter = _Rewriter()
    head = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    body = rewriter.block([node for node in tree.body if node not in head])
    tree.body = [*head, *body, ast.Expr(_call("done"))]
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
