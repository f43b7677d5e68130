"""Sources of programs: files, doctests, functions with inputs, published sets, generators.

A source is an iterator of `Program`. Each program has its origin, and whether models may be trained on it.
User code is not run in this process: `inputs` runs it in the sandbox.
"""

from deskcheck.sources.sets import doctests
from deskcheck.sources.sets.published import PUBLISHED
from deskcheck.sources.sets.sets import PublishedSet
from deskcheck.sources.sources import SOURCES, Source, programs, source

__all__ = ["PUBLISHED", "SOURCES", "PublishedSet", "Source", "doctests", "programs", "source"]
