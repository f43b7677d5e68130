"""Where programs come from: files, doctests, functions with inputs, published sets, generators.

Every source becomes an iterator of `Program`, each of which says where it came from and whether it
may be trained on. Nothing of the user's is run here: that is the sandbox's work, which `inputs` has it do.
"""

from deskcheck.corpus.readers import doctests
from deskcheck.corpus.readers.published import PUBLISHED
from deskcheck.corpus.readers.sets import PublishedSet
from deskcheck.corpus.sources import SOURCES, Source, programs, source

__all__ = ["PUBLISHED", "SOURCES", "PublishedSet", "Source", "doctests", "programs", "source"]
