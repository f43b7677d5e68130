"""The part of a program that a prompt shows, and the statement that each line belongs to."""

import ast
import functools
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from deskcheck.notation.calls import DEFINITIONS, SOURCES, functions, parsed
from deskcheck.recording import Mode, Program, Recording
from deskcheck.recording.program import code_lines

MAX_LINES = 300
"""Programs that need more lines in a prompt are not asked about."""

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
_NO_EVENT = (ast.Global, ast.Nonlocal)


@dataclass(frozen=True, slots=True)
class Statements:
    """Lines of a source, by the statements that begin on them.

    first: line -> first line of the statement, or of the header of a compound one, that covers it.
    plain: lines where exactly one statement begins, which has no comprehension, generator
    expression, lambda, decorator or ``with``: the interpreter visits such a line exactly when the
    statement is run, which is what a reader means by it.
    shared: lines on which a statement begins behind the end of another that began on a line above, so that
    the interpreter visits them for both.
    silent: lines with nothing but docstrings and other constants, ``global``, ``nonlocal``, annotations
    without a value: whether they count as run differs between Python versions and between module, class and
    function.
    leaves: lines of ``return`` statements.
    classes: first line of a ``class`` statement -> name.
    bodies: the same, but by the line of the first decorator if there is one, because the body begins there.
    """

    first: dict[int, int]
    plain: frozenset[int]
    shared: frozenset[int]
    silent: frozenset[int]
    leaves: frozenset[int]
    classes: dict[int, str]
    bodies: dict[int, str]


@functools.lru_cache(SOURCES)
def statements(source: str) -> Statements | None:
    """The statements of a source text; None if it cannot be parsed."""
    tree = parsed(source)
    if tree is None:
        return None
    first: dict[int, int] = {}
    begins: dict[int, int] = {}
    odd: set[int] = set()
    heard: set[int] = set()
    texts: list[range] = []
    leaves: set[int] = set()
    classes: dict[int, str] = {}
    bodies: dict[int, str] = {}
    for start, end, header, node in _headers(tree.body):
        begins[start] = begins.get(start, 0) + 1
        for line in range(start, end + 1):
            first[line] = start
        texts.append(range(start, max([end, *(getattr(part, "end_lineno", 0) for part in header)]) + 1))
        if any(isinstance(sub, _COMPREHENSIONS) for part in header for sub in ast.walk(part)):
            odd.add(start)
        if isinstance(node, (ast.With, ast.AsyncWith, ast.expr)) or _decorators(node):
            odd.add(start)
        if isinstance(node, ast.Return):
            leaves.add(start)
        if isinstance(node, ast.ClassDef):
            classes[start] = bodies[_begin(node)] = node.name
        if not _is_silent(node):
            heard.add(start)
    silent = begins.keys() - heard
    mixed = {text for text in texts if not begins.keys().isdisjoint(text[1:])}
    shared = frozenset(line for text in mixed for line in text[1:] if line in begins)
    odd |= {text.start for text in mixed} | shared
    plain = frozenset(line for line, count in begins.items() if count == 1) - odd - silent
    return Statements(first, plain, shared, frozenset(silent), frozenset(leaves), classes, bodies)


def _is_silent(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, _NO_EVENT) or (isinstance(node, ast.AnnAssign) and node.value is None)


def _headers(body: Iterable[ast.stmt]) -> Iterator[tuple[int, int, list[ast.AST], ast.AST]]:
    """(first line, last line, expressions, node) of every statement; for a compound one, those of its
    header."""
    for node in body:
        inner = _inner(node)
        if not inner and not isinstance(node, ast.Match):
            yield node.lineno, node.end_lineno or node.lineno, [node], node
            continue
        for decorator in _decorators(node):
            yield decorator.lineno, decorator.end_lineno or decorator.lineno, [decorator], decorator
        header: list[ast.AST] = [
            child
            for child in ast.iter_child_nodes(node)
            if isinstance(child, (ast.expr, ast.arguments, ast.withitem))
        ]
        yield node.lineno, _header_end(node.lineno, inner), header, node
        yield from _headers(inner)
        for handler in getattr(node, "handlers", []):
            caught = [handler.type] if handler.type else []
            yield handler.lineno, _header_end(handler.lineno, handler.body), caught, handler
            yield from _headers(handler.body)
        for case in getattr(node, "cases", []):
            guard = [case.guard] if case.guard else []
            start = case.pattern.lineno
            yield start, _header_end(start, case.body), [case.pattern, *guard], case
            yield from _headers(case.body)


