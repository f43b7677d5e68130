"""Reads memory by address. `frames` has the rules for which memory may be read, and how."""

import builtins
import ctypes
import sys
from typing import Any

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))

WORD = ctypes.sizeof(ctypes.c_void_p)
"""Bytes of a pointer."""
FIRST, LAST = (3, 11), (3, 15)
KNOWN = (
    sys.implementation.name == "cpython"
    and WORD == 8
    and FIRST <= sys.version_info[:2] <= LAST
    and "t" not in getattr(sys, "abiflags", "")
)
"""Whether the memory layout of frames and objects is known. Objects of a free-threaded build have a different
head, and its threads run at the same time (PEP 703)."""
copy = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(
    ctypes._memmove_addr  # type: ignore[attr-defined]
)
"""memmove, holding the GIL. `from_address` would raise an audit event that the program can hear."""
_Objects = ctypes.POINTER(ctypes.py_object)


def pointer_to(kind: Any, address: int) -> Any:
    """A pointer to an address.

    `cast` and `from_address` would raise audit events, and the Python parts of ctypes call builtins that the
    program may have replaced.
    """
    pointer = kind()
    copy(ctypes.byref(pointer), ctypes.byref(ctypes.c_size_t(address)), WORD)
    return pointer


def objects_at(address: int) -> Any:
    """The object pointers at an address.

    Indexing returns the object that a pointer has at this moment, with a new reference, in one step. It
    raises ValueError for NULL.
    """
    return pointer_to(_Objects, address)


def pointer_at(address: int) -> int:
    number = ctypes.c_size_t()
    copy(ctypes.byref(number), address, WORD)
    return number.value
