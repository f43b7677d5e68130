"""Cells rewritten: so that they do the same, and so that they nearly do. For `trials.py` and its tests.

All work on the syntax tree and give the new source. Magics are first written as the calls that IPython makes
of them; without IPython, cells with magics are left alone."""

import ast
import copy
import io
import itertools
import re
import tokenize
from collections.abc import Callable, Iterator
from importlib.util import find_spec

from deskcheck.notebook.state.names import Later, cell_names

_PURE_CALLS = frozenset(
    "abs bool dict enumerate float int len list max min range round set sorted str sum tuple zip".split()
)
_PURE = (
    ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.List, ast.Tuple,
    ast.Dict, ast.Set, ast.JoinedStr, ast.FormattedValue, ast.Subscript, ast.Slice, ast.Lambda, ast.arguments,
    ast.arg, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.Starred, ast.ListComp,
    ast.SetComp, ast.DictComp, ast.comprehension, ast.Call, ast.keyword,
)  # fmt: skip
_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip


Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_BINDING = Scope | Comprehension | ast.Import | ast.ImportFrom | ast.ExceptHandler | ast.Match


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


def _text(tree: ast.AST, source: str) -> str:
    # A semicolon at the end keeps the last value from being shown; the tree does not have it.
    return ast.unparse(tree) + (";" if _is_quiet(source) else "")


def _is_quiet(source: str) -> bool:
    marks = [
        token.string for token in _tokens(source) if token.type not in _LAYOUT and token.string.strip() != ""
    ]
    return marks[-1:] == [";"]


def _tokens(source: str) -> list[tokenize.TokenInfo]:
    return [*tokenize.generate_tokens(io.StringIO(source).readline)]


_LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.DEDENT)


def plain(source: str) -> str | None:
    """A cell as Python alone; None where that cannot be had."""
    if _tree(source) is not None:
        return source
    if find_spec("IPython") is None:
        return None
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        found: str = TransformerManager().transform_cell(source)
    except SyntaxError:
        return None
    return found if _tree(found) is not None else None


def _new_name(name: str, tree: ast.AST, later: Later) -> str:
    """One that neither the cell nor a later one has."""
    taken = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
    taken |= {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg | ast.keyword) and each.arg}
    taken |= {n for each in ast.walk(tree) if isinstance(each, ast.Global | ast.Nonlocal) for n in each.names}
    taken |= _words_of_magics(tree)
    new = f"{name}_x"
    while new in taken or new in later:
        new += "x"
    return new


def _words_of_magics(tree: ast.AST) -> set[str]:
    """In what is given to IPython as text any word may be a variable."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "get_ipython":
            texts = [each.value for each in ast.walk(tree) if isinstance(each, ast.Constant)]
            found.update(word for text in texts if isinstance(text, str) for word in re.findall(r"\w+", text))
            break
    return found


# -- that do the same ------------------------------------------------------------------------------


def equivalents(source: str, later: Later) -> Iterator[tuple[str, str]]:
    """(kind, source) of cells that do the same by construction, whatever the values are.

    later: what the notebook reads after the cell: names that are read later stay, and new ones are none of
    theirs. ``guarded`` comes where there would be fewer than two others, ``layout`` where there is no other.
    """
    python = plain(source)
    if python is None:
        return
    if python != source:
        yield "magic", python
    found = 0
    for kind, rewrite in _EQUIVALENTS.items():
        new = rewrite(python, later)
        if new is not None and new != python:
            found += 1
            yield kind, new
    if found < 2:
        new = guarded(python)
        if new is not None:
            found += 1
            yield "guarded", new
    if not found and python == source:
        tree = _tree(source)
        assert tree is not None
        yield "layout", f"# The same.\n\n{_text(tree, source)}"


def renamed(source: str, later: Later) -> str | None:
    """With a variable renamed that the cell sets before it uses it, if it does, and nobody later reads."""
    tree = _tree(source)
    if tree is None or _sees_names(source):
        return None
    names = cell_names(source)
    fixed = {*names.read, *names.in_text} | _words_of_magics(tree)
    fixed |= {
        each.id for each in ast.walk(tree) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Del)
    }
    stored = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name) and _is_store(each)}
    for name in sorted(stored - fixed, key=lambda name: (name not in names.named, name)):
        if name in later or name.startswith("_") or _bound_inside(tree, name):
            continue
        return _text(_Rename(name, _new_name(name, tree, later)).visit(tree), source)
    return None


def _sees_names(source: str) -> bool:
    """Whether it is seen in a cell which variables there are."""
    return bool(cell_names(source).named & _NAMESPACES)


_NAMESPACES = frozenset("globals locals vars dir eval exec who whos who_ls".split())


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _bound_inside(tree: ast.Module, name: str) -> bool:
    """Whether a name is anything but a variable of the cell's own: of a function, a class, an import."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                if node.name == name or any(
                    isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store)
                    for each in ast.walk(node)
                ):
                    return True
            case ast.comprehension():
                if any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node.target)):
                    return True
            case ast.arg() | ast.keyword():
                if node.arg == name:
                    return True
            case ast.alias():
                if (node.asname or node.name).partition(".")[0] == name:
                    return True
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
                if node.name == name:
                    return True
            case ast.Global() | ast.Nonlocal():
                if name in node.names:
                    return True
    return False


