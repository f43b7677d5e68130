"""Instructions that matter to tracers, and the text of an instruction, similar to `dis` of the same version.

`dis` itself is not used: it shows constants by `repr`, at any length and with addresses, and numbers jump
targets on 3.13; a program may also break the modules that it needs. The text depends only on the code object.
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
"""Instructions at which a StopIteration ends a loop or an await, and is not an exception."""
GOES_ON = frozenset({"RESUME", "JUMP_BACKWARD_NO_INTERRUPT"})
ASKS_NEXT = frozenset({"FOR_ITER", "GET_ANEXT"})

TEXT_CHARS = 60
ITEMS = 10
INT_BITS = 256
"""Limits on the shown characters of a string, items of a container, and bits of an int."""

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
"""Instruction -> what it pushes besides the value if the argument's lowest bit is set, and how many low bits
of the argument do not belong to the name."""
if sys.version_info < (3, 12):
    del _NULLS["LOAD_ATTR"]
_SAID: dict[str, list[str]] = {}
"""Instruction -> meanings of its arguments 0, 1, 2, ..."""
if sys.version_info >= (3, 14):
    _SAID = {
        "IS_OP": ["is", "is not"],
        "CONTAINS_OP": ["in", "not in"],
        "LOAD_COMMON_CONSTANT": [
            constant.__name__ if type(constant) is type else repr(constant)
            for constant in opcode._common_constants
        ],
        "LOAD_SPECIAL": list(opcode._special_method_names),
    }
_COMPARISON_SHIFT = {11: 0, 12: 4}.get(sys.version_info[1], 5)


def instruction_text(
    code: CodeType, variables: tuple[str, ...], name: str, arg: int | None, target: int | None
) -> str:
    """An instruction as text.

    variables: names of the fast locals, cells and free variables, by slot.
    arg: the argument, or None if the instruction takes none.
    target: the offset that it may jump to.
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
    # In the order of the stack.
    return f"{beside} + {text}" if sys.version_info < (3, 13) else f"{text} + {beside}"


def constant_text(value: Any) -> str:
    """The text of a constant: bounded, without addresses, and the same for every hash seed."""
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
