"""Which names the source of a cell reads, binds and changes. Nothing is run for it.

Not covered: names in strings (`eval`), what attributes and modules lead to, what a library does with the
user's namespace, and which way a branch goes: a name that may be read before it is bound counts as read.
"""

import ast
import functools
import re
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_CELL_MAGIC = re.compile(r"\s*%%(\w+)[^\n]*\n?")
_RUNS_PYTHON = frozenset("time timeit prun capture python python3 memit mprun lprun snakeviz".split())
"""Magics whose cell or line is Python in the kernel."""
_LINE = re.compile(
    r"(\s*)(?:(\w[\w ,]*=\s*)?%(\w+)[ \t]*(.*)|(\w[\w ,]*=\s*)?!(.*)|[\w.]*\?{1,2}|\?{1,2}[\w.]+)"
)
_EXPANDED = re.compile(r"(?<!\{)\{([^{}]+)\}(?!\})|(?<!\$)\$(\w+)")
"""What IPython puts into the line of a magic or command: an expression, or a variable if there is one."""
_WORD = re.compile(r"[^\W\d]\w*")
_OPTION = re.compile(r"-{1,2}\w+(?:[ =]?\d+)?\s+")


def python_of(source: str, *, variables: bool = True) -> str:
    """The Python of a cell that is not all Python: without IPython's magics, shell lines and questions, each
    of which leaves a line.

    The statement after ``%time``, ``%timeit`` and their like stays, as does the cell under ``%%time``; of
    ``files = !ls {a} $b`` the name stays bound, to what is put into the line: ``(a, b)``, without ``b``
    unless `variables`, as it may be one of the shell's. A cell under any other ``%%magic`` is no Python:
    empty.
    """
    head = _CELL_MAGIC.match(source)
    if head is not None:
        if head[1] not in _RUNS_PYTHON:
            return ""
        source = "\n" * head[0].count("\n") + source[head.end() :]
    return "\n".join(_python_line(line, variables) for line in source.split("\n"))


def _python_line(line: str, variables: bool) -> str:
    found = _LINE.fullmatch(line)
    if found is None:
        return line
    indent, bound, magic, rest, shell_bound, command = found.groups()
    if magic in _RUNS_PYTHON:
        while rest and (option := _OPTION.match(rest)):
            rest = rest[option.end() :]
        return f"{indent}{bound or ''}{rest or 'pass'}"
    bound = bound or shell_bound or ""
    expanded = [*_expanded(rest or command or "", variables)]
    if expanded:
        return f"{indent}{bound}({', '.join(expanded)},)"
    return f"{indent}{bound}None" if bound else f"{indent}pass"


