"""The text of functions and classes among a call's arguments, if it can show all that a reader needs.

The text of a function is its definition, and below it the closure variables and globals that it reads. The
text of a class is its definition, and below it the variables of its methods and the attributes that the
definition does not show. The functions and classes that these use are included. No code of the program is
run.

Not supported: metaclasses and decorators outside of the standard library, descriptors of the program, members
other than plain data that a class got after its definition, and functions that read variables which may
change.
"""

import ast
import builtins
import dis
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any

from deskcheck.tracer.callables.source import class_of, function_of, text_of
from deskcheck.tracer.contents.introspection import bases_of, inherits, module_of, names_of, qualname_of
from deskcheck.tracer.snapshot import exact, qualified_name

MOST_TEXTS = 12
"""Limit on the texts for one call, including those that other texts use."""
MOST_LINES = 120
"""Limit on the lines of all texts."""
MOST_CHARS = 6_000
_NOTE_CHARS = 80
_DATA_CHARS = 200

Code = FunctionType | type

ATOMS = (int, float, complex, str, bytes, bool, type(None))
_bases_of = type.__dict__["__bases__"].__get__


def name_of(code: Code) -> str:
    """The qualified name that identifies a text."""
    return qualified_name(code.__qualname__ if type(code) is FunctionType else qualname_of(code))


def _no_program(code: Code) -> bool:
    return False


def texts_of(
    codes: Iterable[Code], is_program: Callable[[Code], bool] = _no_program
) -> tuple[dict[str, str], list[Code]]:
    """Texts by qualified name, and the functions and classes that need no text.

    The functions and classes that they use are included. One without a complete text is left out, and so is
    everything that uses it. Two with the same name are both left out.

    is_program: whether a function or class belongs to the program, whose text is shown anyway.
    """
    entries: dict[str, tuple[Code, str | None] | None] = {}
    todo = [*codes]
    needs: dict[str, set[str]] = {}
    while todo and len(entries) <= MOST_TEXTS:
        code = todo.pop(0)
        name = name_of(code)
        earlier = entries.get(name)
        if name in entries:
            if earlier is not None and earlier[0] is not code:
                entries[name] = None
            continue
        if is_program(code):
            entries[name], needs[name] = (code, None), set()
            continue
        definition = _function_definition(code) if type(code) is FunctionType else _class_definition(code)
        if definition is None:
            entries[name] = None
            continue
        text, others = definition
        entries[name] = code, text
        needs[name] = {name_of(needed) for needed in others}
        todo += others
    if len(entries) > MOST_TEXTS:
        return {}, []
    complete = {name: entry for name, entry in entries.items() if entry is not None}
    while unknown := [name for name in complete if any(needed not in complete for needed in needs[name])]:
        for name in unknown:
            del complete[name]
    texts = {name: text for name, (_, text) in complete.items() if text is not None}
    if (
        sum(text.count("\n") + 1 for text in texts.values()) > MOST_LINES
        or sum(map(len, texts.values())) > MOST_CHARS
    ):
        return {}, []
    return texts, [code for code, text in complete.values() if text is None]


_Definition = tuple[str, list[Code]]
"""A text, and the functions and classes that also need a text."""


def _function_definition(function: FunctionType) -> _Definition | None:
    """The definition of a function; None if the text would not show everything."""
    if dict.__len__(function.__dict__):
        return None
    node = function_of(function.__code__)
    context = None if node is None else _known(function, node)
    text = None if node is None or context is None else text_of(node)
    return None if text is None or context is None else _with_notes(text, context)


def _with_notes(text: str, context: Mapping[str, Any]) -> _Definition | None:
    """The text with notes about the names that it uses below; None if a name has no short description."""
    notes: list[str] = []
    others: list[Code] = []
    for name, value in context.items():
        if _is_own(value):
            others.append(value)
            if (qualname := name_of(value)) != name:
                notes.append(f"{name} = {qualname}")
        elif (note := _note(name, value)) is None:
            return None
        elif note:
            notes.append(note)
    return "\n".join([text, *(f"# {note}" for note in notes)]), others


def _is_own(value: Any) -> bool:
    """Whether it is a function or class outside of the standard library."""
    if type(value) is FunctionType:
        return not is_of_the_library(value.__module__)
    return is_class(type(value)) and not is_of_the_library(module_of(value))


def _known(
    function: FunctionType, node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef
) -> dict[str, Any] | None:
    """The globals that a function reads, and its closure variables.

    None if they are not known, or if the function changes some of them.
    """
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.ClassDef)):
            return None
    code = function.__code__
    closed = zip(code.co_freevars, function.__closure__ or (), strict=True)
    try:
        context = {name: cell.cell_contents for name, cell in closed if name != "__class__"}
    except ValueError:  # not set yet
        return None
    for text, value in _defaults(function, node.args):
        if context.setdefault(text, value) is not value:
            return None
    for name in sorted({*_globals_read(code)} - context.keys()):
        if name in function.__globals__:
            context[name] = function.__globals__[name]
        elif not hasattr(builtins, name):
            return None
    return context


