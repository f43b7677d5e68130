"""Which arguments a model may write: the gate before anything that a model wrote is run.

An answer to an ``input`` question is an argument list. It is read as syntax and must consist of
literals, operators, comprehensions, lambdas, calls of pure builtins, of what the program defines at
its top level, and of what it imports from a few harmless modules. Whatever is not listed is
refused. The gate keeps cheats out (reaching into the function, the interpreter, or the marking);
it is not what keeps the machine safe: the sandbox is.
"""

import ast
import importlib
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType

from deskcheck.ask.values import MAX_CHARS, parse_expression

_BUILTINS = frozenset(
    "abs all any ascii bin bool bytearray bytes chr complex dict divmod enumerate filter float frozenset hex "
    "int iter len list map max min oct ord range repr reversed round set slice sorted str sum tuple zip "
    "ArithmeticError AssertionError AttributeError Exception IndexError KeyError LookupError "
    "NotImplemented NotImplementedError OverflowError RuntimeError StopIteration TypeError ValueError "
    "ZeroDivisionError Ellipsis".split()
)
_MODULES = frozenset("collections datetime decimal fractions itertools math string".split())
"""Standard modules without effects, whose names may be used where the program imports them."""
_ATTRIBUTES_REFUSED = frozenset({"format", "format_map", "mro"})
"""``'{0.__globals__}'.format(f)`` reads attributes without writing one."""
_PLAIN = (
    ast.Tuple,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Subscript,
    ast.Slice,
    ast.Starred,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.comprehension,
    ast.keyword,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
    ast.expr_context,
)
_NODES, _DEPTH = 20_000, 100
_FACTOR, _EXPONENT, _SHIFT, _STEPS = 10_000, 64, 256, 100_000


@dataclass(frozen=True, slots=True)
class Names:
    """What a program's top level offers: what it defines, and what it imports from harmless modules."""

    defined: frozenset[str]
    changeable: frozenset[str]
    """Those of `defined` that may hold something that a method call would change."""
    modules: frozenset[tuple[str, str]]
    """(name in the program, module)."""