def _expanded(line: str, variables: bool) -> Iterator[str]:
    """The expressions that IPython puts into a line, and the variables, if these are asked for."""
    for found in _EXPANDED.finditer(line):
        expression = f"({found[1]})" if found[1] else found[2]
        try:
            ast.parse(expression, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if found[1] or variables:
            yield expression


def parse(source: str, *, variables: bool = True) -> ast.Module | None:
    """The syntax tree of a cell; None where even without magics it is no Python, or is nested too deep.
    variables: as of `python_of`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cell's own, as of "\d" in a string
        for read in (str, lambda text: python_of(text, variables=variables)):
            try:
                tree = ast.parse(read(source))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            return tree if _depth(tree) <= _DEPTH else None
    return None


_DEPTH = 150
"""What is below is gone through by recursion."""


def _depth(tree: ast.AST) -> int:
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def names_read(source: str) -> tuple[str, ...]:
    """Names that a cell reads before it has surely bound them itself, in the order of the first reading.

    What a function or class that the cell defines reads, it reads where its name is first used, else at the
    end of the cell. Of a cell that cannot be parsed every word counts that could be a name.
    """
    tree = parse(source)
    if tree is None:
        return tuple(dict.fromkeys(_WORD.findall(source)))
    return tuple(reader_of(*tree.body).read)


def names_unbound(source: str) -> tuple[str, ...]:
    """Of the names that a cell reads, those that nothing in it binds before, on any way: whoever runs it must
    have them. Empty for what cannot be parsed, and after a star import, which may bring any name."""
    tree = parse(source, variables=False)
    return () if tree is None else tuple(reader_of(*tree.body).unbound)


def names_bound(source: str) -> tuple[str, ...]:
    """Names that a cell may bind, in order."""
    tree = parse(source)
    return tuple(dict.fromkeys(_bindings(tree.body))) if tree is not None else ()


def mentioned(source: str) -> list[str]:
    """Names in a cell's source, in order; by their spelling where it is not Python (magics)."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return list(dict.fromkeys(_WORD.findall(source)))[:1000]
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found[node.id] = None
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            found[node.name] = None
        elif isinstance(node, ast.alias):
            found[(node.asname or node.name).partition(".")[0]] = None
    return list(found)[:1000]


def depends_on(
    source: str, names: Container[str], *, earlier: Iterable[str] = (), types: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """The variables among `names` that a piece of source depends on: those that it reads (`names_read`), then
    those that the functions and classes read which it comes by, and so on.

    earlier: sources that ran before it in the same kernel, in order: a function's or class's source is the
    last that bound its name there. types: name -> type of the variable; that of an instance leads to its
    class.
    """
    defined = _definitions(earlier)
    used: dict[str, None] = {}
    todo = [*names_read(source)]
    while todo:
        name = todo.pop(0)
        if name in used:
            continue
        used[name] = None
        if name in defined:
            todo += reader_of(defined[name]).read
        type_name = (types or {}).get(name)
        if type_name in defined:
            todo.append(type_name)
    return tuple(name for name in used if name in names)


def _definitions(earlier: Iterable[str]) -> dict[str, ast.AST]:
    """Name -> the function, class or lambda that it was bound to last, at the top level of a cell."""
    found: dict[str, ast.AST] = {}
    for source in earlier:
        tree = parse(source)
        for node in tree.body if tree is not None else ():
            for name in _bindings([node]):
                found.pop(name, None)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
                found.update((t.id, node.value) for t in node.targets if isinstance(t, ast.Name))
    return found


# -- what later cells read ---------------------------------------------------------------------------

_EVERYTHING = frozenset(("eval", "exec", "globals", "locals", "who", "whos", "who_ls", "reset", "store"))
"""Builtins and magics through which any variable may be read. ``dir()`` and ``vars()`` read names."""
_IN_TEXT = re.compile(r"@([^\W\d]\w*)")
"""In ``DataFrame.query("x > @limit")`` a variable."""
_MAGIC = re.compile(r"\s*[%!?].*|.*=\s*[%!].*")


@dataclass(frozen=True, slots=True)
class Later:
    """Names that are read later; everything: any may be."""

    names: frozenset[str]
    everything: bool = False

    def __contains__(self, name: object) -> bool:
        return self.everything or name in self.names


@dataclass(frozen=True, slots=True)
class Reads:
    """Of a cell. first: names that it reads before it has surely bound them. called: what its functions and
    classes read, when they are called. bound: names that it has surely bound in the end. named: all that it
    reads, those too that it has bound before."""

    first: frozenset[str]
    called: frozenset[str]
    bound: frozenset[str]
    named: frozenset[str]


def read_later(sources: Iterable[str], before: Iterable[str] = ()) -> Later:
    """What cells read of the state before the first of them; more may be said than is read, and as far as can
    be helped not less. before: the cells that ran earlier, whose functions may be called later.

    Where code is run or namespaces are read by a name (``eval``, ``globals``), every variable counts.
    """
    read = {name for source in before for name in reads(source).called}
    bound: set[str] = set()
    for source in sources:
        found = reads(source)
        read |= (found.first - bound) | found.called
        bound |= found.bound
    return Later(frozenset(read), everything=bool(read & _EVERYTHING))


@functools.lru_cache(4096)
def reads(source: str) -> Reads:
    """Of one cell. What is not Python even without magics: every word in it is read."""
    tree = parse(source)
    if tree is None:
        words = frozenset(_WORD.findall(source))
        return Reads(words, frozenset(), frozenset(), words)
    lines = source.split("\n")
    magic = lines if source.lstrip().startswith("%%") else [line for line in lines if _MAGIC.fullmatch(line)]
    extra = {word for line in magic for word in _WORD.findall(line)}
    named = set(extra)
    called: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            named.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            extra.update(_IN_TEXT.findall(node.value))
    for function in _functions(tree):
        called.update(reader_of(function).read)
    reader = _Reader()
    reader.block(tree.body)
    bound = reader.bound - extra
    return Reads(
        frozenset({*reader.read, *extra}), frozenset(called), frozenset(bound), frozenset(named | extra)
    )


def _functions(tree: ast.Module) -> Iterator[ast.AST]:
    """Those that are not inside of another."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node
        else:
            todo += ast.iter_child_nodes(node)


# -- what a cell changes -----------------------------------------------------------------------------


def _nodes(source: str) -> Iterator[ast.AST]:
    """All nodes of a cell's syntax tree; none where it is not Python."""
    tree = parse(source)
    return iter(()) if tree is None else ast.walk(tree)


def modules(source: str) -> set[str]:
    """Names that a cell's imports give something to."""
    imports = (node for node in _nodes(source) if isinstance(node, ast.Import | ast.ImportFrom))
    return {name for node in imports for name in imported_names(node)}


def changed(source: str) -> set[str]:
    """Names whose objects a cell may change: by an item, an attribute, a method. As far as it is Python."""
    found: set[str] = set()
    for node in _nodes(source):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            found.add(_root(node))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found.add(_root(node.func))
    return found - {""}


def _root(node: ast.expr) -> str:
    """The name that an expression begins with; empty where it begins with none."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def written_globals(source: str) -> dict[str, set[str]]:
    """Function that a cell defines -> names of the module that it gives something to."""
    found: dict[str, set[str]] = {}
    for function in _nodes(source):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            named = [node for node in ast.walk(function) if isinstance(node, ast.Global)]
            if named:
                found[function.name] = {name for node in named for name in node.names}
    return found


def environment(source: str) -> tuple[set[str], set[str]]:
    """Variables of the environment that a cell gives something to, and those that it reads, each as
    ``$NAME``; as far as their names stand in it."""
    given: set[str] = set()
    read: set[str] = set()
    for found in _ENV.finditer(source):
        (given if found["value"] else read).add(f"${found['name']}")
    read |= {f"${name}" for line in _SHELL.findall(source) for name in _IN_SHELL.findall(line)}
    for node in _nodes(source):
        if isinstance(node, ast.Subscript) and _is_environ(node.value):
            name = _constant(node.slice)
            (read if isinstance(node.ctx, ast.Load) else given).update(name)
        elif isinstance(node, ast.Call):
            _environment_call(node, given, read)
    return given, read


_ENV = re.compile(r"^\s*%(?:env|set_env)\s+(?P<name>\w+)(?P<value>[ \t]*=|[ \t]+\S)?", re.MULTILINE)
_SHELL = re.compile(r"^\s*(?:\w+\s*=\s*)?!(.*)$", re.MULTILINE)
_IN_SHELL = re.compile(r"\$\{?(\w+)")
_GIVE = ("setdefault", "putenv", "update")
_READ = ("get", "getenv", "pop", "setdefault")


def _environment_call(call: ast.Call, given: set[str], read: set[str]) -> None:
    """Add what ``os.getenv("A")``, ``os.environ.update(A="1")`` and their like give or read."""
    function = call.func
    called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    of_environ = isinstance(function, ast.Attribute) and _is_environ(function.value)
    if not of_environ and called not in ("getenv", "putenv"):
        return
    first = call.args[0] if call.args else None
    names = _constant(first) if called != "update" else set()
    if isinstance(first, ast.Dict):
        names = {name for key in first.keys for name in _constant(key)}
    names |= {f"${each.arg}" for each in call.keywords if each.arg is not None and called == "update"}
    if called in _GIVE:
        given |= names
    if called in _READ:
        read |= names


def _is_environ(node: ast.expr) -> bool:
    return "environ" in (getattr(node, "attr", ""), getattr(node, "id", ""))


def _constant(node: ast.expr | None) -> set[str]:
    named = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return {f"${ast.literal_eval(node)}"} if named and node is not None else set()


# -- one namespace -----------------------------------------------------------------------------------


def reader_of(*nodes: ast.AST) -> "_Reader":
    """What running some statements looks up outside of them, and then using what they define."""
    reader = _Reader()
    reader.block(nodes)
    for name in [*reader.later]:
        reader.use(name)
    return reader


class _Reader(ast.NodeVisitor):
    """Follows one namespace, top to bottom: what is read while it is not surely bound."""

    def __init__(self) -> None:
        self.read: dict[str, None] = {}
        self.bound: set[str] = set()
        self.unbound: dict[str, None] = {}
        """What is read that not even perhaps is bound."""
        self.perhaps_bound: set[str] = set()
        self.later: dict[str, tuple[str, ...]] = {}
        """Function or class that was defined here -> what using it reads."""

    def use(self, name: str) -> None:
        for inner in self.later.pop(name, ()):
            self._name(inner)

    def _name(self, name: str) -> None:
        self.use(name)
        if name not in self.bound:
            self.read[name] = None
            if not self.perhaps_bound & {name, "*"}:
                self.unbound[name] = None

    def _names(self, names: Iterable[str]) -> None:
        for name in names:
            self._name(name)

    def _bind(self, name: str) -> None:
        self.later.pop(name, None)
        self.bound.add(name)
        self.perhaps_bound.add(name)

    def block(self, body: Iterable[ast.AST]) -> None:
        for node in body:
            self.visit(node)

    def _perhaps(self, *bodies: Iterable[ast.AST], surely: bool = False) -> None:
        """Blocks of which each may run or not, or (surely) exactly one of them does."""
        before, after = self.bound.copy(), []
        for body in bodies:
            self.bound = before.copy()
            self.block(body)
            after.append(self.bound)
        self.bound = set.intersection(*after) if surely and after else before

    def each(self, node: ast.AST | None) -> None:
        """Visit a part that may not be there."""
        if node is not None:
            self.visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        self.block(ast.iter_child_nodes(node))

    # -- names and what binds them -----------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self._bind(node.id)
            return
        self._name(node.id)
        if isinstance(node.ctx, ast.Del):
            self.bound.discard(node.id)
            self.perhaps_bound.discard(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.visit(node.target)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        self.block(node.targets)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.annotation)
        self.each(node.value)
        if node.value is not None or not isinstance(node.target, ast.Name):
            self.visit(node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._name(node.target.id)
        self.visit(node.value)
        self.visit(node.target)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for name in imported_names(node):
            self._bind(name)

    visit_ImportFrom = visit_Import

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        self.generic_visit(node)
        if node.name is not None:
            self._bind(node.name)

    visit_MatchStar = visit_MatchAs

    # -- what has an inside of its own -------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.block(node.decorator_list)
        self._arguments(node.args)
        self.each(node.returns)
        self._bind(node.name)
        self.later[node.name] = tuple(_free(node))
        if node.decorator_list:
            self.use(node.name)  # who decorates may call

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._arguments(node.args)
        self._names(_free(node))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.block([*node.decorator_list, *node.bases, *(each.value for each in node.keywords)])
        inside = _Reader()
        inside.block(node.body)
        self._names(inside.read)
        self._bind(node.name)
        # Names of the class's body are not seen by its methods.
        self.later[node.name] = tuple(
            name for each in ast.walk(node) if isinstance(each, _FUNCTIONS) for name in _free(each)
        )

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        self.visit(node.generators[0].iter)
        self._names(_free(node))
        for each in ast.walk(node):
            if isinstance(each, ast.NamedExpr):
                self._bind(each.target.id)

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    # -- what may run or not -----------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._perhaps(node.body, node.orelse, surely=True)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self._perhaps([node.target, *node.body])
        self._perhaps(node.orelse)

    visit_AsyncFor = visit_For

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        self._perhaps(node.body)
        self._perhaps(node.orelse)

    def visit_Try(self, node: ast.Try | ast.TryStar) -> None:
        self._perhaps([*node.body, *node.orelse], *([handler] for handler in node.handlers), surely=True)
        self.block(node.finalbody)

    visit_TryStar = visit_Try

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.each(node.type)
        if node.name is not None:
            self._bind(node.name)
        self.block(node.body)

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        self._perhaps(*([case] for case in node.cases))

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        self._perhaps([node.body], [node.orelse], surely=True)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        first, *others = node.values
        self.visit(first)
        self._perhaps(others)

    def _arguments(self, args: ast.arguments) -> None:
        self.block([*args.defaults, *(default for default in args.kw_defaults if default is not None)])
        self.block([each.annotation for each in _parameters(args) if each.annotation is not None])


def _parameters(args: ast.arguments) -> list[ast.arg]:
    every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    return [parameter for parameter in every if parameter is not None]


def _free(node: ast.AST) -> Iterator[str]:
    """Names that the inside of a function, lambda or comprehension looks up outside of it."""
    own: set[str] = set()
    outside: set[str] = set()
    inside: list[ast.AST]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        own.update(parameter.arg for parameter in _parameters(node.args))
        inside = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    else:
        inside = list(ast.iter_child_nodes(node))
    found: dict[str, None] = {}
    # A name that is bound anywhere in a scope is its own everywhere in it.
    for each in inside:
        own.update(_bindings([each]))
        for part in _same_scope(each):
            if isinstance(part, ast.Global | ast.Nonlocal):
                outside.update(part.names)
    todo = list(reversed(inside))
    while todo:
        each = todo.pop()
        if isinstance(each, ast.Name):
            found[each.id] = None
        elif isinstance(each, (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef)):
            found.update(reader_of(each).read)
        else:
            todo += reversed(list(ast.iter_child_nodes(each)))
    yield from (name for name in found if name not in own or name in outside)


def imported_names(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]


def _same_scope(node: ast.AST) -> Iterator[ast.AST]:
    """A node and those under it whose names are of the same scope."""
    todo = [node]
    while todo:
        each = todo.pop()
        yield each
        if isinstance(each, (*_FUNCTIONS, ast.ClassDef)):
            todo += [] if isinstance(each, ast.Lambda) else each.decorator_list
        elif isinstance(each, _COMPREHENSIONS):
            todo += [part for part in ast.walk(each) if isinstance(part, ast.NamedExpr)]
        else:
            todo += list(ast.iter_child_nodes(each))[::-1]


def _bindings(body: Iterable[ast.AST]) -> Iterator[str]:
    """Names that statements may bind in their own scope; of a comprehension's part also its variables."""
    for statement in body:
        for node in _same_scope(statement):
            match node:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    yield name
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    yield name
                case ast.Import() | ast.ImportFrom():
                    yield from imported_names(node)
                case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                    yield name
                case ast.MatchStar(name=str(name)):
                    yield name
