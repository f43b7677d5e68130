"""Lessons: recordings as rows that a model learns from. docs/lessons.md describes the columns.

`build` reads recordings in their order, in flat memory, and writes shards that are whole or absent; started
again on the same folder it goes on where it was. What gives no lesson is counted by its reason in
``lessons.json``, beside the shards: nothing is cut, nothing is left out silently. A first pass reads the
programs alone, so that what cannot come to anything is said before hours are spent.
"""

import hashlib
import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from deskcheck.corpus import programs
from deskcheck.notation import NOTATIONS
from deskcheck.notation.layout import program_text
from deskcheck.recording import InputError, Program, Recording, RecordingError
from deskcheck.recording.file import Recordings, _disk, _FolderLock, _sync
from deskcheck.teach._choice import SPLITS, chosen_steps, shares, split_of
from deskcheck.teach._ids import encoder
from deskcheck.teach._near import HeldOut
from deskcheck.teach._rows import STEPWISE, Lesson, count_states, level_of, step_lessons, trace_lesson
from deskcheck.teach._seen import Seen
from deskcheck.teach._shards import Rows, Shard, Shared, schema, shard_files
from deskcheck.teach.tokens import AnyTokenizer, open_tokenizer

STATE_NAME = "lessons.json"
FORMAT = 1
_SHARD_ROWS = 100_000
_SHARD_BYTES = 256 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonSettings:
    """Which lessons are made.

    budget: tokens of a whole lesson: program, prompt, completion and end. jumps: how many events a step may
    lead on; one is drawn for each step. steps: of all runs of one program, in each stepwise notation; None:
    all. validation, test: shares of programs. any_licence: also what is not cleared for training.
    without: sources (`corpus.programs`) whose programs, and near copies of them, are left out.
    tokenizer: ``bytes``, or a Hugging Face one by name or folder. ids: write the tokens too.
    """

    notations: tuple[str, ...] = ("dynamic",)
    jumps: tuple[int, ...] = (1,)
    tokenizer: str = "bytes"
    ids: bool = True
    budget: int = 8_000
    steps: int | None = None
    validation: float = 0.05
    test: float = 0.05
    seed: int = 0
    any_licence: bool = False
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in self.notations:
            if name not in NOTATIONS:
                raise InputError(f"there is no notation {name!r}. Known are {', '.join(NOTATIONS)}.")
        if not self.notations or len(set(self.notations)) < len(self.notations):
            raise InputError(f"notations={self.notations!r}: name each that is wanted once.")
        if not self.jumps or min(self.jumps) < 1:
            raise InputError(f"jumps={self.jumps!r}: each must be at least one, which is the next state.")
        for name, least in (("budget", 2), ("steps", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name}={value} must be at least {least}.")
        if self.validation < 0 or self.test < 0 or self.validation + self.test >= 1:
            raise InputError(
                f"validation={self.validation}, test={self.test}: these shares of the programs must not be "
                "negative, and leave some for training."
            )


@dataclass(kw_only=True)
class Summary:
    """What went in and what came of it. ``lessons.json`` holds it, with the settings.

    left_out: of recordings and of each notation, reason -> how many. kept: split -> notation -> counts.
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

    @property
    def lessons(self) -> int:
        return sum(counts["lessons"] for by in self.kept.values() for counts in by.values())

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def program_sha256(code: str) -> str:
    """What a program is known by: splits and duplicates go by it."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


def build(
    runs: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    settings: LessonSettings | None = None,
    *,
    progress: Callable[[int, int], None] = lambda done, of: None,
    note: Callable[[str], None] = lambda text: None,
) -> Summary:
    """Write the lessons of folders of recordings into a folder, or what is missing of them.

    progress: told how many recordings are done, of how many.

    Raises:
        InputError: nothing would be left; the folder holds lessons of other settings or recordings.
        RecordingError: recordings cannot be read, or the folder not be written to.
    """
    settings = settings or LessonSettings()
    tokenizer = open_tokenizer(settings.tokenizer)
    folders = [_open(folder) for folder in runs]
    held_out = HeldOut()
    for source in settings.without:
        before = len(held_out)
        for program in programs(source, note=note):
            held_out.add(source.partition(":")[0], program.code)
        if len(held_out) == before:
            raise InputError(f"without {source!r}: has no programs that were not named before it.")
    plan = _Plan(folders, settings, tokenizer, held_out)
    plan.refuse_what_leaves_nothing()
    if plan.not_cleared:
        note(
            f"{sum(plan.not_cleared.values())} recordings are not cleared for training and left out: "
            f"{_counts(plan.not_cleared)}"
        )
    folder = Path(out)
    with _disk(folder, "write lessons here"):
        folder.mkdir(parents=True, exist_ok=True)
        lock = _FolderLock(folder)
    try:
        return _Builder(folder, settings, tokenizer, plan).build(progress)
    finally:
        lock.release()


def _open(folder: str | os.PathLike[str]) -> Recordings:
    path = Path(folder)
    notebooks = path.is_dir() and any(path.rglob("*.trajectory.parquet"))
    if notebooks and not any(path.glob("recordings-*.parquet")):
        raise InputError(
            f"{path}: holds trajectories of notebooks. Lessons are made of recordings of programs "
            "(deskcheck record FILE.py ... --out FOLDER): name such a folder."
        )
    return Recordings(path)


def _counts(found: dict[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(found.items(), key=lambda one: -one[1]))


@dataclass(slots=True)
class _Known:
    """What the first pass knows of a program. left: runs that the second has still to come to."""

    left: int = 0
    runs: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    too_long: bool = False
    near: str | None = None


class _Plan:
    """What is to be done with each recording, by its place in the order of all."""

    def __init__(
        self, folders: list[Recordings], settings: LessonSettings, tokenizer: AnyTokenizer, held_out: HeldOut
    ) -> None:
        self.folders = folders
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
        seen = Seen()
        for place, recording in enumerate(self.recordings()):
            self.count += 1
            self.events += len(recording.trace)
            program = recording.program
            sha = program_sha256(program.code)
            digest.update(f"{program.id}\0{sha}\0{len(recording.trace)}\n".encode("utf-8", "replace"))
            reason = self._refusal(recording, seen)
            if reason:
                self.refused[place] = reason
                continue
            known = self.programs.get(bytes.fromhex(sha))
            if known is None:
                known = self.programs[bytes.fromhex(sha)] = _Known()
                known.near = held_out.near(program.code) if len(held_out) else None
                known.too_long = len(tokenizer.encode(program_text(program))) + 2 > settings.budget
            if known.near:
                self.refused[place] = known.near
                continue
            known.left += 1
            if settings.steps is not None:
                known.runs.append(place)
                known.sizes.append(len(recording.trace))
        self.recordings_sha256 = digest.hexdigest()
        if settings.steps is not None:
            for known in self.programs.values():
                self.steps |= zip(known.runs, shares(known.sizes, settings.steps), strict=True)
                known.runs, known.sizes = [], []

    def recordings(self) -> Iterator[Recording]:
        for folder in self.folders:
            yield from folder

    def _refusal(self, recording: Recording, seen: Seen) -> str | None:
        program = recording.program
        if not program.train_ok and not self.settings.any_licence:
            self.not_cleared[f"from {program.source or 'no source'} ({program.licence or 'no licence'})"] += 1
            return "not cleared for training"
        if recording.repeatable is False:
            return "not repeatable"
        if not len(recording.trace):
            return "no events"
        level = recording.environment.level
        if level == "line" and all(NOTATIONS[name].instructions for name in self.settings.notations):
            return "recorded by line"
        parts = (program.code, program.mode, program.entry, program.arguments, program.module, level)
        if not seen.add(_key(repr(parts))):
            return "the same run again"
        return None

    @property
    def usable(self) -> int:
        """Programs that are not refused."""
        return sum(known.near is None for known in self.programs.values())

    def refuse_what_leaves_nothing(self) -> None:
        if self.count == len(self.refused):
            reasons = Counter(self.refused.values())
            ways = []
            if reasons["not cleared for training"]:
                ways.append(
                    f"Not cleared for training (train_ok is false) are {_counts(self.not_cleared)}. "
                    "If you may train on them, say --any-licence."
                )
            if reasons["recorded by line"]:
                ways.append("dynamic_instruction needs recordings made with --level instruction.")
            raise InputError(
                " ".join([f"no recording of {self.count} gives lessons: {_counts(reasons)}.", *ways])
            )
        if all(known.too_long or known.near for known in self.programs.values()):
            raise InputError(
                f"budget={self.settings.budget} tokens: each of the {self.usable} programs alone is "
                "longer. Give a larger budget."
            )


def _key(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


class _Builder:
    """Writes what is missing. Everything that it needs to go on stands in ``lessons.json``."""

    def __init__(self, folder: Path, settings: LessonSettings, tokenizer: AnyTokenizer, plan: _Plan) -> None:
        self.folder = folder
        self.settings = settings
        self.tokenizer = tokenizer
        self.plan = plan
        self.encoder = encoder(tokenizer)
        self.schema = schema(self.encoder.type if settings.ids else None)
        self.done = 0
        """Recordings whose lessons are in shards."""
        self.shards = 0
        self.complete = False
        self.summary = Summary()
        self.seen: defaultdict[bytes, Seen] = defaultdict(Seen)
        self.prefix = _Prefix()
        self.unwritten = 0
        self.rows: dict[str, Rows] = {}

    def build(self, progress: Callable[[int, int], None]) -> Summary:
        self._go_on()
        if self.complete:
            self._refuse_nothing()
            return self.summary
        self.summary.programs = self.plan.usable
        if not self.done:
            self._save()  # refuses the folder to others from now on
        shard = self._begin_shard()
        try:
            for place, recording in enumerate(self.plan.recordings()):
                if place < self.done:
                    self._finished_program(place, recording)
                    continue
                self._recording(place, recording, shard)
                self._finished_program(place, recording)
                if shard.rows >= _SHARD_ROWS or shard.size_bytes >= _SHARD_BYTES:
                    self._finish(shard, place + 1)
                    shard = self._begin_shard()
                progress(place + 1, self.plan.count)
            self.complete = True
            self._finish(shard, self.plan.count)
        except BaseException:
            shard.abandon()
            raise
        self._refuse_nothing()
        return self.summary

    # -- going on ------------------------------------------------------------------------------

    def _head(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "settings": asdict(self.settings),
            "recordings_sha256": self.plan.recordings_sha256,
            "held_out_sha256": self.plan.held_out.sha256,
        }

    def _go_on(self) -> None:
        """Take up what an earlier builder left."""
        path = self.folder / STATE_NAME
        if not path.exists():
            found = sorted(path.name for path in self.folder.glob("*.parquet"))
            if found:
                raise InputError(
                    f"{self.folder}: holds {found[0]} and no {STATE_NAME}: it was made by something else. "
                    "Choose another folder."
                )
            return
        try:
            state = json.loads(path.read_bytes())
            had = {key: state[key] for key in self._head()}
            summary, position = Summary(**state["summary"]), state["position"]
        except (ValueError, KeyError, TypeError) as error:
            raise RecordingError(
                f"{path}: damaged: {error!r}. Delete the folder, or choose another.", str(path)
            ) from error
        wanted = json.loads(json.dumps(self._head()))
        if had != wanted:
            self._refuse_others(had, wanted)
        self.summary, self.complete = summary, state["complete"]
        self.done, self.shards = position["recordings"], position["shards"]
        open_programs = self._open_programs()
        for path, number, named in shard_files(self.folder):
            if not named or number >= self.shards:
                path.unlink()
            elif open_programs:
                for batch in pq.ParquetFile(path).iter_batches(columns=["program_sha256", "key"]):
                    for sha, key in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                        if (program := bytes.fromhex(sha)) in open_programs:
                            self.seen[program].add(key)

    def _refuse_others(self, had: dict[str, Any], wanted: dict[str, Any]) -> None:
        if had["recordings_sha256"] != wanted["recordings_sha256"]:
            what = "of other recordings, or there are more of them now"
        elif had["settings"] == wanted["settings"] and had["held_out_sha256"] != wanted["held_out_sha256"]:
            what = f"made without other programs: {', '.join(self.settings.without)} changed"
        else:
            both = {**had["settings"], **wanted["settings"]}
            other = [
                f"{name}={had['settings'].get(name)!r}, not {wanted['settings'].get(name)!r}"
                for name in both
                if had["settings"].get(name) != wanted["settings"].get(name)
            ]
            what = f"made with {'; '.join(other) or 'another version of deskcheck'}"
        raise InputError(f"{self.folder}: holds lessons {what}. Choose another folder, or delete this one.")

    def _open_programs(self) -> set[bytes]:
        """Programs of which some runs are done and others not."""
        done: Counter[bytes] = Counter()
        for place, recording in enumerate(self.plan.recordings()):
            if place >= self.done:
                break
            if place not in self.plan.refused:
                done[bytes.fromhex(program_sha256(recording.program.code))] += 1
        return {sha for sha, count in done.items() if count < self.plan.programs[sha].left}

    def _finished_program(self, place: int, recording: Recording) -> None:
        """Forget the lessons of a program whose last run is done."""
        if place in self.plan.refused:
            return
        sha = bytes.fromhex(program_sha256(recording.program.code))
        known = self.plan.programs[sha]
        known.left -= 1
        if not known.left:
            self.seen.pop(sha, None)

    def _save(self) -> None:
        state = self._head() | {
            "complete": self.complete,
            "position": {"recordings": self.done, "shards": self.shards},
            "summary": self.summary.to_dict(),
        }
        path = self.folder / STATE_NAME
        part = path.with_name(f"{STATE_NAME}.part")
        with _disk(path, "save how far the lessons are"):
            part.write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
            _sync(part)
            os.replace(part, path)
            _sync(self.folder)

    def _begin_shard(self) -> Shard:
        return Shard(self.folder, self.shards, self.schema)

    def _finish(self, shard: Shard, done: int) -> None:
        for split in list(self.rows):
            shard.write(split, self.rows.pop(split))
        shard.finish()
        self.done = done
        self.shards += 1
        self._save()

    def _refuse_nothing(self) -> None:
        if self.summary.lessons:
            return
        shortest = self.summary.shortest_left_out
        over = (
            f" The shortest has {shortest} tokens; the budget is {self.settings.budget}." if shortest else ""
        )
        reasons: Counter[str] = Counter()
        for counts in self.summary.left_out.values():
            reasons.update(counts)
        raise InputError(f"no lesson is left: {_counts(reasons)}.{over}")

    # -- rows ----------------------------------------------------------------------------------

    def _recording(self, place: int, recording: Recording, shard: Shard) -> None:
        summary = self.summary
        summary.recordings += 1
        summary.events += len(recording.trace)
        if reason := self.plan.refused.get(place):
            summary.leave_out("recordings", reason)
            return
        program = recording.program
        if program.code != self.prefix.code:
            self.prefix = self._prefix_of(program)
        for notation in self.settings.notations:
            if NOTATIONS[notation].instructions and recording.environment.level != "instruction":
                summary.leave_out(notation, "recorded by line")
            elif notation in STEPWISE:
                self._add(self._steps(place, recording, notation), notation, recording, shard)
            elif whole := trace_lesson(recording, notation, self.settings.budget, summary.leave_out):
                self._add([whole], notation, recording, shard)

    def _prefix_of(self, program: Program) -> "_Prefix":
        text, sha = program_text(program), program_sha256(program.code)
        self.encoder.program(text)
        return _Prefix(
            text,
            program.code,
            bytes.fromhex(sha),
            split_of(sha, self.settings.validation, self.settings.test),
            hashlib.blake2b(f"{text}\0".encode("utf-8", "surrogatepass"), digest_size=8),
        )

    def _steps(self, place: int, recording: Recording, notation: str) -> Iterator[Lesson]:
        chance = random.Random(f"{self.settings.seed} {notation} {self.prefix.sha.hex()} {recording.id}")
        count = count_states(recording, notation)
        at_most = self.plan.steps.get(place)
        starts = max(0, count - min(self.settings.jumps))
        if at_most is not None and at_most < starts:
            self.summary.leave_out(notation, "not drawn", starts - at_most)
        chosen = chosen_steps(count, at_most, self.settings.jumps, chance)
        return step_lessons(recording, notation, chosen, self.summary.leave_out)

    def _add(self, lessons: Iterable[Lesson], notation: str, recording: Recording, shard: Shard) -> None:
        """Write lessons of one recording in one notation."""
        prefix, program = self.prefix, recording.program
        shared = Shared(
            prefix.text,
            program.id,
            prefix.sha.hex(),
            notation,
            level_of(notation),
            len(recording.trace),
            program.source,
            program.licence,
            program.train_ok,
            prefix.split,
        )
        seen = self.seen[prefix.sha]
        for some in _batches(lessons):
            new: list[Lesson] = []
            keys: list[int] = []
            for lesson in some:
                hashed = prefix.hashed.copy()
                text = f"{lesson.state}{lesson.asked}\0{lesson.completion}"
                hashed.update(text.encode("utf-8", "surrogatepass"))
                key = int.from_bytes(hashed.digest(), "little")
                if seen.add(key):
                    new.append(lesson)
                    keys.append(key)
            if len(new) < len(some):
                self.summary.leave_out(notation, "the same lesson again", len(some) - len(new))
            self._add_new(new, keys, shared, shard)

    def _add_new(self, lessons: list[Lesson], keys: list[int], shared: Shared, shard: Shard) -> None:
        summary, split, budget = self.summary, shared.split, self.settings.budget
        lengths, depths = Counter[int](), Counter[int]()
        kept = all_tokens = all_trained = 0
        run: Rows | None = None
        rows = self._rows(split)
        for lesson, key, encoded in zip(lessons, keys, self.encoder.encode(lessons), strict=True):
            if isinstance(encoded, str):
                summary.leave_out(shared.notation, encoded)
                self._unwritten(encoded)
                continue
            trained = encoded.answer + 1
            tokens = encoded.ignored + trained
            if tokens > budget:
                summary.leave_out(shared.notation, "over the budget")
                summary.shortest_left_out = min(tokens, summary.shortest_left_out or tokens)
                continue
            if rows.full:
                shard.write(split, self.rows.pop(split))
                rows = self._rows(split)
            if run is not rows:
                run = rows
                rows.shared.append(shared)
            rows.where.append(len(rows.shared) - 1)
            rows.prompts.append(lesson.prompt)
            rows.completions.append(lesson.completion)
            rows.jumps.append(lesson.jump)
            rows.events.append(lesson.event)
            rows.depths.append(lesson.depth)
            rows.tokens.append(tokens)
            rows.prefixes.append(encoded.prefix)
            rows.trained.append(trained)
            rows.keys.append(key)
            rows.chars += len(lesson.state) + len(lesson.asked) + len(lesson.completion)
            if rows.ids is not None:
                rows.ids.add(encoded)
            kept += 1
            all_tokens += tokens
            all_trained += trained
            lengths[(tokens - 1).bit_length()] += 1
            depths[lesson.depth] += 1
        if not kept:
            return
        counts = summary.kept.setdefault(split, {}).setdefault(shared.notation, dict.fromkeys(_COUNTS, 0))
        for name, count in zip(_COUNTS, (kept, all_tokens, all_trained), strict=True):
            counts[name] += count
        for found, more in (
            (summary.sources, {shared.source: kept}),
            (summary.licences, {shared.licence or "none": kept}),
            (summary.tokens, {f"<= {1 << bits}": count for bits, count in lengths.items()}),
            (summary.depths, {str(depth): count for depth, count in depths.items()}),
        ):
            for what, count in more.items():
                found[what] = found.get(what, 0) + count

    def _unwritten(self, reason: str) -> None:
        """Stop where nothing but this has come of the first lessons."""
        self.unwritten += 1
        if self.unwritten >= _UNWRITTEN and not self.summary.kept:
            raise InputError(
                f"tokenizer {self.settings.tokenizer!r}: none of the first {self.unwritten} lessons can be "
                f"used: {reason}. Choose another tokenizer."
            )

    def _rows(self, split: str) -> Rows:
        rows = self.rows.get(split)
        if rows is None:
            rows = self.rows[split] = Rows(self.encoder.rows() if self.settings.ids else None)
        return rows


_COUNTS = ("lessons", "tokens", "trained_tokens")
_UNWRITTEN = 100
"""So many lessons that the tokenizer cannot write, and no other, are enough."""
_BATCH_LESSONS, _BATCH_CHARS = 512, 1 << 20


def _batches(lessons: Iterable[Lesson]) -> Iterator[list[Lesson]]:
    """So many at a time that tokenizing them together pays, and no more."""
    some: list[Lesson] = []
    chars = 0
    for lesson in lessons:
        some.append(lesson)
        chars += len(lesson.state) + len(lesson.completion)
        if len(some) >= _BATCH_LESSONS or chars >= _BATCH_CHARS:
            yield some
            some, chars = [], 0
    if some:
        yield some


@dataclass(slots=True)
class _Prefix:
    """What all lessons of a program share."""

    text: str = ""
    code: str | None = None
    sha: bytes = b""
    split: str = SPLITS[0]
    hashed: Any = None
