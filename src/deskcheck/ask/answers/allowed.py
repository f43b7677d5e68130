"""The arguments that a model may write: a check before anything that a model wrote is run.

An answer to an ``input`` question is an argument list. It is read as syntax and must consist of
literals, operators, comprehensions, lambdas, calls of pure builtins, of what the program defines at
its top level, and of what it imports from a few harmless modules. Everything else is refused.
The gate keeps out cheats, which reach into the function, the interpreter, or the scoring. It does
not protect the machine: the sandbox does.
"""

import ast
from dataclasses import replace

from deskcheck.ask.answers.offered import BUILTINS, METHODS, Names, integer, is_member, names_of
from deskcheck.ask.answers.values import MAX_CHARS, dotted, parse_expression

__all__ = ["Refused", "arguments_in", "names_of"]

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
    ast.keyword,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
    ast.expr_context,
)
_NODES, _DEPTH = 20_000, 100
_FACTOR, _EXPONENT, _SHIFT, _STEPS = 10_000, 64, 256, 100_000


class Refused(ValueError):
    """The answer is not an argument list, or contains something that is not allowed in one."""


def arguments_in(answer: str, entry: str, names: Names) -> str:
    """The argument list that an answer gives for a function, with its parentheses, ready to be run.

    The answer is read as the whole call ``f(1, 2)``, as an assertion about it, or as the text between the
    parentheses, in this order; only ``(1, 2)`` is one tuple. The result is made from the checked syntax.

    Raises:
        Refused: the answer cannot be read as that, or does not pass the gate.
    """
    call = _call(answer, entry)
    if call is None:
        raise Refused("no argument list")
    gate = _Gate(_without(names, entry))
    for arg in [*call.args, *call.keywords]:
        gate.argument(arg, 0)
    if gate.calls and gate.names_changeable:
        # [table.clear() for table in [TABLE]] would change the program before it runs.
        raise Refused("a call beside what the program may change is not allowed")
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
    if isinstance(node, ast.Call) and dotted(node.func) == entry:
        return node
    inside = parse_expression(f"_({text}\n)", max_chars=MAX_CHARS + 10)
    if isinstance(inside, ast.Call) and dotted(inside.func) == "_":
        return inside
    return None


def _without(names: Names, entry: str) -> Names:
    """The names without the function itself, which an argument could call to avoid working out the answer."""
    last = entry.rpartition(".")[2]
    return replace(
        names,
        functions=names.functions - {entry},
        opaque=names.opaque - {entry},
        methods=names.methods - {last} if last != entry else names.methods,
    )