def _inner(node: ast.AST) -> list[ast.stmt]:
    """The statements in the blocks of a compound statement."""
    return [stmt for name in ("body", "orelse", "finalbody") for stmt in getattr(node, name, [])]


def _header_end(start: int, body: list[ast.stmt]) -> int:
    return max(start, _begin(body[0]) - 1) if body else start


def _begin(node: ast.stmt) -> int:
    """First line of a statement with its decorators, which `lineno` leaves out."""
    return min([node.lineno, *(decorator.lineno for decorator in _decorators(node))])


def _decorators(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.decorator_list
    return []


@functools.lru_cache(SOURCES)
def with_lines(source: str) -> frozenset[int]:
    """The lines of ``with`` statements, which Python visits again when their blocks are left."""
    nodes = ast.walk(parsed(source) or ast.Module([], []))
    return frozenset(node.lineno for node in nodes if isinstance(node, (ast.With, ast.AsyncWith)))


@functools.lru_cache(SOURCES)
def decorator_lines(source: str) -> frozenset[int]:
    """The lines of decorators, which Python visits again when it calls them."""
    nodes = ast.walk(parsed(source) or ast.Module([], []))
    return frozenset(decorator.lineno for node in nodes for decorator in _decorators(node))


def asserted_call(program: Program) -> str | None:
    """Text of the one call of `extra["entry"]` in `extra["assert"]`; None if there is not exactly one."""
    test, entry = program.extra.get("assert"), program.extra.get("entry")
    if not isinstance(test, str) or not isinstance(entry, str):
        return None
    try:
        tree = ast.parse(test.strip())
    except (SyntaxError, ValueError):
        return None
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == entry
    ]
    return ast.get_source_segment(test.strip(), calls[0]) if len(calls) == 1 else None


def without_answer(program: Program) -> Program | None:
    """The program as a prompt may show it: the call alone replaces an assert that contains the answer.

    The lines keep their numbers. None if that cannot be done: the assert is not the last line, or
    does not contain exactly one call of the function, or one of the two has several lines.
    """
    test = program.extra.get("assert")
    if program.mode is not Mode.MODULE or test is None:
        return program
    call, code = asserted_call(program), program.code.rstrip()
    if call is None or "\n" in test.strip() or not code.endswith("\n" + test.strip()):
        return None
    return replace(program, code=code.removesuffix(test.strip()) + call + "\n")


def returns_values(recording: Recording) -> bool:
    """Whether the called function has a ``return`` with something behind it; True if it is not found."""
    program = recording.program
    name = (program.entry or "").rpartition(".")[2]
    for source in [program.code, *recording.run_result.sources.values()]:
        tree = parsed(source)
        if tree is None:
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
                return any(isinstance(sub, ast.Return) and sub.value is not None for sub in ast.walk(node))
    return True


def cluster_of(program: Program) -> str:
    """A digest of the code, equal for programs that differ only in the arguments of their call."""
    code = program.code.rstrip().removesuffix(str(program.extra.get("assert", "")).strip())
    text = "\n".join([code.rstrip(), program.module or "", program.entry or ""])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class ShownSource:
    """The text of a file as a prompt shows it: lines by number; ``...`` and None for lines left out."""

    file: str
    lines: tuple[tuple[int | None, str], ...]
    is_complete: bool

    def text(self, *, numbered: bool) -> str:
        """The lines, each after its number if asked for."""
        if not numbered:
            return "\n".join(line for _, line in self.lines)
        width = max((len(str(number)) for number, _ in self.lines if number is not None), default=1)
        # White space at the end of a line may stand inside a string.
        return "\n".join(
            f"{number or '':>{width}} |{' ' if line else ''}{line}" for number, line in self.lines
        )


