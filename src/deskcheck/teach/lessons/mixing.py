"""Mixes other training data into lessons: a further file, ``train-mixed.parquet``, in their folder.

An example is a line of JSON in one of three forms:

    {"messages": [{"role": "user", "content": ...}, {"role": "assistant", "content": ...}]}
    {"prompt": ..., "completion": ...}
    {"text": ...}

Of messages the last one is the completion; it must be the assistant's. The prompt is the contents of those
before it, joined as the chat template of a trained model joins them (`sft.AS_IT_IS`). Of a text everything is
trained.
"""

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from deskcheck.files import NotJSON, read_file, read_json, sha256, write_file
from deskcheck.notation.layout import divided
from deskcheck.recording import InputError
from deskcheck.teach.lessons.ids import Ids, encoder
from deskcheck.teach.lessons.rows import Lesson
from deskcheck.teach.lessons.settings import LessonSettings, LessonSummary
from deskcheck.teach.lessons.shards import MIXED, STATE_NAME, LessonRows, LessonShard, Shared, schema
from deskcheck.teach.lessons.tokens import AnyTokenizer

NAME = "mix"
"""What `notation` says of mixed examples."""
_MADE_OF = "mix_sha256"
"""Key of a digest of what the file was made of, in ``lessons.json``."""


@dataclass(frozen=True, slots=True)
class Mix:
    """A file of examples, and their share of all training lessons."""

    file: Path
    share: float

    @classmethod
    def of(cls, text: str) -> "Mix":
        """The mix of ``FILE:SHARE``. Raises InputError for anything else, and if the file does not exist."""
        name, colon, share = text.rpartition(":")
        try:
            mix = cls(Path(name), float(share))
        except ValueError:
            raise InputError(f"--mix {text}: write FILE:SHARE, such as code.jsonl:0.3.") from None
        if not colon or not 0 < mix.share < 1:
            raise InputError(f"--mix {text}: the share must be above 0 and below 1, such as code.jsonl:0.3.")
        if not mix.file.is_file():
            raise InputError(f"--mix {text}: {name} is not a file.")
        return mix


def mixes_of(settings: LessonSettings) -> list[Mix]:
    """The mixed data of settings. Raises InputError if they leave nothing for lessons."""
    mixes = [Mix.of(text) for text in settings.mix]
    if sum(mix.share for mix in mixes) >= 1:
        raise InputError(f"--mix {' '.join(settings.mix)}: together the shares must be below 1.")
    return mixes


def add_mixed(
    folder: Path,
    settings: LessonSettings,
    tokenizer: AnyTokenizer,
    summary: LessonSummary,
    note: Callable[[str], None],
) -> None:
    """Writes the mixed examples into a folder of complete lessons, unless they are there, and counts them in
    `summary` and ``lessons.json``.

    The seed draws them. A file that has too few is used whole, with a note. Raises InputError for a line that
    is not an example.
    """
    mixes = mixes_of(settings)
    if not mixes:
        return
    kept = summary.kept.setdefault("train", {})
    lessons = sum(counts["lessons"] for name, counts in kept.items() if name != NAME)
    total = lessons / (1 - sum(mix.share for mix in mixes))
    counted_mixes = [(mix, round(total * mix.share)) for mix in mixes]
    made_of = json.dumps([*settings.mix, *(sha256(mix.file) for mix in mixes), lessons, settings.tokenizer])
    digest = hashlib.sha256(made_of.encode()).hexdigest()
    path = folder / MIXED
    state = read_json(read_file(folder / STATE_NAME))
    if state.get(_MADE_OF) == digest and path.exists():
        return
    _write(folder, counted_mixes, settings, tokenizer, note)
    table = pq.read_table(path, columns=["tokens", "trained_tokens"])
    tokens, trained = (pc.sum(table[name]).as_py() or 0 for name in ("tokens", "trained_tokens"))
    kept[NAME] = {"lessons": len(table), "tokens": tokens, "trained_tokens": trained}
    state |= {"summary": summary.to_dict(), _MADE_OF: digest}
    write_file(folder / STATE_NAME, [json.dumps(state, indent=1), "\n"])