class _Gate:
    """Checks each part of an argument list, and notes whether running it could change the program."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.node_count = 0
        self.calls = False
        """Whether a method, or code of the program, runs before the call. It may change what it can reach."""
        self.names_changeable = False
        """Whether the list names a value that such code could change."""

    def argument(self, node: ast.AST, depth: int) -> None:
        """Check a part that becomes an argument, or goes into one, unchanged."""
        match node:
            case ast.Name(id=name) if name in self.names.opaque:
                return
            case ast.Name(id=name) if name in self.names.functions or name in self.names.classes:
                return
            case ast.keyword(arg=str(), value=value):
                self.argument(value, depth + 1)
            case ast.Tuple(elts=items) | ast.List(elts=items) if depth <= _DEPTH:
                self._count(depth)
                for item in items:
                    self.argument(item, depth + 1)
            case _:
                self.check(node, frozenset(), depth)

    def _count(self, depth: int) -> None:
        self.node_count += 1
        if self.node_count > _NODES or depth > _DEPTH:
            raise Refused("too long or too deep")

    def check(self, node: ast.AST, bound: frozenset[str], depth: int) -> None:
        """Raise Refused for anything that is not allowed. bound: the variables of enclosing lambdas and
        comprehensions."""
        self._count(depth)
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
                self._comprehension(node, bound, depth)
                return
            case ast.Attribute():
                self._member(node, bound)
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

    def _comprehension(
        self,
        node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
        bound: frozenset[str],
        depth: int,
    ) -> None:
        inner = bound
        for generator in node.generators:
            if generator.is_async:
                raise Refused("async")
            inner |= _targets(generator.target)
        # The first iterable is evaluated outside: [f for f in [f]] names the program's own.
        for number, generator in enumerate(node.generators):
            self.check(generator.iter, inner if number else bound, depth + 1)
            for condition in generator.ifs:
                self.check(condition, inner, depth + 1)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for part in parts:
            self.check(part, inner, depth + 1)

    def _name(self, name: str, bound: frozenset[str], *, called: bool = False) -> None:
        names = self.names
        if name in bound or name in names.constants:
            return
        if name in names.functions or name in names.classes:
            # Whoever is handed a function can call it, and a class can be changed.
            self.calls = True
            self.names_changeable |= name in names.classes and not called
        elif name in names.changeable:
            self.names_changeable = True
        elif name in names.opaque:
            raise Refused(f"{name} may be an argument, but not used for one")
        elif name not in BUILTINS or name in names.shadowed:
            raise Refused(f"the name {name} is not allowed")

    def _member(self, node: ast.Attribute, bound: frozenset[str]) -> None:
        """``math.inf``, ``datetime.datetime``: a member of a harmless module that the program imports."""
        module = self._module(node.value, bound)
        if module is None or not is_member(module, node.attr):
            raise Refused(f"the attribute {node.attr} is not allowed")

    def _module(self, node: ast.expr, bound: frozenset[str]) -> str | None:
        if not isinstance(node, ast.Name) or node.id in bound:
            return None
        return self.names.modules.get(node.id)

    def _callee(self, func: ast.expr, bound: frozenset[str], depth: int) -> None:
        if isinstance(func, ast.Name):
            self._count(depth)
            self._name(func.id, bound, called=True)
            return
        if not isinstance(func, ast.Attribute):
            self.check(func, bound, depth + 1)
            return
        if self._module(func.value, bound) is not None:
            self._member(func, bound)
            return
        if func.attr not in METHODS and func.attr not in self.names.methods:
            raise Refused(f"the method {func.attr} is not allowed")
        self.calls = True
        self.check(func.value, bound, depth + 1)


def _targets(node: ast.expr) -> frozenset[str]:
    """Names that a comprehension binds. An item or an attribute as its target would change the program."""
    match node:
        case ast.Name(id=name):
            return _own_names({name})
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return frozenset().union(*map(_targets, items))
        case ast.Starred(value=value):
            return _targets(value)
    raise Refused("a comprehension may bind names only")


def _parameters(parameters: ast.arguments) -> frozenset[str]:
    every = [*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs]
    every += [extra for extra in (parameters.vararg, parameters.kwarg) if extra is not None]
    return _own_names({parameter.arg for parameter in every})


def _own_names(names: set[str]) -> frozenset[str]:
    if any(name.startswith("__") for name in names):
        raise Refused("a dunder name is not allowed")
    return frozenset(names)


def _arithmetic(node: ast.BinOp) -> None:
    """Sizes that only the sandbox's limits would stop are refused here."""
    first, second = integer(node.left), integer(node.right)
    if isinstance(node.op, ast.Pow):
        if second is None or second > _EXPONENT or first is None or first > _FACTOR:
            raise Refused("a power of that size is not allowed")
    elif isinstance(node.op, ast.LShift):
        if second is None or second > _SHIFT:
            raise Refused("a shift of that size is not allowed")
    elif isinstance(node.op, ast.Mult):
        if isinstance(node.left, ast.BinOp) and isinstance(node.left.op, (ast.Mult, ast.Pow)):
            raise Refused("a product of products is not allowed")
        if isinstance(node.right, ast.BinOp) and isinstance(node.right.op, (ast.Mult, ast.Pow)):
            raise Refused("a product of products is not allowed")
        both = first is not None and second is not None
        if not both and max(first or 0, second or 0) > _FACTOR:
            raise Refused("a repetition of that length is not allowed")
    elif isinstance(node.op, ast.MatMult):
        raise Refused("@ is not allowed")


def _steps(node: ast.Call) -> None:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in ("range", "bytes", "bytearray"):
        for arg in node.args:
            if (integer(arg) or 0) > _STEPS:
                raise Refused(f"{name} of that length is not allowed")