def shown_files(recording: Recording, *, all_methods: bool = False) -> tuple[ShownSource, ...] | str:
    """The sources that a prompt shows: the program, and the code of other recorded files that ran; or a
    text, the reason why they cannot be shown.

    A long file is cut down to the top-level definitions that ran and the other top-level statements
    that bind a name that is used there. Docstrings with doctests are left out, because they contain the
    results of calls. If the source of a call that a test made is still long, methods that did not run are
    left out, unless `all_methods`: with other arguments they might run.
    """
    program = without_answer(recording.program)
    if program is None:
        return "the assert does not contain exactly one call"
    ran: dict[str, set[str]] = {program.filename: set()}
    for row in recording.trace.rows:  # not only calls: a generator may have begun before
        ran.setdefault(row.file, set()).add(row.function.partition(".<locals>")[0])
    for file, names in program.extra.get("needs", {}).items():  # what stands among the arguments
        ran.setdefault(file, set()).update(name.partition(".<locals>")[0] for name in names)
    entry = (program.entry or "").partition(".")[0]
    sources = {}
    for file in ran:
        source = program.code if file == program.filename else recording.source(file)
        if source is None:
            return "a source is not in the recording"
        if source.strip():
            sources[file] = source
    for cut in (False, True) if "own" in program.extra and not all_methods else (False,):
        sources_shown = []
        for file, source in sources.items():
            tops = frozenset({*(name.partition(".")[0] for name in ran[file]), entry})
            methods = frozenset(ran[file]) if cut else None
            sources_shown.append(shown_file(file, source, tops, file == program.filename, methods))
        if sum(len(source_shown.lines) for source_shown in sources_shown) <= MAX_LINES:
            return tuple(sources_shown)
    return "the source is too long"


@functools.lru_cache(SOURCES)
def shown_file(
    file: str, source: str, ran: frozenset[str], is_program: bool, methods: frozenset[str] | None = None
) -> ShownSource:
    """The part of a source that a prompt shows, if its top-level definitions `ran` were run. methods: leave
    out all methods but those with these qualified names."""
    lines = code_lines(source)
    tree = parsed(source)
    if tree is None:
        return ShownSource(file, tuple(enumerate(lines, 1)), True)
    shown_lines = set(range(1, len(lines) + 1))
    cut_down = len(lines) > (MAX_LINES if is_program else MAX_LINES // 3)
    if cut_down:
        shown_lines = _lines_needed(tree, ran)
        if methods is not None:
            named = _attributes(source, methods)
            shown_lines -= {line for node in tree.body for line in _other_methods(node, "", methods, named)}
    shown_lines -= doctest_lines(source)
    visible: list[tuple[int | None, str]] = []
    gap: str | None = None
    for number, line in enumerate(lines, 1):
        if methods is not None and gap is not None and not line.strip():
            continue  # between two methods that are left out: one `...` says as much
        if number in shown_lines:
            if gap is not None:
                visible.append((None, gap))
            visible.append((number, line))
            gap = None
        elif line.strip() and gap is None:
            gap = line[: len(line) - len(line.lstrip())] + "..."
    return ShownSource(file, tuple(visible), not cut_down)


def _lines_needed(tree: ast.Module, ran: frozenset[str]) -> set[int]:
    """Lines of the definitions that ran, and of statements that bind a name that these lines use.

    A function is included only if it is called; a class that is only named, without its
    methods. A star may bind any name."""
    added: list[ast.stmt] = [node for node in _module_level(tree.body) if getattr(node, "name", None) in ran]
    added += [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    bound = {name for node in added for name in _binds(node)}
    outlines: list[ast.ClassDef] = []
    lines: set[int] = set()
    remaining = tree.body
    while added or outlines:
        remaining = [node for node in remaining if node not in added and node not in outlines]
        texts: list[ast.AST] = list(added)
        for node in added:
            lines.update(_lines_of(node))
        for outline in outlines:
            outline_lines, parts = _outline(outline)
            lines |= outline_lines
            texts += parts
        used = {sub.id for text in texts for sub in ast.walk(text) if isinstance(sub, ast.Name)}
        # A function that is called runs, and is here; what a statement calls may have run before.
        called = {
            sub.id
            for node in [*added, *outlines]
            for part in _run_before(node)
            for sub in ast.walk(part)
            if isinstance(sub, ast.Name)
        }
        unbound = (used - bound) | {"*"}
        added = [
            n
            for n in remaining
            if not (called if isinstance(n, DEFINITIONS) else unbound).isdisjoint(_binds(n))
        ]
        outlines = [n for n in remaining if isinstance(n, ast.ClassDef) and n.name in used and n not in added]
    return lines


def _lines_of(node: ast.stmt) -> range:
    return range(_begin(node), (node.end_lineno or node.lineno) + 1)


def _outline(node: ast.ClassDef) -> tuple[set[int], list[ast.AST]]:
    """A class without its methods: its lines, and the nodes in them."""
    body = [part for part in node.body if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef))]
    header = range(_begin(node), max(_begin(node.body[0]), node.lineno + 1))
    lines = {line for part in (header, *map(_lines_of, body)) for line in part}
    return lines, [*node.decorator_list, *node.bases, *node.keywords, *body]