def _write(
    folder: Path,
    counted_mixes: Sequence[tuple[Mix, int]],
    settings: LessonSettings,
    tokenizer: AnyTokenizer,
    note: Callable[[str], None],
) -> None:
    to_tokens = encoder(tokenizer)
    shard = LessonShard(folder, "mixed", schema(to_tokens.type if settings.ids else None))
    written = 0
    try:
        for mix, count in counted_mixes:
            rows = LessonRows(Ids(to_tokens.type, tokenizer.end) if settings.ids else None)
            examples = list(_examples(mix.file))
            random.Random(f"{settings.seed} {mix.file.name}").shuffle(examples)
            left_out = _fill(rows, examples, count, mix.file.name, settings.budget, to_tokens)
            if left_out:
                note(f"{mix.file}: {left_out} examples are left out: over the budget, or without tokens")
            if len(rows) < count:
                note(f"{mix.file}: has {len(rows)} examples; a share of {mix.share} would be {count}")
            if len(rows):
                shard.write("train", rows)
                written += len(rows)
        if not written:
            raise InputError(f"--mix {' '.join(settings.mix)}: no example is left within --budget.")
        shard.finish()
    except BaseException:
        shard.abandon()
        raise


def _fill(
    rows: LessonRows,
    examples: Sequence[tuple[int, dict[str, Any], str, str]],
    count: int,
    source: str,
    budget: int,
    to_tokens: Any,
) -> int:
    """Adds `count` different examples to rows. Returns the number of those that were passed over."""
    hashes: set[int] = set()
    left_out = 0
    for number, facts, prompt_text, completion in examples:
        if len(rows) == count:
            break
        prefix, prompt = divided(prompt_text)
        hashed = hashlib.blake2b(
            f"{prefix}\0{prompt}\0{completion}".encode("utf-8", "surrogatepass"), digest_size=8
        )
        key = int.from_bytes(hashed.digest(), "little")
        if key in hashes:
            continue
        hashes.add(key)
        to_tokens.program(prefix)
        (encoded,) = to_tokens.encode([Lesson("", prompt, completion, None, None, 0)])
        if isinstance(encoded, str) or encoded.ignored + encoded.answer + 1 > budget:
            left_out += 1
            continue
        licence, train_ok = facts.get("licence"), facts.get("train_ok") is True
        example_id = f"{source}:{number}"
        sha = hashlib.sha256(prompt_text.encode("utf-8", "surrogatepass")).hexdigest()
        rows.where.append(len(rows.shared))
        rows.shared.append(
            Shared(prefix, example_id, sha, NAME, "line", 0, source, licence, train_ok, "train")
        )
        rows.prompts.append(prompt)
        rows.completions.append(completion)
        rows.jumps.append(None)
        rows.events.append(None)
        rows.depths.append(0)
        rows.tokens.append(encoded.ignored + encoded.answer + 1)
        rows.prefixes.append(encoded.prefix)
        rows.trained.append(encoded.answer + 1)
        rows.keys.append(key)
        if rows.ids is not None:
            rows.ids.add(encoded)
    return left_out


def _examples(file: Path) -> Iterator[tuple[int, dict[str, Any], str, str]]:
    """(line number, the line's facts, prompt, completion) of each example.

    Raises InputError for any other line.
    """
    for number, line in enumerate(read_file(file).decode("utf-8", "replace").splitlines(), 1):
        if not line.strip():
            continue
        try:
            facts = read_json(line)
        except NotJSON as error:
            raise InputError(f"{file}, line {number}: is not JSON ({error}).") from error
        example = _example(facts) if isinstance(facts, dict) else None
        if example is None:
            raise InputError(
                f"{file}, line {number}: is not an example. Give messages that end with the assistant's, "
                "prompt and completion, or text."
            )
        yield number, facts, *example


def _example(facts: dict[str, Any]) -> tuple[str, str] | None:
    """Prompt and completion; None if the facts are in none of the forms."""
    messages = facts.get("messages")
    if isinstance(messages, list):
        texts = [message.get("content") for message in messages if isinstance(message, dict)]
        if len(texts) < max(2, len(messages)) or messages[-1].get("role") != "assistant":
            return None
        prompt, completion = texts[:-1], texts[-1]
    elif "text" in facts:
        prompt, completion = [""], facts["text"]
    else:
        prompt, completion = [facts.get("prompt")], facts.get("completion")
    before = [text for text in prompt if isinstance(text, str)]
    if len(before) < len(prompt) or not isinstance(completion, str) or not completion:
        return None
    return "".join(before), completion
