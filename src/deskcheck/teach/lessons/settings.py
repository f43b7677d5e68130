"""Settings of lessons, and counts of the result."""

import hashlib
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from deskcheck.notation import NOTATIONS
from deskcheck.recording import InputError
from deskcheck.settings import Setting, refuse_small


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonSettings:
    """Settings of lessons.

    notations: by default `dynamic`, and none if there are questions. budget: tokens of program, prompt,
    completion and end together. by_path: represent rare paths of a run as well as frequent ones. without:
    sources for `sources.programs`. questions: kinds of question; their lessons are the prompts of `ask
    --method direct`, with the right answers. jumps of the question `step` may be negative. mix: other data,
    as `mixing.Mix.of` reads it.
    """

    notations: Annotated[
        tuple[str, ...],
        Setting(
            f"Notations, separated by commas: {', '.join(NOTATIONS.built_in)} (dynamic).",
            flag="--notation",
            short="-n",
            commas=True,
        ),
    ] = ()
    questions: Annotated[
        tuple[str, ...],
        Setting(
            "Kinds of question, separated by commas, as for `ask`: their prompts, with the right answers. "
            "`input` is the reverse of `output`; `step` with --jump -1 asks for the state before.",
            flag="--question",
            short="-q",
            commas=True,
        ),
    ] = ()
    per_recording: Annotated[
        int | None, Setting("Lessons of each kind of question from one recording.", min=1)
    ] = None
    mix: Annotated[
        tuple[str, ...],
        Setting(
            "FILE:SHARE. Mix in other data: JSON lines with messages, prompt and completion, or text. SHARE, "
            "such as 0.3, is their part of all training lessons. May be given again.",
            metavar="FILE:SHARE",
        ),
    ] = ()
    jumps: Annotated[
        tuple[int, ...],
        Setting(
            "Events of a step. Of several numbers, separated by commas, one is drawn for each step.",
            flag="--jump",
            commas=True,
        ),
    ] = (1,)
    tokenizer: Annotated[str, Setting("bytes, or a Hugging Face tokenizer: its name or folder.")] = "bytes"
    ids: Annotated[bool, Setting("Write tokens and labels in addition to the text.")] = True
    budget: Annotated[
        int, Setting("Maximum number of tokens of a lesson. Longer ones are left out and counted.", min=2)
    ] = 8_000
    steps: Annotated[
        int | None,
        Setting("Steps to draw from all runs of a program. By default all are taken.", min=1),
    ] = None
    by_path: Annotated[
        bool,
        Setting("With --steps: balance the steps of a run over its paths (lines before, at and after)."),
    ] = False
    validation: Annotated[float, Setting("Share of the programs in this split.", min=0, max=1)] = 0.05
    test: Annotated[float, Setting("Share of the programs in this split.", min=0, max=1)] = 0.05
    seed: Annotated[int, Setting("Seed of all random draws.")] = 0
    any_licence: Annotated[
        bool, Setting("Also use recordings that are not cleared for training (train_ok).")
    ] = False
    without: Annotated[
        tuple[str, ...],
        Setting(
            "Leave out programs of this set, and near copies: cruxeval:PATH, or any other source that "
            "`deskcheck record` takes. May be given again.",
            metavar="SOURCE",
        ),
    ] = ()

    def __post_init__(self) -> None:
        for name in self.notations:
            if name not in NOTATIONS:
                raise InputError(f"unknown notation {name!r}. The notations are {', '.join(NOTATIONS)}.")
        if len(set(self.notations)) < len(self.notations):
            raise InputError(f"notations={self.notations!r}: name each notation once.")
        if len(set(self.questions)) < len(self.questions):
            raise InputError(f"questions={self.questions!r}: name each question once.")
        if not self.jumps or (min(self.jumps) < 1 and (self.taught or "step" not in self.questions)):
            raise InputError(
                f"jumps={self.jumps!r}: each must be at least 1, the next state. Only --question step "
                "without --notation can go backward."
            )
        refuse_small(self)
        if self.by_path and self.steps is None:
            raise InputError("by_path (--by-path) needs steps (--steps): without a number, all are taken.")
        if self.validation + self.test >= 1:
            raise InputError(
                f"validation={self.validation}, test={self.test}: these shares of the programs must not be "
                "negative, and leave some for training."
            )

    def to_dict(self) -> dict[str, Any]:
        """The settings for ``lessons.json``. Those of questions and mixed data are missing if unused, as in
        folders of earlier versions."""
        unused = {"questions": (), "per_recording": None, "mix": ()}
        settings = asdict(self) | {"notations": self.taught}
        return {name: value for name, value in settings.items() if unused.get(name, self) != value}

    @property
    def taught(self) -> tuple[str, ...]:
        """The notations of lessons: `dynamic`, unless notations or questions are named."""
        return self.notations or (() if self.questions else ("dynamic",))


@dataclass(kw_only=True)
class LessonSummary:
    """Counts of the input and the output, which ``lessons.json`` contains with the settings.

    left_out: number of recordings, and lessons of each notation, by reason. kept: counts of each notation of
    each split.
    """

    recordings: int = 0
    events: int = 0
    programs: int = 0
    left_out: dict[str, dict[str, int]] = field(default_factory=dict)
    kept: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)
    licences: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    depths: dict[str, int] = field(default_factory=dict)
    shortest_left_out: int | None = None

    def leave_out(self, what: str, reason: str, count: int = 1) -> None:
        reasons = self.left_out.setdefault(what, {})
        reasons[reason] = reasons.get(reason, 0) + count

    def add(self, addition: "LessonSummary") -> None:
        """Add the counts of another summary."""
        for name in ("recordings", "events", "programs"):
            setattr(self, name, getattr(self, name) + getattr(addition, name))
        for name in ("left_out", "kept", "sources", "licences", "tokens", "depths"):
            _add_counts(getattr(self, name), getattr(addition, name))
        if addition.shortest_left_out is not None:
            ours = self.shortest_left_out
            self.shortest_left_out = min(addition.shortest_left_out, ours or addition.shortest_left_out)

    @property
    def lessons(self) -> int:
        return sum(counts["lessons"] for by in self.kept.values() for counts in by.values())

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def program_sha256(code: str) -> str:
    """The identity of a program, for splits and duplicates."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


def _add_counts(counts: dict[str, Any], more: dict[str, Any]) -> None:
    for name, count in more.items():
        if isinstance(count, dict):
            _add_counts(counts.setdefault(name, {}), count)
        else:
            counts[name] = counts.get(name, 0) + count


def counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(counts.items(), key=lambda item: -item[1]))
