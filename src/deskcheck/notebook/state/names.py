"""Which names the source of a cell reads, binds and changes. The source is not run.

Not covered: names in strings (`eval`), what attributes and modules lead to, and what a library does with the
user's namespace. Of two branches either may run: a name that may be read before it is bound counts as read.
"""

import ast
import functools
import re
import symtable
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

_CELL_MAGIC = re.compile(r"\s*%%(\w+)[^\n]*\n?")
_RUNS_PYTHON = frozenset("time timeit prun capture python python3 memit mprun lprun snakeviz".split())
"""Magics whose cell or line is Python in the kernel."""
_LINE = re.compile(
    r"(\s*)(?:(\w[\w ,]*=\s*)?%(\w+)[ \t]*(.*)|(\w[\w ,]*=\s*)?!(.*)|[\w.]*\?{1,2}|\?{1,2}[\w.]+)"
)
_EXPANDED = re.compile(r"(?<!\{)\{([^{}]+)\}(?!\})|(?<!\$)\$(\w+)")
"""A part of a magic or command that IPython replaces: an expression, or a variable if it exists."""
_WORD = re.compile(r"[^\W\d]\w*")
_OPTION = re.compile(r"-{1,2}\w+(?:[ =]?\d+)?\s+")
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""Exceptions of `ast.parse` for source that is not Python, or is nested too deep."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DEPTH = 150
"""Maximum number of levels of a syntax tree that recursion visits."""


# -- cells as Python -------------------------------------------------------------------------------


def python_of(source: str, *, variables: bool = True) -> str:
    """The Python of a cell. Each line with a magic, command or question is replaced by a line of Python.

    The statement after ``%time`` and the cell under ``%%time`` stay. ``files = !ls {a} $b`` becomes
    ``files = (a, b,)``. Without `variables`, ``b`` is left out: it may be the shell's. A cell under any other
    ``%%magic`` is empty.
    """
    head = _CELL_MAGIC.match(source)
    if head is not None:
        if head[1] not in _RUNS_PYTHON:
            return ""
        source = "\n" * head[0].count("\n") + source[head.end() :]
    return "\n".join(_python_line(line, variables) for line in source.split("\n"))


def _python_line(line: str, variables: bool) -> str:
    match = _LINE.fullmatch(line)
    if match is None:
        return line
    indent, target, magic, argument, command_target, command = match.groups()
    if magic in _RUNS_PYTHON:
        while argument and (option := _OPTION.match(argument)):
            argument = argument[option.end() :]
        return f"{indent}{target or ''}{argument or 'pass'}"
    target = target or command_target or ""
    expressions = [*_expanded(argument or command or "", variables)]
    if expressions:
        return f"{indent}{target}({', '.join(expressions)},)"
    return f"{indent}{target}None" if target else f"{indent}pass"


def _expanded(line: str, variables: bool) -> Iterator[str]:
    """The expressions that IPython puts into a line, and with `variables` the variables."""
    for match in _EXPANDED.finditer(line):
        expression = f"({match[1]})" if match[1] else match[2]
        try:
            ast.parse(expression, mode="eval")
        except _UNREADABLE:
            continue
        if match[1] or variables:
            yield expression


