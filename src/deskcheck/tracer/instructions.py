"""Instructions: those with a meaning for tracers, and the text of one, as `dis` of the same version says it.

Not `dis` itself: it shows constants by `repr`, at any length and with addresses, a program may have broken
what it stands on, and 3.13 numbers jump targets. The text depends on nothing but the code object.
"""

import builtins
import opcode
import sys
from types import CodeType
from typing import Any

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))

RETURNS = frozenset({"RETURN_VALUE", "RETURN_CONST"})
YIELDS = frozenset({"YIELD_VALUE", "RESUME"})
LOOP_ENDS = frozenset({"FOR_ITER", "SEND", "END_SEND", "END_ASYNC_FOR", "GET_ANEXT", "CLEANUP_THROW"})
"""Instructions at which a StopIteration ends a loop or an await instead of being an exception."""
GOES_ON = frozenset({"RESUME", "JUMP_BACKWARD_NO_INTERRUPT"})
ASKS_NEXT = frozenset({"FOR_ITER", "GET_ANEXT"})

TEXT_CHARS = 60
ITEMS = 10
INT_BITS = 256
"""Of a constant that is text, that has items, that is an int: what is shown at most."""

_CONSTANTS = frozenset(opcode.opname[op] for op in opcode.hasconst)
_NAMES = frozenset(opcode.opname[op] for op in opcode.hasname)
_VARIABLES = frozenset(opcode.opname[op] for op in (*opcode.haslocal, *opcode.hasfree))
_TWO_VARIABLES = frozenset(
    {
        "LOAD_FAST_LOAD_FAST",
        "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
        "STORE_FAST_LOAD_FAST",
        "STORE_FAST_STORE_FAST",
    }
)
_BINARY: list[str] = [symbol for _, symbol in opcode._nb_ops]  # type: ignore[attr-defined]
_COMPARISONS = tuple(opcode.cmp_op)
_INTRINSICS: dict[str, list[str]] = {
    "CALL_INTRINSIC_1": list(getattr(opcode, "_intrinsic_1_descs", ())),
    "CALL_INTRINSIC_2": list(getattr(opcode, "_intrinsic_2_descs", ())),
}
_FUNCTION_PARTS = ("defaults", "kwdefaults", "annotations", "closure", "annotate")
_MAKES_FUNCTION = frozenset({"MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE"})
_CONVERSIONS = ("", "str", "repr", "ascii")
_NULLS = {"LOAD_GLOBAL": ("NULL", 1), "LOAD_ATTR": ("NULL|self", 1), "LOAD_SUPER_ATTR": ("NULL|self", 2)}
"""What these push beside the value if the argument's lowest bit is set, and how many bits are no name."""
if sys.version_info < (3, 12):
    del _NULLS["LOAD_ATTR"]
_SAID: dict[str, list[str]] = {}
"""What the arguments of further instructions mean, in their order."""
if sys.version_info >= (3, 14):
    _SAID = {
        "IS_OP": ["is", "is not"],
        "CONTAINS_OP": ["in", "not in"],
        "LOAD_COMMON_CONSTANT": [
            each.__name__ if type(each) is type else repr(each) for each in opcode._common_constants
        ],
        "LOAD_SPECIAL": list(opcode._special_method_names),
    }
_COMPARISON_SHIFT = {11: 0, 12: 4}.get(sys.version_info[1], 5)


def instruction_text(
    code: CodeType, variables: tuple[str, ...], name: str, arg: int | None, target: int | None
) -> str:
    """An instruction as text. arg: None if it takes none; target: where it may jump to.

    variables: names of the fast locals, cells and free variables, by slot.
    """
    if arg is None:
        return name
    if target is not None:
        meaning = f"to {target}"
    elif name in _CONSTANTS:
        meaning = constant_text(code.co_consts[arg])
    elif name in _NAMES:
        meaning = _name(code.co_names, name, arg)
    elif name in _TWO_VARIABLES:
        meaning = f"{variables[arg >> 4]}, {variables[arg & 15]}"
    elif name in _VARIABLES:
        meaning = variables[arg]
    elif name == "BINARY_OP":
        meaning = _BINARY[arg]
    elif name == "COMPARE_OP":
        meaning = _COMPARISONS[arg >> _COMPARISON_SHIFT]
        if _COMPARISON_SHIFT == 5 and arg & 16:
            meaning = f"bool({meaning})"
    elif name in _INTRINSICS:
        meaning = _INTRINSICS[name][arg]
    elif name in _SAID:
        meaning = _SAID[name][arg]
    elif name in _MAKES_FUNCTION:
        meaning = ", ".join([part for bit, part in enumerate(_FUNCTION_PARTS) if arg & 1 << bit])
    elif name in ("FORMAT_VALUE", "CONVERT_VALUE"):
        parts = (_CONVERSIONS[arg & 3], "with format" if arg & 4 else "")
        meaning = ", ".join([part for part in parts if part])
    else:
        meaning = ""
    return f"{name} {meaning or arg}"


def _name(names: tuple[str, ...], name: str, arg: int) -> str:
    if name == "IMPORT_NAME" and sys.version_info >= (3, 15):  # PEP 810
        return names[arg >> 2] + ("", " + lazy", " + eager", " + lazy")[arg & 3]
    beside, bits = _NULLS.get(name, ("", 0))
    text = names[arg >> bits]
    if not bits or not arg & 1:
        return text
    # In the order in which they come to lie on the stack.
    return f"{beside} + {text}" if sys.version_info < (3, 13) else f"{text} + {beside}"


def constant_text(value: Any) -> str:
    """A constant of a code object: bounded, without addresses, and the same under every hash seed."""
    kind = type(value)
    if kind is int:
        bits = value.bit_length()
        return repr(value) if bits <= INT_BITS else f"<int of {bits} bits>"
    if kind is str or kind is bytes:
        return repr(value[:TEXT_CHARS]) + ("..." if len(value) > TEXT_CHARS else "")
    if kind is tuple:
        texts = [constant_text(item) for item in value[:ITEMS]]
        if len(value) > ITEMS:
            texts.append("...")
        return f"({', '.join(texts)}{',' if len(value) == 1 else ''})"
    if kind is frozenset:
        texts = sorted([constant_text(item) for item in value])
        texts[ITEMS:] = ["..."] if len(value) > ITEMS else []
        return f"frozenset({{{', '.join(texts)}}})" if texts else "frozenset()"
    if kind is CodeType:
        return f"<code {value.co_qualname}>"
    if value is None or value is ... or kind is bool or kind is float or kind is complex:
        return repr(value)
    return "<constant>"