def _run_before(node: ast.stmt) -> Iterator[ast.AST]:
    """The code of a statement that runs when its module is imported: the decorators of a definition, and in a
    class also those of its methods and the other statements, but not its base classes."""
    if isinstance(node, DEFINITIONS):
        yield from node.decorator_list
        for inner in node.body if isinstance(node, ast.ClassDef) else []:
            yield from _run_before(inner)
    else:
        yield node


def _attributes(source: str, ran: frozenset[str]) -> frozenset[str]:
    """Names of the attributes that functions, by qualified name, use."""
    nodes = [node for name, node in functions(source) if name in ran]
    return frozenset(sub.attr for node in nodes for sub in ast.walk(node) if isinstance(sub, ast.Attribute))


def _other_methods(
    node: ast.stmt, prefix: str, methods: frozenset[str], named: frozenset[str]
) -> Iterator[int]:
    """Lines of the methods of a class whose qualified names are not among these. One of a name that is used
    stays: it may be looked at and not called."""
    if not isinstance(node, ast.ClassDef):
        return
    for inner in node.body:
        if isinstance(inner, ast.ClassDef):
            yield from _other_methods(inner, f"{prefix}{node.name}.", methods, named)
        elif isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)) and not (
            inner.name in named or f"{prefix}{node.name}.{inner.name}" in methods
        ):
            yield from _lines_of(inner)


def _module_level(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The definitions of a module, also those under its conditions, `try` and `with`."""
    for node in body:
        if isinstance(node, DEFINITIONS):
            yield node
            continue
        for part in (node, *getattr(node, "handlers", []), *getattr(node, "cases", [])):
            yield from _module_level(_inner(part))


def _binds(node: ast.AST) -> set[str]:
    """Names that a statement of a module binds there."""
    if isinstance(node, DEFINITIONS):
        return {node.name}
    if isinstance(node, ast.Lambda):
        return set()
    if isinstance(node, ast.alias):
        return {(node.asname or node.name).partition(".")[0]}
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Store) else set()
    return {name for child in ast.iter_child_nodes(node) for name in _binds(child)}


@functools.lru_cache(SOURCES)
def doctest_lines(source: str) -> frozenset[int]:
    """Lines of docstrings that hold a doctest."""
    lines: set[int] = set()
    for node in ast.walk(parsed(source) or ast.Module([], [])):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.body:
            first = node.body[0]
            docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            if docstring and ">>>" in (ast.get_docstring(node, clean=False) or ""):
                lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return frozenset(lines)


@functools.lru_cache(SOURCES)
def _scopes(source: str) -> tuple[tuple[int, int, ast.stmt], ...]:
    """(First line, last line, node) of each function and class, inner ones first."""
    scopes = [
        (_begin(node), node.end_lineno or node.lineno, node)
        for node in ast.walk(parsed(source) or ast.Module([], []))
        if isinstance(node, DEFINITIONS)
    ]
    return tuple(reversed(scopes))


@functools.lru_cache(SOURCES)
def words(source: str) -> frozenset[str]:
    """All that can be a name in a text."""
    return frozenset(re.findall(r"\w+", source))


@functools.lru_cache(16 * SOURCES)
def names_used(source: str, line: int) -> frozenset[str]:
    """The names in the innermost function, class or module that covers a line."""
    covering = (node for first, last, node in _scopes(source) if first <= line <= last)
    scope: ast.AST = next(covering, None) or parsed(source) or ast.Module([], [])
    return frozenset(sub.id for sub in ast.walk(scope) if isinstance(sub, ast.Name))