def parse(source: str, *, variables: bool = True) -> ast.Module | None:
    """The syntax tree of a cell. None: it is not Python even without magics, or is nested too deep."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cell's own, as of "\d" in a string
        for read in (str, lambda text: python_of(text, variables=variables)):
            try:
                tree = ast.parse(read(source))
            except _UNREADABLE:
                continue
            return tree if _depth(tree) <= _DEPTH else None
    return None


def _depth(tree: ast.AST) -> int:
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def _bound_by(alias: ast.alias) -> str:
    """The name that an import binds."""
    return (alias.asname or alias.name).partition(".")[0]


# -- the names of one cell -------------------------------------------------------------------------

_IN_TEXT = re.compile(r"@([^\W\d]\w*)")
"""A variable in ``DataFrame.query("x > @limit")``."""
_MAGIC = re.compile(r"\s*[%!?].*|.*=\s*[%!].*")


@dataclass(frozen=True, slots=True)
class CellNames:
    """The names of one cell. If the cell is not Python, every word in it counts as read."""

    read: tuple[str, ...]
    """Names that it reads before it has surely bound them, in order. The names that a function or class of
    the cell reads count where the cell first uses the function or class, else at the end of the cell."""
    bound: tuple[str, ...] = ()
    """Names that it may bind, in order."""
    surely_bound: frozenset[str] = frozenset()
    """Names that it binds on every path."""
    called: frozenset[str] = frozenset()
    """Names that its functions and classes read when they are called."""
    named: frozenset[str] = frozenset()
    """All names that it reads, and words of its magics and texts that may be names."""
    in_text: frozenset[str] = frozenset()
    """Words of its magics and texts that may be names."""
    changed: frozenset[str] = frozenset()
    """Names whose objects it may change by an item, an attribute or a method."""
    imported: frozenset[str] = frozenset()
    """Names that its imports bind."""
    written_globals: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Function -> names that it declares global."""


@functools.lru_cache(4096)
def cell_names(source: str) -> CellNames:
    """The names of a cell's source."""
    tree = parse(source)
    if tree is None:
        words = dict.fromkeys(_WORD.findall(source))
        return CellNames(tuple(words), named=frozenset(words))
    reader = _reader_of(*tree.body)
    in_text = _words_in_text(source, tree)
    loaded: set[str] = set()
    changed: set[str] = set()
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            loaded.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imported.update(map(_bound_by, node.names))
        changed.update(_changed_by(node))
    return CellNames(
        tuple(reader.read),
        bound=tuple(reader.perhaps_bound),
        surely_bound=frozenset(reader.bound) - in_text,
        called=frozenset(reader.called),
        named=in_text | loaded,
        in_text=in_text,
        changed=frozenset(changed),
        imported=frozenset(imported),
        written_globals=_written_globals(tree),
    )


def _words_in_text(source: str, tree: ast.Module) -> frozenset[str]:
    lines = source.split("\n")
    magics = lines if source.lstrip().startswith("%%") else filter(_MAGIC.fullmatch, lines)
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return frozenset(word for line in magics for word in _WORD.findall(line)) | frozenset(
        name for text in texts if isinstance(text, str) for name in _IN_TEXT.findall(text)
    )


def _changed_by(node: ast.AST) -> Iterator[str]:
    """The name at the beginning of a target that an assignment or a method call may change."""
    target: ast.AST | None = None
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        target = node
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        target = node.func
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
    if isinstance(target, ast.Name):
        yield target.id


def _written_globals(tree: ast.Module) -> dict[str, frozenset[str]]:
    written: dict[str, frozenset[str]] = {}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            statements = (node for node in ast.walk(function) if isinstance(node, ast.Global))
            if names := frozenset(name for statement in statements for name in statement.names):
                written[function.name] = names
    return written


def names_unbound(source: str) -> tuple[str, ...]:
    """The names that a cell reads and does not bind before: they must exist when it runs.

    Empty if the cell is not Python, and after a star import, which may bind any name."""
    tree = parse(source, variables=False)
    return () if tree is None else tuple(_reader_of(*tree.body).unbound)


# -- variables of the environment ------------------------------------------------------------------

_ENVIRONMENT = re.compile(
    r"""environ\s*\[\s*['"](?P<item>\w+)['"]\s*\](?P<sets_item>\s*=(?!=))?
    |environ\.(?P<method>get|pop|setdefault|update)\s*\((?P<arguments>[^\n]*)
    |(?P<function>getenv|putenv)\s*\(\s*(?P<argument>[^\n]*)
    |^\s*%(?:env|set_env)\s+(?P<magic>\w+)(?P<sets_magic>[ \t]*=|[ \t]+\S)?
    |^\s*(?:\w+\s*=\s*)?!(?P<command>.*)$""",
    re.MULTILINE | re.VERBOSE,
)
_FIRST_TEXT = re.compile(r"\s*['\"](\w+)['\"]")
_KEYS = re.compile(r"['\"](\w+)['\"]\s*:|(\w+)\s*=(?!=)")
_IN_COMMAND = re.compile(r"\$\{?(\w+)")


