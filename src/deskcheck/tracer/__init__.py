"""Watches a running program and reports events. A guest in someone else's process: it imports the
standard library and `recording`, and leaves output, exceptions and exit status as it finds them."""

from deskcheck.tracer.limits import Level, TraceLimits
from deskcheck.tracer.reference import ReferenceTracer

__all__ = ["Level", "ReferenceTracer", "TraceLimits"]
