"""The functions that a project defines, read from its source files. Public ones are for its users."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from deskcheck.files import read_file
from deskcheck.sandbox.inside.calls import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class Defined:
    """A function or method: its qualified name, its first line, and its file below the project's root."""

    module: str
    name: str
    file: str
    line: int

    @property
    def key(self) -> str:
        return f"{self.module}:{self.name}"


def public_functions(root: Path, modules: Mapping[str, str]) -> list[Defined]:
    """The public functions of the packages that the tests imported.

    These are functions and methods at the top level of modules and classes. No part of their qualified name
    begins with an underscore. Tests, overloads and functions whose body is only ``...`` do not count.

    Args:
        modules: files of the project's modules that were imported, by module. All files of their packages
            are read.
    """
    project = Project(str(root), (), ("test_*.py", "*_test.py"))
    functions: dict[str, Defined] = {}
    for name, file in sorted(_files(modules).items()):
        if not project.owns(str(file)):
            continue
        try:
            tree = ast.parse(read_file(file))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        relative = str(file.relative_to(root)) if file.is_relative_to(root) else str(file)
        for function, line in _defined(tree, ""):
            defined = Defined(module=name, name=function, file=relative, line=line)
            functions.setdefault(defined.key, defined)
    return list(functions.values())


def _files(modules: Mapping[str, str]) -> dict[str, Path]:
    """The files of all modules in the packages of these modules, by module."""
    paths_by_module: dict[str, Path] = {}
    tops: set[Path] = set()
    for name, file in modules.items():
        path, parts = Path(file), name.split(".")
        if path.name == "__init__.py":
            path = path.parent
        if len(parts) == 1 and path.suffix == ".py":
            paths_by_module[name] = path
        elif len(path.parts) > len(parts):
            tops.add(path.parents[len(parts) - 2] if len(parts) > 1 else path)
    for top in tops:
        for path in sorted(top.rglob("*.py")):
            inside = path.relative_to(top.parent).with_suffix("").parts
            paths_by_module[".".join(inside[:-1] if inside[-1] == "__init__" else inside)] = path
    return paths_by_module


def _defined(node: ast.AST, prefix: str) -> Iterator[tuple[str, int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not child.name.startswith("_") and not _is_stub(child):
                yield prefix + child.name, child.lineno
        elif isinstance(child, ast.ClassDef):
            if not child.name.startswith("_"):
                yield from _defined(child, f"{prefix}{child.name}.")
        elif not isinstance(child, ast.expr):
            yield from _defined(child, prefix)


def _is_stub(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    names = {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in function.decorator_list
        if isinstance(node, (ast.Name, ast.Attribute))
    }
    constants = [
        node.value.value
        for node in function.body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    return "overload" in names or (len(constants) == len(function.body) and ... in constants)
