"""How much of the language a set of programs has: constructs, what stands inside what, lengths of runs.

Constructs are read from the text, so a method is known by its name alone: ``.index`` may be a string's or
a list's.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from deskcheck.recording import Kind, Program, Recording
from deskcheck.sources.text.python import quiet_parse

_OPERATORS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**",
    "MatMult": "@",    "BitAnd": "&", "BitOr": "|", "BitXor": "^", "LShift": "<<", "RShift": ">>",
    "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=",
    "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
    "And": "and", "Or": "or", "Not": "not", "USub": "-x", "UAdd": "+x", "Invert": "~x",
}  # fmt: skip
_PLAIN = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Module, ast.arguments)
"""Nodes that say nothing by themselves, or are named by what they are part of."""
_BLOCKS = (ast.For, ast.While, ast.If, ast.Try, ast.With, ast.FunctionDef, ast.ClassDef, ast.Match)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """texts: different ones. constructs: how many texts have each, the commonest first. nestings: how many
    have each compound statement inside another, as ``("For", "If")`` for an if in a for. lines: of each text,
    in order of size.
    """

    texts: int
    constructs: Counter[str]
    nestings: Counter[tuple[str, str]]
    lines: tuple[int, ...]

    def share(self, construct: str) -> float:
        """Of the texts, how many have the construct: from 0 to 1."""
        return self.constructs[construct] / self.texts if self.texts else 0.0


def coverage(programs: Iterable[Program]) -> Coverage:
    """What programs have; those that share a text count once.

    Raises:
        SyntaxError: a text is not Python of this version.
    """
    texts = dict.fromkeys(program.code for program in programs)
    found: Counter[str] = Counter()
    nested: Counter[tuple[str, str]] = Counter()
    for text in texts:
        tree = quiet_parse(text)
        found.update(set(constructs(tree)))
        nested.update(set(nestings(tree)))
    lines = tuple(sorted(text.count("\n") for text in texts))
    return Coverage(
        texts=len(texts),
        constructs=Counter(dict(found.most_common())),
        nestings=Counter(dict(nested.most_common())),
        lines=lines,
    )


def constructs(tree: ast.AST) -> Iterator[str]:
    """Names of what a tree has: node kinds (``For``), operators (``+``, ``+=``), built-in functions and
    exceptions (``len()``, ``ValueError``) and methods (``.append()``), each as often as it is there."""
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=op):
                yield _OPERATORS[type(op).__name__]
            case ast.UnaryOp(op=op):
                yield _OPERATORS[type(op).__name__]
            case ast.BoolOp(op=op):
                yield _OPERATORS[type(op).__name__]
            case ast.AugAssign(op=op):
                yield f"{_OPERATORS[type(op).__name__]}="
            case ast.Compare(ops=ops):
                yield from (_OPERATORS[type(op).__name__] for op in ops)
                if len(ops) > 1:
                    yield "chained comparison"
            case ast.Call(func=ast.Name(id=name), keywords=keywords):
                yield f"{name}()" if name in _BUILTINS else "call"
                if keywords and name not in _BUILTINS:
                    yield "keyword argument"
            case ast.Call(func=ast.Attribute(attr=name)):
                yield f".{name}()"
            case ast.Name(id=name) if name in _BUILTINS and name[0].isupper():
                yield name
            case ast.Constant(value=value):
                yield f"{type(value).__name__} literal"
            case ast.For(orelse=[_, *_]) | ast.While(orelse=[_, *_]):
                yield f"{type(node).__name__} else"
                yield type(node).__name__
            case ast.Try(orelse=orelse, finalbody=final):
                yield from ["Try", *["Try else"] * bool(orelse), *["finally"] * bool(final)]
            case ast.arguments(defaults=[_, *_]):
                yield "default argument"
            case ast.FunctionDef(name=name):
                yield "FunctionDef"
                if any(isinstance(n, ast.Call) and _named(n.func, name) for n in ast.walk(node)):
                    yield "recursion"
            case _ if not isinstance(node, _PLAIN):
                yield type(node).__name__


def _named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


_BUILTINS = frozenset(
    "abs all any bool chr dict divmod enumerate filter float int len list map max min ord pow print range "
    "repr reversed round set sorted str sum tuple zip isinstance type iter next hash id input open "
    "ArithmeticError AssertionError AttributeError Exception IndexError KeyError LookupError NameError "
    "OverflowError RecursionError RuntimeError StopIteration TypeError ValueError ZeroDivisionError".split()
)


def nestings(node: ast.AST, inside: str = "") -> Iterator[tuple[str, str]]:
    """Which compound statement stands directly inside which; an ``elif`` is not inside its ``if``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _BLOCKS):
            name = type(child).__name__
            continues = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
            if inside and not continues:
                yield inside, name
            yield from nestings(child, name)
        else:
            yield from nestings(child, inside)


def run_lengths(recordings: Iterable[Recording]) -> list[int]:
    """How many line events each recording has, over all its threads, in order of size."""
    return sorted(
        sum(row.kind == Kind.LINE for trace in recording.traces for row in trace.rows)
        for recording in recordings
    )