class _Rename(ast.NodeTransformer):
    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.new, node.ctx), node) if node.id == self.old else node


def renamed_inside(source: str, later: Later) -> str | None:
    """With a local variable of a function renamed, or the variable of a comprehension."""
    tree = _tree(source)
    if tree is None or "inspect" in later or _sees_names(source):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            name = _own_local(node)
            if name is not None:
                rename = _Rename(name, _new_name(name, tree, later))
                for each in node.body:
                    rename.visit(each)
                return _text(tree, source)
        elif isinstance(node, Comprehension):
            name = _own_variable(node)
            if name is not None:
                rename = _Rename(name, _new_name(name, tree, later))
                first = node.generators[0].iter  # is not of its scope
                node.generators[0].iter = ast.Constant(None)
                rename.generic_visit(node)
                node.generators[0].iter = first
                return _text(tree, source)
    return None


def _own_local(function: ast.FunctionDef) -> str | None:
    """A local variable of a function that is no parameter, and that nothing inside of the function has."""
    inner = [
        each
        for node in function.body
        for each in ast.walk(node)
        if isinstance(
            each, Scope | Comprehension | ast.Import | ast.ImportFrom | ast.ExceptHandler | ast.Match
        )
    ]
    theirs = {name for each in inner for name in _mentioned(each)}
    given = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    walked = [each for node in function.body for each in ast.walk(node)]
    declared = {n for each in walked if isinstance(each, ast.Global | ast.Nonlocal) for n in each.names}
    stored = [each.id for each in walked if isinstance(each, ast.Name) and _is_store(each)]
    return next((name for name in stored if name not in theirs | given | declared), None)


def _own_variable(node: ast.expr) -> str | None:
    """A variable of a comprehension that no function or other comprehension in it has."""
    assert isinstance(node, Comprehension)
    walked = [*ast.walk(node)]
    if any(isinstance(each, ast.NamedExpr) for each in walked):
        return None
    theirs = {
        name
        for each in walked
        if each is not node and isinstance(each, Scope | Comprehension)
        for name in _mentioned(each)
    }
    first = node.generators[0]
    own = [each.id for each in ast.walk(first.target) if isinstance(each, ast.Name)]
    return next((name for name in own if name not in theirs), None)


def _mentioned(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=asname):
                yield (asname or name).partition(".")[0]
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                yield name


def reordered(source: str, later: Later | None = None) -> str | None:
    """With the first two neighbours swapped that have nothing to do with each other."""
    tree = _tree(source)
    if tree is None:
        return None
    body = tree.body
    for n in range(len(body) - 1):
        if _independent(body[n], body[n + 1]):
            body[n], body[n + 1] = body[n + 1], body[n]
            return _text(tree, source)
    return None


