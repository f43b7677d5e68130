"""Names whose objects a cell may change, those of its imports, and variables of the environment, as its
source tells. `state.dependencies` has the names that it binds and reads."""

import ast
import re
from collections.abc import Iterator

from deskcheck.notebook.state.dependencies import imported_names, parse


def _nodes(source: str) -> Iterator[ast.AST]:
    """All nodes of a cell's syntax tree; none where it is not Python."""
    tree = parse(source)
    return iter(()) if tree is None else ast.walk(tree)


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
