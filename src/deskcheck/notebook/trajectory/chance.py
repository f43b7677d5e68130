"""What of a cell is chance, as it is told: where it comes from, and of what kind that is."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class ChanceKind(StrEnum):
    """How what a cell shows may come to be another in each run."""

    DRAWN = "drawn"
    """From a random generator that no seed was set for."""
    VALUE = "value"
    """A variable has it, to which an earlier cell gave what was drawn."""
    READ = "read"
    """The cell reads a variable, a file or an environment variable that has what was drawn, and it is not
    proved that what it shows does not depend on that."""
    SHOWN = "shown"
    """It is another in each run, and was not drawn: a clock, an address."""
    PERHAPS = "perhaps"
    """A library drew it: it may decide nothing."""
    UNSEEN = "unseen"
    """It is not known: looking for it failed."""


_DRAWN = frozenset({ChanceKind.DRAWN, ChanceKind.VALUE, ChanceKind.READ})
_UNSURE = frozenset({ChanceKind.PERHAPS, ChanceKind.UNSEEN})
_BEGINNINGS = (
    ("perhaps ", ChanceKind.PERHAPS),
    ("unseen: ", ChanceKind.UNSEEN),
    ("the value of ", ChanceKind.VALUE),
    ("reads ", ChanceKind.READ),
    ("the ", ChanceKind.SHOWN),
)
_BETWEEN = ", "


@dataclass(frozen=True, slots=True)
class ChanceSource:
    """kind, and label: in words where it comes from, as ``random`` or ``the clock``."""

    kind: ChanceKind
    label: str

    @property
    def is_drawn(self) -> bool:
        return self.kind in _DRAWN

    @property
    def is_sure(self) -> bool:
        """Whether it is chance, whatever runs give."""
        return self.kind not in _UNSURE

    def __str__(self) -> str:
        beginning = {ChanceKind.PERHAPS: "perhaps ", ChanceKind.UNSEEN: "unseen: "}.get(self.kind, "")
        return beginning + self.label


def drawn_from(label: str) -> ChanceSource:
    """What comes from a generator."""
    return ChanceSource(ChanceKind.DRAWN, label)


def read_from(name: str, label: str) -> ChanceSource:
    """What a cell reads of what was drawn before. name: the variable or file. label: of the generator."""
    return ChanceSource(ChanceKind.READ, f"reads {name.replace(_BETWEEN, ' ')} ({label})")


def shown(label: str) -> ChanceSource:
    """What is another in each run, and was not drawn."""
    return ChanceSource(ChanceKind.SHOWN, label)


def unseen(error: BaseException) -> ChanceSource:
    """What an error left unknown. It may be one of the notebook's own, whose text raises another."""
    try:
        text = " ".join(str(error).split()).replace(_BETWEEN, "; ")
    except BaseException as another:  # noqa: BLE001  # of the notebook's own code
        text = f"whose text raises {type(another).__name__}"
    return ChanceSource(ChanceKind.UNSEEN, f"{type(error).__name__}: {text}"[:_CHARS])


_CHARS = 200


def written(sources: Iterable[ChanceSource]) -> str | None:
    """Sources as one text, for files; None: there are none. `read` reads it."""
    return _BETWEEN.join(map(str, sources)) or None


def read(text: str | None) -> tuple[ChanceSource, ...]:
    """What `written` gave."""
    return tuple(_source(each) for each in (text or "").split(_BETWEEN) if each)


def _source(words: str) -> ChanceSource:
    for beginning, kind in _BEGINNINGS:
        if words.startswith(beginning):
            bare = kind in _UNSURE
            return ChanceSource(kind, words.removeprefix(beginning) if bare else words)
    return drawn_from(words)