def joined(source: str, later: Later | None = None) -> str | None:
    """With two neighbouring assignments that have nothing to do with each other made one."""
    tree = _tree(source)
    if tree is None:
        return None
    for n, (one, other) in enumerate(itertools.pairwise(tree.body)):
        match one, other:
            case ast.Assign(targets=[target], value=value), ast.Assign(targets=[second], value=other_value):
                if _independent(one, other):
                    targets = ast.Tuple([target, second], ast.Store())
                    new = ast.Assign([targets], ast.Tuple([value, other_value], ast.Load()), lineno=0)
                    tree.body[n : n + 2] = [new]
                    return _text(tree, source)
    return None


def split(source: str, later: Later | None = None) -> str | None:
    """With an assignment of constants to several names made several, or an import of several."""
    tree = _tree(source)
    if tree is None:
        return None
    for n, node in enumerate(tree.body):
        several: list[ast.stmt] = []
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if (
                len(names) == len(values)
                and all(isinstance(each, ast.Name) for each in names)
                and all(isinstance(each, ast.Constant) for each in values)
            ):
                pairs = zip(names, values, strict=True)
                several = [ast.Assign([name], value, lineno=0) for name, value in pairs]
            case ast.Import(names=aliases):
                several = [ast.Import([each]) for each in aliases]
            case ast.ImportFrom(module=module, names=aliases, level=level):
                several = [ast.ImportFrom(module, [each], level) for each in aliases]
        if len(several) > 1:
            tree.body[n : n + 1] = several
            return _text(tree, source)
    return None


def introduced(source: str, later: Later) -> str | None:
    """With a temporary for a value that is assigned or shown, else for a constant."""
    tree = _tree(source)
    if tree is None or later.everything or _sees_names(source):
        return None
    new = _new_name("value", tree, later)
    for n, node in reversed([*enumerate(tree.body)]):
        # With `ast_node_interactivity` the values of earlier lines may be shown as well.
        if isinstance(node, ast.Assign) or (isinstance(node, ast.Expr) and n == len(tree.body) - 1):
            first = ast.Assign([ast.Name(new, ast.Store())], node.value, lineno=0)
            node.value = ast.Name(new, ast.Load())
            tree.body.insert(n, first)
            return _text(tree, source)
    return None


def named_constant(source: str, later: Later) -> str | None:
    """With a name for a constant that a line of the cell gives to a call."""
    tree = _tree(source)
    if tree is None or later.everything or _sees_names(source):
        return None
    new = _new_name("given", tree, later)
    for n, node in enumerate(tree.body):
        for call in _here(node):
            if not isinstance(call, ast.Call):
                continue
            places: list[tuple[ast.expr, Callable[[ast.expr], None]]] = [
                (each, lambda value, i=i, call=call: call.args.__setitem__(i, value))  # type: ignore[misc]
                for i, each in enumerate(call.args)
            ]
            places += [
                (each.value, lambda value, each=each: setattr(each, "value", value))  # type: ignore[misc]
                for each in call.keywords
            ]
            for value, put in places:
                if _is_constant(value) and not _is_shell(call):
                    put(ast.Name(new, ast.Load()))
                    tree.body.insert(n, ast.Assign([ast.Name(new, ast.Store())], value, lineno=0))
                    return _text(tree, source)
    return None


def _here(node: ast.AST) -> Iterator[ast.AST]:
    """What a statement has inside, but for what is inside of functions, classes and comprehensions."""
    if isinstance(node, Scope | Comprehension):
        return
    yield node
    for each in ast.iter_child_nodes(node):
        yield from _here(each)


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(map(_is_constant, node.elts))
    return isinstance(node, ast.Constant) and node.value is not ...


def _is_shell(call: ast.Call) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "get_ipython" for each in ast.walk(call))


def inlined(source: str, later: Later) -> str | None:
    """Without a temporary: a constant that the cell gives a name, and uses once, at once."""
    tree = _tree(source)
    if tree is None:
        return None
    named = [each for each in ast.walk(tree) if isinstance(each, ast.Name)]
    for n, (one, other) in enumerate(itertools.pairwise(tree.body)):
        match one:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                name not in later
                and _is_constant(value)
                and sum(each.id == name for each in named) == 2
                and name not in _words_of_magics(tree)
                and not _sees_names(source)
            ):
                uses = [each for each in _here(other) if isinstance(each, ast.Name) and each.id == name]
                if len(uses) == 1 and isinstance(uses[0].ctx, ast.Load):
                    _Put(uses[0], value).visit(other)
                    del tree.body[n]
                    return _text(tree, source)
    return None