def _defaults(function: FunctionType, parameters: ast.arguments) -> Iterator[tuple[str, Any]]:
    """(Text, value) of the defaults that are not literals."""
    positional, named = function.__defaults__ or (), function.__kwdefaults__ or {}
    pairs = [*zip(parameters.defaults[::-1], positional[::-1], strict=False)]
    pairs += [
        (node, named[parameter.arg])
        for parameter, node in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)
        if node is not None and parameter.arg in named
    ]
    for node, value in pairs:
        if not isinstance(node, ast.Constant):
            yield ast.unparse(node), value


def _globals_read(code: CodeType) -> Iterator[str]:
    """Names of the globals that the code and the functions defined in it read."""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for const in code.co_consts:
        if type(const) is CodeType:
            yield from _globals_read(const)


def _note(name: str, value: Any) -> str | None:
    """A note about a global or closure variable.

    Empty if the name is clear without a note; None if no short note can be complete.
    """
    kind = type(value)
    if kind is ModuleType:
        module = vars(value).get("__name__")
        if not is_of_the_library(module):
            return None
        return "" if module == name else f"{name} is the module {module}"
    if is_class(kind) or kind is FunctionType or kind is BuiltinFunctionType:
        module = module_of(value) if is_class(kind) else value.__module__
        qualname = qualname_of(value) if is_class(kind) else exact(value.__qualname__)
        if type(module) is not str or type(qualname) is not str or not is_of_the_library(module):
            return None
        if module == "builtins" and qualname == name:
            return ""
        return f"{name} is {qualname}" if module == "builtins" else f"{name} is {module}.{qualname}"
    if kind in ATOMS and (kind not in (str, bytes) or len(value) <= _NOTE_CHARS):
        return f"{name} = {value!r}"
    if kind is tuple and all(type(item) in ATOMS for item in value) and len(repr(value)) <= _NOTE_CHARS:
        return f"{name} = {value!r}"
    return None


def is_class(kind: type) -> bool:
    """Whether objects of this type are classes. `isinstance` would run code of the program."""
    return inherits(bases_of(kind), type)


def is_of_the_library(module: Any) -> bool:
    return (
        type(module) is str and module.partition(".")[0] in sys.stdlib_module_names and module != "__main__"
    )


# -- classes -------------------------------------------------------------------------------------------

_PLAIN_MODULES = frozenset({"collections", "collections.abc", "_collections_abc", "abc", "typing", "enum"})
"""Modules whose classes have no hidden state."""
_PLAIN_BUILTINS = (object, dict, list, set, tuple, frozenset, str, bytes, int, float, complex, bytearray)


def hides_state(cls: type) -> bool:
    """Whether objects of a class have hidden state from a library class that it extends, such as a thread."""
    for base in bases_of(cls):
        module = module_of(base)
        if base in _PLAIN_BUILTINS or not is_of_the_library(module) or module in _PLAIN_MODULES:
            continue
        if not inherits(bases_of(base), BaseException):
            return True
    return False


_METACLASSES = frozenset({("builtins", "type"), ("abc", "ABCMeta")})
_IMPLICIT = frozenset(
    {"__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__slots__"}
    | {"__abstractmethods__", "_abc_impl", "__parameters__", "__orig_bases__", "__firstlineno__"}
    | {"__static_attributes__", "__annotate__", "__annotate_func__", "__annotations_cache__"}
)
_WRAPPERS = frozenset({"property", "staticmethod", "classmethod", "abstractmethod"})
_PROPERTY = frozenset({"setter", "getter", "deleter"})


def _class_definition(cls: type) -> _Definition | None:
    """The definition of a class; None if the text would not show everything."""
    meta = type(cls)
    if (module_of(meta), qualname_of(meta)) not in _METACLASSES:
        return None
    module = sys.modules.get(str(module_of(cls)))
    file = vars(module).get("__file__") if type(module) is ModuleType else None
    node = class_of(file, exact(qualname_of(cls))) if type(file) is str else None
    if node is None or module is None or file is None or not _is_plain(node):
        return None
    if hides_state(cls):
        return None
    context: dict[str, Any] = dict(_bases(cls, node))
    data = _members(cls, node, file, context)
    text = None if data is None else text_of(node)
    definition = None if text is None else _with_notes(text, context)
    if definition is None or data is None:
        return None
    class_text, others = definition
    return "\n".join(
        [class_text, *(f"# {node.name}.{name} = {value}" for name, value in data.items())]
    ), others


