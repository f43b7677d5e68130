"""Makes the lessons of recordings as rows of a shard."""

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from deskcheck.jobs.key_set import KeySet
from deskcheck.notation import NOTATIONS
from deskcheck.notation.layout import STEPWISE, program_text
from deskcheck.recording import Program, Recording
from deskcheck.teach.lessons.choice import SPLITS, chosen_steps, split_of
from deskcheck.teach.lessons.ids import Ids, encoder
from deskcheck.teach.lessons.questions import question_lessons
from deskcheck.teach.lessons.rows import (
    Lesson,
    count_states,
    granularity_of,
    paths_of_states,
    step_lessons,
    trace_lesson,
)
from deskcheck.teach.lessons.runs import Choice
from deskcheck.teach.lessons.settings import LessonSettings, LessonSummary, program_sha256
from deskcheck.teach.lessons.shards import LessonRows, LessonShard, Shared, schema
from deskcheck.teach.lessons.tokens import AnyTokenizer


class Maker:
    """Makes the lessons of recordings and counts them in `summary`.

    Rows stay in memory until a split has enough of them, or until `flush`.
    """

    def __init__(self, settings: LessonSettings, tokenizer: AnyTokenizer, choice: Choice) -> None:
        self.settings = settings
        self.choice = choice
        self.encoder = encoder(tokenizer)
        self.end = tokenizer.end
        self.summary = LessonSummary()
        self.unwritten: Counter[str] = Counter()
        """Number of lessons that the tokenizer cannot write, by reason."""
        self.lesson_keys: defaultdict[bytes, KeySet] = defaultdict(KeySet)
        """Keys of the earlier lessons of each program that has more runs to come."""
        self._prefix = _Prefix()
        self._rows: dict[str, LessonRows] = {}

    def flush(self, shard: LessonShard) -> None:
        """Write the rows in memory."""
        for split in list(self._rows):
            shard.write(split, self._rows.pop(split))

    def finished(self, number: int, recording: Recording) -> None:
        """Forget the lessons of a program after its last recording."""
        if number in self.choice.refused:
            return
        sha = bytes.fromhex(program_sha256(recording.program.code))
        program = self.choice.programs[sha]
        program.runs_left -= 1
        if not program.runs_left:
            self.lesson_keys.pop(sha, None)

    def add(self, number: int, recording: Recording, shard: LessonShard) -> None:
        summary = self.summary
        summary.recordings += 1
        summary.events += len(recording.trace)
        if reason := self.choice.refused.get(number):
            summary.leave_out("recordings", reason)
            return
        program = recording.program
        if program.code != self._prefix.code:
            self._prefix = self._prefix_of(program)
        for notation in self.settings.taught:
            if NOTATIONS[notation].instructions and recording.environment.granularity != "instruction":
                summary.leave_out(notation, "recorded by line")
            elif notation in STEPWISE:
                self._add(self._steps(number, recording, notation), notation, recording, shard)
            elif lesson := trace_lesson(recording, notation, self.settings.budget, summary.leave_out):
                self._add([lesson], notation, recording, shard)
        for question in self.settings.questions:
            for text, lessons in question_lessons(recording, question, self.settings, summary.leave_out):
                self._add(lessons, question, recording, shard, self._prefix.beginning(text))

    def _prefix_of(self, program: Program) -> "_Prefix":
        sha = program_sha256(program.code)
        split = split_of(sha, self.settings.validation, self.settings.test)
        return _Prefix("", program.code, bytes.fromhex(sha), split).beginning(program_text(program))

    def _steps(self, number: int, recording: Recording, notation: str) -> Iterator[Lesson]:
        rng = random.Random(f"{self.settings.seed} {notation} {self._prefix.sha.hex()} {recording.id}")
        count = count_states(recording, notation)
        at_most = self.choice.steps.get(number)
        starts = max(0, count - min(self.settings.jumps))
        if not starts:
            self.summary.leave_out(notation, "shorter than the jump", 1)
        if at_most is not None and at_most < starts:
            self.summary.leave_out(notation, "not drawn", starts - at_most)
        paths = paths_of_states(recording, notation) if self.settings.by_path else None
        chosen = chosen_steps(count, at_most, self.settings.jumps, rng, paths)
        return step_lessons(recording, notation, chosen, self.summary.leave_out)

    def _add(
        self,
        lessons: Iterable[Lesson],
        notation: str,
        recording: Recording,
        shard: LessonShard,
        prefix: "_Prefix | None" = None,
    ) -> None:
        """Write lessons of one recording in one notation, or of one kind of question with its `prefix`."""
        prefix, program = prefix or self._prefix, recording.program
        self.encoder.program(prefix.text)
        shared = Shared(
            prefix.text,
            program.id,
            prefix.sha.hex(),
            notation,
            granularity_of(notation),
            len(recording.trace),
            program.source,
            program.licence,
            program.train_ok,
            prefix.split,
        )
        keys_before = self.lesson_keys[prefix.sha]
        for batch in _batches(lessons):
            new: list[Lesson] = []
            keys: list[int] = []
            for lesson in batch:
                hashed = prefix.hashed.copy()
                text = f"{lesson.state}{lesson.question}\0{lesson.completion}"
                hashed.update(text.encode("utf-8", "surrogatepass"))
                key = int.from_bytes(hashed.digest(), "little")
                if keys_before.add(key):
                    new.append(lesson)
                    keys.append(key)
            if len(new) < len(batch):
                self.summary.leave_out(notation, "the same lesson again", len(batch) - len(new))
            self._add_new(new, keys, shared, shard)

    def _add_new(self, lessons: list[Lesson], keys: list[int], shared: Shared, shard: LessonShard) -> None:
        summary, split, budget = self.summary, shared.split, self.settings.budget
        lengths, depths = Counter[int](), Counter[int]()
        count_kept = all_tokens = all_trained = 0
        run: LessonRows | None = None
        rows = self._rows_of(split)
        for lesson, key, encoded in zip(lessons, keys, self.encoder.encode(lessons), strict=True):
            if isinstance(encoded, str):
                summary.leave_out(shared.notation, encoded)
                self.unwritten[encoded] += 1
                continue
            trained = encoded.answer + 1
            tokens = encoded.ignored + trained
            if tokens > budget:
                summary.leave_out(shared.notation, "over the budget")
                summary.shortest_left_out = min(tokens, summary.shortest_left_out or tokens)
                continue
            if rows.full:
                shard.write(split, self._rows.pop(split))
                rows = self._rows_of(split)
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
            rows.chars += len(lesson.state) + len(lesson.question) + len(lesson.completion)
            if rows.ids is not None:
                rows.ids.add(encoded)
            count_kept += 1
            all_tokens += tokens
            all_trained += trained
            lengths[(tokens - 1).bit_length()] += 1
            depths[lesson.depth] += 1
        if not count_kept:
            return
        counts = summary.kept.setdefault(split, {}).setdefault(shared.notation, dict.fromkeys(_COUNTS, 0))
        for name, count in zip(_COUNTS, (count_kept, all_tokens, all_trained), strict=True):
            counts[name] += count
        for totals, more in (
            (summary.sources, {shared.source: count_kept}),
            (summary.licences, {shared.licence or "none": count_kept}),
            (summary.tokens, {f"<= {1 << bits}": count for bits, count in lengths.items()}),
            (summary.depths, {str(depth): count for depth, count in depths.items()}),
        ):
            for what, count in more.items():
                totals[what] = totals.get(what, 0) + count

    def _rows_of(self, split: str) -> LessonRows:
        rows = self._rows.get(split)
        if rows is None:
            ids = Ids(self.encoder.type, self.end) if self.settings.ids else None
            rows = self._rows[split] = LessonRows(ids)
        return rows


def schema_of(settings: LessonSettings, tokenizer: AnyTokenizer) -> Any:
    """The columns of lessons with these settings."""
    return schema(encoder(tokenizer).type if settings.ids else None)


_COUNTS = ("lessons", "tokens", "trained_tokens")
_BATCH_LESSONS, _BATCH_CHARS = 512, 1 << 20


def _batches(lessons: Iterable[Lesson]) -> Iterator[list[Lesson]]:
    """Groups of lessons, each just large enough for tokenizing them together to pay."""
    batch: list[Lesson] = []
    chars = 0
    for lesson in lessons:
        batch.append(lesson)
        chars += len(lesson.state) + len(lesson.completion)
        if len(batch) >= _BATCH_LESSONS or chars >= _BATCH_CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch


@dataclass(slots=True)
class _Prefix:
    """The common data of all lessons of a program."""

    text: str = ""
    code: str | None = None
    sha: bytes = b""
    split: str = SPLITS[0]
    hashed: Any = None

    def beginning(self, text: str) -> "_Prefix":
        """The same program, whose lessons begin with another text."""
        hashed = hashlib.blake2b(f"{text}\0".encode("utf-8", "surrogatepass"), digest_size=8)
        return replace(self, text=text, hashed=hashed)