def environment(source: str) -> tuple[set[str], set[str]]:
    """The variables of the environment that a cell sets, and those that it reads, each as ``$NAME``."""
    sets: set[str] = set()
    reads: set[str] = set()
    for match in _ENVIRONMENT.finditer(source):
        if match["command"] is not None:
            reads.update(_IN_COMMAND.findall(match["command"]))
        elif match["method"] == "update":
            sets.update(quoted or keyword for quoted, keyword in _KEYS.findall(match["arguments"]))
        elif name := match["item"] or match["magic"]:
            (sets if match["sets_item"] or match["sets_magic"] else reads).add(name)
        elif text := _FIRST_TEXT.match(match["arguments"] or match["argument"] or ""):
            called = match["method"] or match["function"]
            sets.update([text[1]] if called in ("setdefault", "putenv") else ())
            reads.update([text[1]] if called != "putenv" else ())
    return {f"${name}" for name in sets}, {f"${name}" for name in reads}


# -- several cells ---------------------------------------------------------------------------------


def depends_on(
    source: str, names: Container[str], *, earlier: Iterable[str] = (), types: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """The variables among `names` that a piece of source depends on: those that it reads, and those that the
    functions and classes among these read, and so on.

    earlier: sources that ran before it in the same kernel, in order.
    types: name -> type of the variable. An instance depends on its class.
    """
    definitions = _definitions(earlier)
    used: dict[str, None] = {}
    waiting = [*cell_names(source).read]
    while waiting:
        name = waiting.pop(0)
        if name in used:
            continue
        used[name] = None
        if name in definitions:
            waiting += _reader_of(definitions[name]).read
        type_name = (types or {}).get(name)
        if type_name in definitions:
            waiting.append(type_name)
    return tuple(name for name in used if name in names)


def _definitions(earlier: Iterable[str]) -> dict[str, ast.AST]:
    """Name -> the function, class or lambda that it was bound to last, at the top level of a cell."""
    definitions: dict[str, ast.AST] = {}
    for source in earlier:
        tree = parse(source)
        for node in tree.body if tree is not None else ():
            for name in _reader_of(node).perhaps_bound:
                definitions.pop(name, None)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                definitions[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
                definitions.update((t.id, node.value) for t in node.targets if isinstance(t, ast.Name))
    return definitions


_EVERYTHING = frozenset(("eval", "exec", "globals", "locals", "who", "whos", "who_ls", "reset", "store"))
"""Builtins and magics through which any variable may be read. ``dir()`` and ``vars()`` read names."""


@dataclass(frozen=True, slots=True)
class Later:
    """Names that later cells read. everything: they may read any name."""

    names: frozenset[str]
    everything: bool = False

    def __contains__(self, name: object) -> bool:
        return self.everything or name in self.names


def read_later(sources: Iterable[str], before: Iterable[str] = ()) -> Later:
    """The names that cells read from the state before the first of them. It may contain too many names, not
    too few. before: cells that ran earlier, whose functions may be called later."""
    read = {name for source in before for name in cell_names(source).called}
    bound: set[str] = set()
    for source in sources:
        names = cell_names(source)
        read |= ({*names.read, *names.in_text} - bound) | names.called
        bound |= names.surely_bound
    return Later(frozenset(read), everything=bool(read & _EVERYTHING))


# -- one namespace ---------------------------------------------------------------------------------


def _reader_of(*nodes: ast.AST) -> "_Reader":
    """Reads statements: the names that they, and the use of their definitions, look up outside of them."""
    reader = _Reader()
    reader.block(nodes)
    for name in [*reader.later]:
        reader.use(name)
    return reader


class _Reader(ast.NodeVisitor):
    """Follows one namespace from top to bottom, and collects names that are read while not surely bound."""

    def __init__(self) -> None:
        self.read: dict[str, None] = {}
        self.bound: set[str] = set()
        self.perhaps_bound: dict[str, None] = {}
        self.called: set[str] = set()
        self.unbound: dict[str, None] = {}
        """Names that are read and that no path has bound."""
        self.missing: set[str] = set()
        """Names that were deleted and not bound again."""
        self.later: dict[str, list[str]] = {}
        """Function or class that was defined here -> names that its use reads."""

    def use(self, name: str) -> None:
        for inner in self.later.pop(name, ()):
            self._name(inner)

    def _name(self, name: str) -> None:
        self.use(name)
        if name not in self.bound:
            self.read[name] = None
            if name in self.missing or not self.perhaps_bound.keys() & {name, "*"}:
                self.unbound[name] = None

    def _names(self, names: Iterable[str]) -> None:
        for name in names:
            self._name(name)

    def _bind(self, name: str) -> None:
        self.later.pop(name, None)
        self.bound.add(name)
        self.perhaps_bound[name] = None
        self.missing.discard(name)

    def block(self, body: Iterable[ast.AST | None]) -> None:
        """Visit nodes in order, without those that are None."""
        for node in body:
            if node is not None:
                self.visit(node)

    def _perhaps(self, *bodies: Iterable[ast.AST], surely: bool = False) -> None:
        """Visit blocks that may run or not. surely: exactly one of them runs."""
        before, after = self.bound.copy(), []
        for body in bodies:
            self.bound = before.copy()
            self.block(body)
            after.append(self.bound)
        self.bound = set.intersection(*after) if surely and after else before

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
            self.perhaps_bound[node.id] = None
            self.missing.add(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.block([node.value, node.target])

    def visit_Assign(self, node: ast.Assign) -> None:
        self.block([node.value, *node.targets])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.block([node.annotation, node.value])
        if node.value is not None or not isinstance(node.target, ast.Name):
            self.visit(node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._name(node.target.id)
        self.block([node.value, node.target])

    def visit_alias(self, node: ast.alias) -> None:
        self._bind(_bound_by(node))

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        self.generic_visit(node)
        if node.name is not None:
            self._bind(node.name)

    visit_MatchStar = visit_MatchAs

    # -- nodes with a separate namespace -----------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.block([*node.decorator_list, node.args, node.returns])
        self._bind(node.name)
        self._define(node.name, _inner_names(node))
        if node.decorator_list:
            self.use(node.name)  # who decorates may call

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.block([*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)])
        inside = _Reader()
        inside.block(node.body)
        self._names(inside.read)
        self._bind(node.name)
        functions = (inner for inner in ast.walk(node) if isinstance(inner, _FUNCTIONS))
        # Names of the class's body are not seen by its methods.
        self._define(node.name, [name for function in functions for name in _inner_names(function)])

    def _define(self, name: str, reads: list[str]) -> None:
        self.later[name] = reads
        self.called.update(reads)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        reads = _inner_names(node)
        self.visit(node.args)
        self._names(reads)
        self.called.update(reads)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        self.visit(node.generators[0].iter)
        self._names(_inner_names(node))
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr):
                self._bind(inner.target.id)
            elif isinstance(inner, ast.Lambda):
                self.called.update(_inner_names(inner))

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
        self.block([node.type])
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


def _inner_names(node: ast.AST) -> list[str]:
    """Names that the inside of a function, lambda or comprehension looks up outside of it, in order."""
    source = ast.unparse(node)
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        source = f"async def _():\n    {source}"  # where `await` may stand, as at the top of a cell
    try:
        scopes = symtable.symtable(source, "<cell>", "exec").get_children()
    except _UNREADABLE:  # a scope that no compiler takes
        return []
    return list(dict.fromkeys(name for scope in scopes for name in _global_names(scope)))


def _global_names(table: symtable.SymbolTable) -> Iterator[str]:
    yield from (symbol.get_name() for symbol in table.get_symbols() if symbol.is_global())
    for inner in table.get_children():
        yield from _global_names(inner)
