"""Watches a running program and reports events. A guest in someone else's process: it imports the
standard library and `recording`, and leaves output, exceptions and exit status as it finds them."""

from typing import TYPE_CHECKING

from deskcheck.tracer.limits import Granularity, TraceLimits
from deskcheck.tracer.reference import ReferenceTracer

if TYPE_CHECKING:
    from deskcheck.tracer.native import NativeTracer

__all__ = ["Granularity", "ReferenceTracer", "TraceLimits", "tracer_class"]


def tracer_class(name: str | None = None) -> "type[NativeTracer] | type[ReferenceTracer]":
    """The native tracer where it was built for this interpreter, else the reference: they agree. name:
    ``reference`` for that one in any case.

    Raises ValueError for another name."""
    if name not in (None, "native", ReferenceTracer.name):
        raise ValueError(f"there is no tracer {name!r}: native, reference")
    if name == ReferenceTracer.name:
        return ReferenceTracer
    try:
        from deskcheck.tracer.native import NativeTracer
    except ImportError:
        return ReferenceTracer
    return NativeTracer
