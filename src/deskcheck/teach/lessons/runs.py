"""Which recordings give lessons, and how many steps of each: a first pass, which reads the programs alone, so
that what cannot come to anything is said before hours are spent.

All of it goes by program: what is chosen of one does not depend on what other programs there are.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from deskcheck.jobs.key_set import KeySet
from deskcheck.notation import NOTATIONS
from deskcheck.notation.layout import program_text
from deskcheck.recording import InputError, Recording
from deskcheck.sources.near import HeldOut
from deskcheck.teach.lessons.choice import shares
from deskcheck.teach.lessons.settings import LessonSettings, counted, program_sha256
from deskcheck.teach.lessons.tokens import AnyTokenizer


@dataclass(slots=True)
class _Known:
    """The first pass's facts about a program. left: runs that the second has not reached."""

    left: int = 0
    runs: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    too_long: bool = False
    near: str | None = None


class Choice:
    """The decision about each recording, by its place in the order of all."""

    def __init__(
        self,
        recordings: Iterable[Recording],
        settings: LessonSettings,
        tokenizer: AnyTokenizer,
        held_out: HeldOut,
    ) -> None:
        self.recordings = recordings
        """Read a second time by who makes the lessons: the same in the same order."""
        self.held_out = held_out
        self.settings = settings
        self.refused: dict[int, str] = {}
        """Place of a recording -> why it gives no lesson."""
        self.steps: dict[int, int] = {}
        """Place -> steps at most, where that was asked for."""
        self.programs: dict[bytes, _Known] = {}
        self.not_cleared: Counter[str] = Counter()
        self.count = 0
        self.events = 0
        digest = hashlib.sha256()
        run_keys = KeySet()
        for number, recording in enumerate(recordings):
            self.count += 1
            self.events += len(recording.trace)
            program = recording.program
            sha = program_sha256(program.code)
            digest.update(known_by(program.id, sha, len(recording.trace)))
            reason = self._refusal(recording, run_keys)
            if reason:
                self.refused[number] = reason
                continue
            known_program = self.programs.get(bytes.fromhex(sha))
            if known_program is None:
                known_program = self.programs[bytes.fromhex(sha)] = _Known()
                known_program.near = held_out.near(program.code) if len(held_out) else None
                known_program.too_long = len(tokenizer.encode(program_text(program))) + 2 > settings.budget
            if known_program.near:
                self.refused[number] = known_program.near
                continue
            known_program.left += 1
            if settings.steps is not None:
                known_program.runs.append(number)
                known_program.sizes.append(len(recording.trace))
        self.recordings_sha256 = digest.hexdigest()
        if settings.steps is not None:
            for known_program in self.programs.values():
                self.steps |= zip(
                    known_program.runs, shares(known_program.sizes, settings.steps), strict=True
                )
                known_program.runs, known_program.sizes = [], []

    def _refusal(self, recording: Recording, run_keys: KeySet) -> str | None:
        program = recording.program
        if not program.train_ok and not self.settings.any_licence:
            self.not_cleared[origin(program.source, program.licence)] += 1
            return "not cleared for training"
        if recording.doubt is not None:
            return recording.doubt
        if not len(recording.trace):
            return "no events"
        granularity = recording.environment.granularity
        if granularity == "line" and all(NOTATIONS[name].instructions for name in self.settings.notations):
            return "recorded by line"
        parts = (program.code, program.mode, program.entry, program.arguments, program.module, granularity)
        if not run_keys.add(_key(repr(parts))):
            return "the same run again"
        return None

    @property
    def usable(self) -> int:
        """Programs that are not refused."""
        return sum(program.near is None for program in self.programs.values())

    def refuse_what_leaves_nothing(self) -> None:
        if self.count == len(self.refused):
            reasons = Counter(self.refused.values())
            ways = []
            if reasons["not cleared for training"]:
                ways.append(if_cleared(self.not_cleared))
            if reasons["recorded by line"]:
                ways.append("dynamic_instruction needs recordings made with --granularity instruction.")
            raise InputError(
                " ".join([f"no recording of {self.count} gives lessons: {counted(reasons)}.", *ways])
            )
        if all(program.too_long or program.near for program in self.programs.values()):
            raise InputError(
                f"budget={self.settings.budget} tokens: each of the {self.usable} programs alone is "
                "longer. Give a larger budget."
            )


def known_by(id_: str, sha256: str, events: int) -> bytes:
    """What tells a recording from another, of those that a folder may hold in its place."""
    return f"{id_}\0{sha256}\0{events}\n".encode("utf-8", "replace")


def origin(source: str, licence: str | None) -> str:
    return f"from {source or 'no source'} ({licence or 'no licence'})"


def if_cleared(not_cleared: dict[str, int]) -> str:
    return (
        f"Not cleared for training (train_ok is false) are {counted(not_cleared)}. "
        "If you may train on them, say --any-licence."
    )


def _key(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
