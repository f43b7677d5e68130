"""Where programs come from: files, doctests, functions with inputs, published sets, generators.

Every source becomes an iterator of `Program`, each with its origin, and whether it
may be trained on. Nothing of the user's is run here: that is the sandbox's work, which `inputs` has it do.
"""

from deskcheck.sources.sets import doctests
from deskcheck.sources.sets.published import PUBLISHED
from deskcheck.sources.sets.sets import PublishedSet
from deskcheck.sources.sources import SOURCES, Source, programs, source

__all__ = ["PUBLISHED", "SOURCES", "PublishedSet", "Source", "doctests", "programs", "source"]
