"""Constructs of Python that a text has, and what is inside what.

Constructs are read from the text, so a method is known by its name alone: ``.index`` may be a string's or
a list's.
"""

import ast
from collections.abc import Iterator, Mapping

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


LANGUAGE: Mapping[int, frozenset[str]] = {
    level: frozenset(words.split())
    for level, words in {
        1: "+ - * / // % ** & | ^ << >> -x ~x not < > <= >= == != += -= *= //= %= "
        "abs() divmod() int() max() min() round() FunctionDef Return Assign Tuple Name arg",
        2: "If IfExp and or chained-comparison",
        3: "For While Break Continue range() For-else",
        4: "",
        5: "in not-in Subscript Slice Attribute JoinedStr FormattedValue chr() enumerate() len() ord() str() "
        ".capitalize() .count() .endswith() .find() .isalpha() .isdigit() .islower() .isupper() .lower() "
        ".replace() .rfind() .startswith() .strip() .swapcase() .title() .upper() .zfill()",
        6: "List ListComp GeneratorExp comprehension Starred Delete Expr keyword all() any() list() "
        "reversed() sorted() sum() zip() .append() .extend() .insert() .join() .pop() .remove() .reverse() "
        ".sort() .split()",
        7: "Dict DictComp Set set() .add() .discard() .get() .items() .setdefault() .values()",
        8: "call default-argument keyword-argument",
        9: "recursion",
        10: "Try Try-else finally ExceptHandler Raise Assert ArithmeticError Exception IndexError KeyError "
        "LookupError RuntimeError TypeError ValueError ZeroDivisionError "
        "KeyError() RuntimeError() TypeError() ValueError()",
    }.items()
}
"""Level -> constructs that programs have from there on, in the words of `constructs`, blanks as hyphens;
literals are left out, and that loops stand inside loops from level 4 on."""