class _Put(ast.NodeTransformer):
    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.new if node is self.old else node


def by_keyword(source: str, later: Later | None = None) -> str | None:
    """With the last positional argument of a call given by its name: of functions that the cell defines,
    once, above the call."""
    tree = _tree(source)
    if tree is None:
        return None
    known: dict[str, tuple[str, ...]] = {}
    bound = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name) and _is_store(each)}
    for node in tree.body:
        for call in _here(node):
            match call:
                case ast.Call(func=ast.Name(id=name), args=[_, *_]) if name in known:
                    args, names = call.args, known[name]
                    taken = {each.arg for each in call.keywords}
                    if (
                        len(args) <= len(names)
                        and not any(isinstance(each, ast.Starred) for each in args)
                        and None not in taken
                    ):
                        call.keywords.insert(0, ast.keyword(names[len(args) - 1], args.pop()))
                        return _text(tree, source)
        if isinstance(node, ast.FunctionDef):
            given = node.args
            if (
                given.vararg is None
                and not given.posonlyargs
                and not node.decorator_list
                and node.name not in bound
                and sum(isinstance(n, Scope) and getattr(n, "name", "") == node.name for n in ast.walk(tree))
                == 1
            ):
                known[node.name] = tuple(each.arg for each in given.args)
    return None


def aliased(source: str, later: Later) -> str | None:
    """With what an import gives bound to another name first."""
    tree = _tree(source)
    if tree is None or later.everything or _sees_names(source):
        return None
    for n, node in enumerate(tree.body):
        if not isinstance(node, ast.Import | ast.ImportFrom) or len(node.names) != 1:
            continue
        (alias,) = node.names
        name = alias.asname or alias.name
        if name == "*" or "." in name or getattr(node, "module", "") == "__future__":
            continue
        new = _new_name(name, tree, later)
        alias.asname = new
        tree.body.insert(
            n + 1, ast.Assign([ast.Name(name, ast.Store())], ast.Name(new, ast.Load()), lineno=0)
        )
        return _text(tree, source)
    return None


def spelled(source: str, later: Later | None = None) -> str | None:
    """With a literal written otherwise: a number as hexadecimal or with exponent, a text with an escape."""
    for token in _tokens(source):
        new = None
        if token.type == tokenize.NUMBER:
            new = _number(token.string)
        elif token.type == tokenize.STRING and re.match(r"['\"][a-z]", token.string):
            new = f"{token.string[0]}\\x{ord(token.string[1]):02x}{token.string[2:]}"
        if new is None:
            continue
        lines = source.splitlines(keepends=True)
        (row, start), (end_row, end) = token.start, token.end
        if row != end_row:
            continue
        line = lines[row - 1]
        lines[row - 1] = line[:start] + new + line[end:]
        found = "".join(lines)
        if _same_tree(found, source):
            return found
    return None


def _number(text: str) -> str | None:
    if re.fullmatch(r"[1-9]\d*", text):
        return hex(int(text))
    if re.fullmatch(r"\d+\.\d*", text):
        return f"{text}e0"
    return None


def _same_tree(one: str, other: str) -> bool:
    trees = [_tree(text) for text in (one, other)]
    return None not in trees and len({ast.dump(tree) for tree in trees if tree is not None}) == 1


def guarded(source: str) -> str | None:
    """With its first line that is no value alone under ``if True:``."""
    tree = _tree(source)
    if tree is None:
        return None
    for n, node in enumerate(tree.body):
        if not isinstance(node, ast.Expr) and getattr(node, "module", "") != "__future__":
            tree.body[n] = ast.If(ast.Constant(True), [node], [])
            return _text(tree, source)
    return None


