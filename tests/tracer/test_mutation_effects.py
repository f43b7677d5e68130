"""Every instruction and every method of a builtin type has a row that says what it can change."""

import opcode

import pytest

from deskcheck.tracer import mutation_effects
from deskcheck.tracer.mutation_effects import BUILDING, BY_OPERANDS, CHANGING, DRAWING, METHODS, PURE, _Walk

ROWS = (PURE, BY_OPERANDS, DRAWING, BUILDING, CHANGING, frozenset({"FOR_ITER"}))
OF_THE_COMPILER = frozenset(
    """
    SETUP_FINALLY SETUP_CLEANUP SETUP_WITH POP_BLOCK JUMP JUMP_NO_INTERRUPT LOAD_METHOD LOAD_SUPER_METHOD
    LOAD_ZERO_SUPER_METHOD LOAD_ZERO_SUPER_ATTR STORE_FAST_MAYBE_NULL LOAD_CLOSURE JUMP_IF_FALSE JUMP_IF_TRUE
    ANNOTATIONS_PLACEHOLDER
    """.split()
)
"""Instructions that no code object holds (some of them on some versions)."""


def instructions() -> list[str]:
    """Those that `dis` shows: neither specialised nor instrumented, which run as the same ones."""
    found = []
    for name, number in opcode.opmap.items():
        if name.startswith("INSTRUMENTED") or (number > 255 and name in OF_THE_COMPILER):
            continue
        found.append(name)
    return found


def walked(name: str) -> bool:
    return hasattr(_Walk, f"_{name.lower()}")


@pytest.mark.parametrize("name", instructions())
def test_an_instruction_has_one_row(name: str) -> None:
    rows = [row for row in ROWS if name in row]
    assert len(rows) + walked(name) == 1, f"{name} has {len(rows)} rows, and is walked: {walked(name)}"


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_a_method_has_a_row(kind: type) -> None:
    there = {name for name in dir(kind) if not name.startswith("__")}
    rows = set(METHODS[kind])
    newer = {"from_number", "is_integer"}  # of complex in 3.14, of int in 3.12
    assert there <= rows
    assert rows - there <= newer


def test_a_method_that_is_not_known_may_do_anything() -> None:
    assert (
        mutation_effects.METHODS[list].get("no_such_method", mutation_effects.MethodEffect.UNKNOWN)
        == mutation_effects.MethodEffect.UNKNOWN
    )