def names_of(*sources: str) -> Names:
    """What the top level of the sources binds; dunder names are left out. Unreadable sources bind nothing."""
    defined: set[str] = set()
    changeable: set[str] = set()
    modules: set[tuple[str, str]] = set()
    for source in sources:
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                defined.add(node.name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in _MODULES:
                        modules.add((alias.asname or alias.name, alias.name))
            elif isinstance(node, ast.ImportFrom):
                if node.module in _MODULES and node.level == 0:
                    names = {(a.asname or a.name) for a in node.names if _is_member(node.module, a.name)}
                    defined |= names
            elif isinstance(node, ast.Assign):
                bound = {target.id for target in node.targets if isinstance(target, ast.Name)}
                defined |= bound
                if not _is_constant(node.value):
                    changeable |= bound
    public = frozenset(n for n in defined if not n.startswith("__"))
    return Names(public, frozenset(changeable), frozenset(modules))


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return all(map(_is_constant, node.elts))
    return isinstance(node, ast.Constant) or _integer(node) is not None


@cache
def _is_member(module: str, name: str) -> bool:
    """Whether a harmless module has this as its own: not private, and no module that it imports itself."""
    if name.startswith("_") or name == "*":
        return False
    loaded = importlib.import_module(module)
    return hasattr(loaded, name) and not isinstance(getattr(loaded, name), ModuleType)


class Refused(ValueError):
    """The answer is no argument list, or holds what is not allowed in one."""


def arguments_in(answer: str, entry: str, names: Names) -> str:
    """The argument list that an answer gives for a function, with its parentheses, ready to be run.

    Read as the whole call ``f(1, 2)``, as an assertion about it, or as what stands between the parentheses,
    in this order; ``(1, 2)`` alone is one tuple. The text is written anew from the syntax that was checked.

    Raises:
        Refused: the answer cannot be read as that, or does not pass the gate.
    """
    call = _call(answer, entry)
    if call is None:
        raise Refused("no argument list")
    # The function itself is no argument: what it gives for others would stand in for working it out.
    gate = _Gate(replace(names, defined=names.defined - {entry}))
    for arg in [*call.args, *call.keywords]:
        gate.check(arg, frozenset(), 0)
    if gate.calls_method and gate.names_changeable:
        # [table.clear() for table in [TABLE]] would change the program before it runs.
        raise Refused("a method call beside what the program may change is not allowed")
    parts = [ast.unparse(arg) for arg in call.args]
    parts += [
        f"{k.arg}={ast.unparse(k.value)}" if k.arg else f"**{ast.unparse(k.value)}" for k in call.keywords
    ]
    return f"({', '.join(parts)})"


def _call(answer: str, entry: str) -> ast.Call | None:
    text = answer.strip().removeprefix("assert ").strip()
    if len(text) > MAX_CHARS:
        return None
    node = parse_expression(text)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        node = node.left
    if isinstance(node, ast.Call) and _dotted(node.func) == entry:
        return node
    inside = parse_expression(f"_({text}\n)", max_chars=MAX_CHARS + 10)
    if isinstance(inside, ast.Call) and _dotted(inside.func) == "_":
        return inside
    return None


def _dotted(node: ast.expr) -> str | None:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else None


class _Gate:
    def __init__(self, names: Names) -> None:
        self.names = names
        self.modules = dict(names.modules)
        self.seen = 0
        self.calls_method = False
        self.names_changeable = False

    def check(self, node: ast.AST, bound: frozenset[str], depth: int) -> None:
        """Refuse what is not allowed; `bound` are the variables of enclosing lambdas and comprehensions."""
        self.seen += 1
        if self.seen > _NODES or depth > _DEPTH:
            raise Refused("too long or too deep")
        match node:
            case ast.Constant():
                return
            case ast.Name(id=name):
                self._name(name, bound)
                return
            case ast.BinOp():
                _arithmetic(node)
            case ast.operator():
                return
            case ast.Lambda(args=parameters, body=body):
                inner = bound | _parameters(parameters)
                for default in [*parameters.defaults, *(d for d in parameters.kw_defaults if d is not None)]:
                    self.check(default, bound, depth + 1)
                self.check(body, inner, depth + 1)
                return
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                targets = (sub for g in node.generators for sub in ast.walk(g.target))
                bound = bound | _own_names({sub.id for sub in targets if isinstance(sub, ast.Name)})
                if any(g.is_async for g in node.generators):
                    raise Refused("async")
            case ast.Attribute():
                self._member(node)
                return
            case ast.Call(func=func):
                self._callee(func, bound, depth)
                _steps(node)
                for arg in [*node.args, *node.keywords]:
                    self.check(arg, bound, depth + 1)
                return
            case _ if not isinstance(node, _PLAIN):
                raise Refused(f"{type(node).__name__} is not allowed")
        for child in ast.iter_child_nodes(node):
            self.check(child, bound, depth + 1)

    def _name(self, name: str, bound: frozenset[str]) -> None:
        if name not in bound and name not in self.names.defined and name not in _BUILTINS:
            raise Refused(f"the name {name} is not allowed")
        self.names_changeable |= name in self.names.changeable

    def _member(self, node: ast.Attribute) -> None:
        """``math.inf``, ``datetime.datetime``: a member of a harmless module that the program imports."""
        module = self.modules.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if module is None or not _is_member(module, node.attr):
            raise Refused(f"the attribute {node.attr} is not allowed")

    def _callee(self, func: ast.expr, bound: frozenset[str], depth: int) -> None:
        if not isinstance(func, ast.Attribute):
            self.check(func, bound, depth + 1)
            return
        if isinstance(func.value, ast.Name) and func.value.id in self.modules:
            self._member(func)
            return
        if func.attr.startswith("_") or func.attr in _ATTRIBUTES_REFUSED:
            raise Refused(f"the method {func.attr} is not allowed")
        self.calls_method = True
        root = func.value
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        # A method of what the program made would change the program before it runs.
        if isinstance(root, ast.Name) and root.id in self.names.defined and root.id not in bound:
            if not isinstance(func.value, ast.Name) or not self._is_imported_class(root.id):
                raise Refused(f"a method of {root.id} is not allowed")
            return
        self.check(func.value, bound, depth + 1)

    def _is_imported_class(self, name: str) -> bool:
        # ``from datetime import date``; ``date.today`` is not pure, but it is no cheat either.
        return any(_is_member(module, name) for module in _MODULES)


def _parameters(parameters: ast.arguments) -> frozenset[str]:
    every = [*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs]
    every += [extra for extra in (parameters.vararg, parameters.kwarg) if extra is not None]
    return _own_names({parameter.arg for parameter in every})


def _own_names(names: set[str]) -> frozenset[str]:
    if any(name.startswith("__") for name in names):
        raise Refused("a dunder name is not allowed")
    return frozenset(names)


def _integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        node = node.operand
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _arithmetic(node: ast.BinOp) -> None:
    """Sizes that only the sandbox's limits would stop are refused here."""
    left, right = _integer(node.left), _integer(node.right)
    if isinstance(node.op, ast.Pow):
        if right is None or right > _EXPONENT or left is None or left > _FACTOR:
            raise Refused("a power of that size is not allowed")
    elif isinstance(node.op, ast.LShift):
        if right is None or right > _SHIFT:
            raise Refused("a shift of that size is not allowed")
    elif isinstance(node.op, ast.Mult):
        if isinstance(node.left, ast.BinOp) and isinstance(node.left.op, (ast.Mult, ast.Pow)):
            raise Refused("a product of products is not allowed")
        if isinstance(node.right, ast.BinOp) and isinstance(node.right.op, (ast.Mult, ast.Pow)):
            raise Refused("a product of products is not allowed")
        both = left is not None and right is not None
        if not both and max(left or 0, right or 0) > _FACTOR:
            raise Refused("a repetition of that length is not allowed")
    elif isinstance(node.op, ast.MatMult):
        raise Refused("@ is not allowed")


def _steps(node: ast.Call) -> None:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in ("range", "bytes", "bytearray"):
        for arg in node.args:
            if (_integer(arg) or 0) > _STEPS:
                raise Refused(f"{name} of that length is not allowed")
