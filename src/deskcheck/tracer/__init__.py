"""Watches a running program and reports events.

The tracer is a guest in the program's process: it imports only the standard library and `recording`, and does
not change output, exceptions or the exit status.
"""

from typing import TYPE_CHECKING

from deskcheck.lazy import lazily
from deskcheck.tracer.limits import Granularity, TraceLimits

if TYPE_CHECKING:
    from deskcheck.tracer.native import NativeTracer
    from deskcheck.tracer.reference import ReferenceTracer

__all__ = ["Granularity", "ReferenceTracer", "TraceLimits", "tracer_class"]
__getattr__, _ = lazily(__name__, {"reference": ("ReferenceTracer",)})  # callers of programs need only limits


def __dir__() -> list[str]:
    return __all__


def tracer_class(name: str | None = None) -> "type[NativeTracer] | type[ReferenceTracer]":
    """The native tracer if it was built for this interpreter, else the reference tracer. Both record the
    same.

    name: ``native`` or None for this choice, ``reference`` for the reference tracer in any case.

    Raises ValueError for other names.
    """
    if name not in (None, "native", "reference"):
        raise ValueError(f"unknown tracer {name!r}. The tracers are native and reference.")
    if name != "reference":
        try:
            from deskcheck.tracer.native import NativeTracer
        except ImportError:
            pass
        else:
            return NativeTracer
    from deskcheck.tracer.reference import ReferenceTracer

    return ReferenceTracer
