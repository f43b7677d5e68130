"""Counts and lists in words."""

from collections.abc import Iterator, Mapping
from itertools import islice


def counts_text(counts: Mapping[str, int]) -> str:
    """Counts with their names, such as ``2 finished, 1 raised``."""
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def counted(number: int, noun: str) -> str:
    """A number with a noun, such as ``1 program``, ``2 programs``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def list_lines(title: str, texts: Mapping[str, str]) -> Iterator[str]:
    """A title with the number of texts, then the first ten of them; no lines without texts."""
    if not texts:
        return
    yield f"{title}: {len(texts)}"
    for name, text in islice(texts.items(), 10):
        yield f"  {name}: {text.partition(chr(10))[0]}"
    if len(texts) > 10:
        yield f"  ... and {len(texts) - 10} more"