def _bases(cls: type, node: ast.ClassDef) -> Iterator[tuple[str, type]]:
    """The text of each base, and the base."""
    written = [ast.unparse(base).partition("[")[0] for base in node.bases]
    bases = [base for base in _bases_of(cls) if base is not object or "object" in written]
    for index, base in enumerate(bases):
        same = len(written) == len(bases)
        yield (written[index] if same else f"base {index + 1} of {node.name}"), base


def _is_plain(node: ast.ClassDef) -> bool:
    """Whether its definition only binds names, and only its methods have decorators."""
    if node.decorator_list or any(argument.arg != "metaclass" for argument in node.keywords):
        return False
    for inner in node.body:
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not all(map(_is_wrapper, inner.decorator_list)):
                return False
        elif not isinstance(inner, (ast.Pass, ast.ClassDef, ast.Assign, ast.AnnAssign)) and not (
            isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant)
        ):
            return False
    return True


def _is_wrapper(decorator: ast.expr) -> bool:
    match decorator:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="abc"), attr=name):
            return name in _WRAPPERS
        case ast.Attribute(value=ast.Name(), attr=name):
            return name in _PROPERTY
    return False


def _members(cls: type, node: ast.ClassDef, file: str, context: dict[str, Any]) -> dict[str, str] | None:
    """Attributes that the definition does not show -> text of their values.

    The names that the methods use are added to `context`. None if an attribute cannot be shown, or if a
    method is not from the definition.
    """
    defined = {
        inner.name: inner
        for inner in node.body
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    assigned = _assigned_literals(node)
    members = {name: value for name, value in names_of(cls).items() if type(name) is str}
    if not {*defined, *assigned} <= members.keys():
        return None
    data: dict[str, str] = {}
    for name, value in members.items():
        if name in _IMPLICIT or (name == "__hash__" and value is None):
            continue
        kind = type(value)
        if kind is MemberDescriptorType or kind is GetSetDescriptorType:
            continue
        functions = _functions(value)
        if functions:
            for function in functions:
                if not _is_defined(function, node, file) or not _add_known(function, context):
                    return None
        elif is_class(kind) and _is_own(value):
            if name not in defined and name_of(value) != name:
                data[name] = name_of(value)
            context[name_of(value)] = value
        elif (text := _data(value)) is None:
            note = _note(name, value)
            if note is None:
                return None
            data[name] = note.rpartition(" is ")[2] or name
        elif assigned.get(name) != text:
            data[name] = text
    return data


def _assigned_literals(node: ast.ClassDef) -> dict[str, str | None]:
    """Names that the definition assigns -> the literal, or None for other values."""
    literals: dict[str, str | None] = {}
    for inner in node.body:
        targets = inner.targets if isinstance(inner, ast.Assign) else []
        value = inner.value if isinstance(inner, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(inner, ast.AnnAssign) and value is not None:
            targets = [inner.target]
        for target in targets:
            if isinstance(target, ast.Name) and value is not None:
                try:
                    literals[target.id] = repr(ast.literal_eval(value))
                except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                    literals[target.id] = None
    return literals


def _functions(value: Any) -> list[FunctionType]:
    """The functions of a member of a class."""
    parts = [value]
    if type(value) is property:
        parts = [value.fget, value.fset, value.fdel]
    elif type(value) is staticmethod or type(value) is classmethod:
        parts = [value.__func__]
    return [part for part in parts if type(part) is FunctionType]


def _is_defined(function: FunctionType, node: ast.ClassDef, file: str) -> bool:
    """Whether a function is part of the definition."""
    line = function.__code__.co_firstlineno
    return function.__code__.co_filename == file and node.lineno <= line <= (node.end_lineno or 0)


def _add_known(function: FunctionType, context: dict[str, Any]) -> bool:
    """Add the names that a method uses; False if they are not known, or one name has two values."""
    if dict.__len__(function.__dict__) and {*function.__dict__} != {"__isabstractmethod__"}:
        return False
    node = function_of(function.__code__)
    uses = None if node is None else _known(function, node)
    if uses is None or any(context.get(name, value) is not value for name, value in uses.items()):
        return False
    context.update(uses)
    return True


def _data(value: Any, depth: int = 3) -> str | None:
    """The text of plain data; None for other values, and if the text is long."""
    kind = type(value)
    if kind in ATOMS:
        text = repr(value)
    elif kind in (list, tuple, set, frozenset, dict) and depth:
        parts = [part for pair in value.items() for part in pair] if kind is dict else [*value]
        if any(_data(part, depth - 1) is None for part in parts):
            return None
        text = repr(value)
    else:
        return None
    return text if len(text) <= _DATA_CHARS else None
