"""Chooses the recordings for lessons, and the number of steps of each.

This is a first pass that reads only the programs, so that errors appear before hours are spent. The choice
for a program does not depend on other programs.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from deskcheck.jobs.key_set import KeySet
from deskcheck.notation import NOTATIONS
from deskcheck.recording import Recording
from deskcheck.sources.near import HeldOut
from deskcheck.teach.lessons.choice import shares
from deskcheck.teach.lessons.settings import LessonSettings, counted, program_sha256
from deskcheck.teach.lessons.tokens import AnyTokenizer


@dataclass(slots=True)
class _Known:
    """The first pass's facts about a program. runs_left: runs that the second pass has not reached."""

    runs_left: int = 0
    runs: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    near: str | None = None


class Choice:
    """The decision about each recording, by its number in the order of all."""

    def __init__(
        self,
        recordings: Iterable[Recording],
        settings: LessonSettings,
        tokenizer: AnyTokenizer,
        held_out: HeldOut,
    ) -> None:
        self.recordings = recordings
        """The recordings, which the second pass reads again in the same order."""
        self.held_out = held_out
        self.settings = settings
        self.refused: dict[int, str] = {}
        """The reason why a recording gives no lesson, by its number."""
        self.steps: dict[int, int] = {}
        """Limit for the steps of a recording, by its number, if the settings have a limit."""
        self.programs: dict[bytes, _Known] = {}
        run_keys = KeySet()
        for number, recording in enumerate(recordings):
            program = recording.program
            sha = program_sha256(program.code)
            reason = self._refusal(recording, run_keys)
            if reason:
                self.refused[number] = reason
                continue
            known_program = self.programs.get(bytes.fromhex(sha))
            if known_program is None:
                known_program = self.programs[bytes.fromhex(sha)] = _Known()
                known_program.near = held_out.near(program.code) if len(held_out) else None
            if known_program.near:
                self.refused[number] = known_program.near
                continue
            known_program.runs_left += 1
            if settings.steps is not None:
                known_program.runs.append(number)
                known_program.sizes.append(len(recording.trace))
        if settings.steps is not None:
            for known_program in self.programs.values():
                self.steps |= zip(
                    known_program.runs, shares(known_program.sizes, settings.steps), strict=True
                )
                known_program.runs, known_program.sizes = [], []

    def _refusal(self, recording: Recording, run_keys: KeySet) -> str | None:
        program = recording.program
        if not program.train_ok and not self.settings.any_licence:
            return "not cleared for training"
        if recording.doubt is not None:
            return recording.doubt
        if not len(recording.trace):
            return "no events"
        granularity = recording.environment.granularity
        notations, questions = self.settings.taught, self.settings.questions
        if (
            granularity == "line"
            and not questions
            and all(NOTATIONS[name].instructions for name in notations)
        ):
            return "recorded by line"
        parts = (program.code, program.mode, program.entry, program.arguments, program.module, granularity)
        if not run_keys.add(_key(repr(parts))):
            return "the same run again"
        return None

    @property
    def usable(self) -> int:
        """The number of programs that are not refused."""
        return sum(program.near is None for program in self.programs.values())


def known_by(recording_id: str, sha256: str, events: int) -> bytes:
    """A digest that changes when a recording is replaced by a different one."""
    return f"{recording_id}\0{sha256}\0{events}\n".encode("utf-8", "replace")


def origin(source: str, licence: str | None) -> str:
    return f"from {source or 'no source'} ({licence or 'no licence'})"


def if_cleared(not_cleared: dict[str, int]) -> str:
    return (
        f"Not cleared for training (train_ok is false): {counted(not_cleared)}. If you may train on them, "
        f"add --any-licence."
    )


def _key(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