_EQUIVALENTS: dict[str, Callable[[str, Later], str | None]] = {
    "renamed": renamed, "inside": renamed_inside, "reordered": reordered, "joined": joined, "split": split,
    "introduced": introduced, "constant named": named_constant, "inlined": inlined, "keyword": by_keyword,
    "aliased": aliased, "spelled": spelled,
}  # fmt: skip
EQUIVALENT = ("itself", "magic", *_EQUIVALENTS, "guarded", "layout")
NEAR = ("constant", "operator", "result", "dropped", "swapped")


def _independent(one: ast.stmt, other: ast.stmt) -> bool:
    facts, facts_too = _facts(one), _facts(other)
    if facts is None or facts_too is None:
        return False
    (bound, named, consumes), (bound_too, named_too, consumes_too) = facts, facts_too
    if bound & bound_too or bound & named_too or bound_too & named:
        return False
    # Two that go through one iterator have to do with each other.
    return not ((consumes or consumes_too) and named & named_too - _PURE_CALLS)


def _facts(node: ast.stmt) -> tuple[set[str], set[str], bool] | None:
    """Names that a statement binds and reads, and whether it goes through anything; None where it may have
    effects, or raise, otherwise."""
    match node:
        case ast.Import() | ast.ImportFrom():
            if any(alias.name == "*" for alias in node.names):
                return None
            return {(a.asname or a.name).partition(".")[0] for a in node.names}, set(), False
        case ast.FunctionDef(decorator_list=[], args=ast.arguments(defaults=[], kw_defaults=[])):
            return {node.name}, set(), False
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _pure(value):
            named = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
            goes = any(
                isinstance(each, ast.Call | ast.comprehension | ast.Starred) for each in ast.walk(value)
            )
            return {name}, named, goes
    return None


def _pure(value: ast.expr) -> bool:
    for node in ast.walk(value):
        if not isinstance(node, _PURE):
            return False
        if isinstance(node, ast.Call) and not (
            isinstance(node.func, ast.Name) and node.func.id in _PURE_CALLS
        ):
            return False
    return True


# -- that nearly do --------------------------------------------------------------------------------


def near_misses(source: str) -> Iterator[tuple[str, str]]:
    """(kind, source): ``constant``, one changed; ``operator``, one changed; ``result``, the last line, whose
    value is shown, left out; ``dropped``, the last line before that; ``swapped``, the first two arguments of
    a call. The last constant, operator and call: what comes last is used the least by others."""
    python = plain(source)
    tree = None if python is None else _tree(python)
    if python is None or tree is None:
        return
    docs = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node is not tree.body[-1]
    }
    changes = (("constant", _other_constant), ("operator", _other_operator), ("swapped", _other_order))
    for kind, change in changes:
        new = copy.deepcopy(tree)
        originals, copies = list(ast.walk(tree)), list(ast.walk(new))
        for old, node in reversed([*zip(originals, copies, strict=True)]):
            if id(old) not in docs and change(node):
                yield kind, _text(new, python)
                break
    last = tree.body[-1] if tree.body else None
    shown = isinstance(last, ast.Expr) and not _is_quiet(python)
    if shown:
        new = copy.deepcopy(tree)
        new.body.pop()
        yield "result", ast.unparse(new)
    if len(tree.body) > shown:
        new = copy.deepcopy(tree)
        del new.body[-1 - shown]
        yield "dropped", _text(new, python)


def _other_order(node: ast.AST) -> bool:
    match node:
        case ast.Call(args=[one, other, *_]) if ast.dump(one) != ast.dump(other) and not _is_shell(node):
            if not any(isinstance(each, ast.Starred) for each in (one, other)):
                node.args[:2] = [other, one]
                return True
    return False


def _other_constant(node: ast.AST) -> bool:
    if not isinstance(node, ast.Constant):
        return False
    match node.value:
        case bool():
            node.value = not node.value
        case int() | float():
            node.value += 1
        case str():
            node.value += "x"
        case _:
            return False
    return True


def _other_operator(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if type(op) in _OPERATORS:
            node.op = _OPERATORS[type(op)]()  # type: ignore[assignment]
        case ast.Compare(ops=[op]) if type(op) in _OPERATORS:
            node.ops = [_OPERATORS[type(op)]()]  # type: ignore[list-item]
        case _:
            return False
    return True
