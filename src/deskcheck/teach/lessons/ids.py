"""Collects tokens and labels as columns, without an object for each number.

A row has the program and the prompt (both ignored), then the completion and the end (trained). The tokens are
those at inference: program and prompt are tokenised as one text, and the completion after them. Lessons whose
completion begins inside a token, or whose tokens decode to a different text, are left out. Prompts without a
line end at their end (those of questions) are tokenised apart from the completion, as a server does.
"""

from array import array
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from deskcheck.teach.lessons.rows import Lesson
from deskcheck.teach.lessons.tokens import AnyTokenizer, Bytes, Pretrained

IGNORED = -100
"""Label of a token that is not trained (PyTorch's cross_entropy, ignore_index)."""


class Encoded(NamedTuple):
    """A lesson as tokens, in the bytes of Arrow's type of a token."""

    prompt: tuple[bytes, ...]
    """Program and prompt, in parts."""
    completion: bytes
    """The completion, without the end."""
    prefix: int
    """Number of tokens at the beginning that all lessons of the program share."""
    ignored: int
    """Number of tokens of the prompt."""
    answer: int
    """Number of tokens of the completion."""


class Ids:
    """input_ids and labels of some rows."""

    def __init__(self, type_: Any, end: int) -> None:
        self._type, self._width = type_, type_.bit_width // 8
        self._end = end.to_bytes(self._width, "little")
        self._ignored = IGNORED.to_bytes(self._width, "little", signed=True)
        self._ids: list[bytes] = []
        self._labels: list[bytes] = []
        self._offsets = array("i", [0])

    @property
    def size_bytes(self) -> int:
        return 2 * self._width * self._offsets[-1]

    def add(self, row: Encoded) -> None:
        trained = row.completion + self._end
        self._ids += (*row.prompt, trained)
        self._labels += (self._ignored * row.ignored, trained)
        self._offsets.append(self._offsets[-1] + row.ignored + row.answer + 1)

    def columns(self) -> tuple[Any, Any]:
        """input_ids and labels."""
        return self._column(self._ids), self._column(self._labels)

    def _column(self, parts: list[bytes]) -> Any:
        tokens = pa.Array.from_buffers(self._type, self._offsets[-1], [None, pa.py_buffer(b"".join(parts))])
        starts = pa.Array.from_buffers(pa.int32(), len(self._offsets), [None, pa.py_buffer(self._offsets)])
        return pa.ListArray.from_arrays(starts, tokens)


class Encoder(Protocol):
    """Lessons to tokens."""

    type: Any
    """Arrow's type of a token in the file."""

    def program(self, text: str) -> None:
        """Sets the program of the next lessons."""

    def encode(self, lessons: list[Lesson]) -> list[Encoded | str]:
        """The tokens of each lesson, or the reason why it has none."""


def encoder(tokenizer: AnyTokenizer) -> Encoder:
    return ByteEncoder(tokenizer) if isinstance(tokenizer, Bytes) else PretrainedEncoder(tokenizer)


class PretrainedEncoder:
    """For Hugging Face tokenizers, whose tokens may depend on the text around them."""

    type = pa.int32()

    def __init__(self, tokenizer: Pretrained) -> None:
        self.tokenizer = tokenizer

    def program(self, text: str) -> None:
        self._text = text
        self._tokens = [*self.tokenizer.begin, *self.tokenizer.encode(text)]

    def encode(self, lessons: list[Lesson]) -> list[Encoded | str]:
        prompts = [f"{self._text}{lesson.state}{lesson.question}" for lesson in lessons]
        texts = [prompt + lesson.completion for prompt, lesson in zip(prompts, lessons, strict=True)]
        before = self.tokenizer.encode_all(prompts)
        tokens = self.tokenizer.encode_all(texts)
        if apart := [place for place, prompt in enumerate(prompts) if not prompt.endswith("\n")]:
            answers = self.tokenizer.encode_all([lessons[place].completion for place in apart])
            for place, answer in zip(apart, answers, strict=True):
                tokens[place] = before[place] + answer
        wrong = self.tokenizer.wrong(texts, tokens)
        return list(map(self._encoded, before, tokens, wrong))

    def _encoded(self, prompt: list[int], all_tokens: list[int], wrong: str | None) -> Encoded | str:
        if all_tokens[: len(prompt)] != prompt:
            return "a token crosses the end of the prompt"
        if wrong:
            return "the tokenizer cannot write it"
        context, completion = [*self.tokenizer.begin, *prompt], all_tokens[len(prompt) :]
        same = zip(self._tokens, context, strict=False)
        prefix = next((at for at, (a, b) in enumerate(same) if a != b), len(self._tokens))
        parts = (array("i", context).tobytes(),), array("i", completion).tobytes()
        return Encoded(*parts, prefix, len(context), len(completion))


class ByteEncoder:
    """For `Bytes`, whose tokens are bytes except for the end: 16 bits for each token, little-endian."""

    type = pa.int16()

    def __init__(self, tokenizer: Bytes) -> None:
        self.tokenizer = tokenizer

    def program(self, text: str) -> None:
        self._program = self._wide(text)

    def _wide(self, text: str) -> bytes:
        return self.tokenizer.data(text).decode("latin-1").encode("utf-16-le")

    def encode(self, lessons: list[Lesson]) -> list[Encoded | str]:
        wide = lru_cache(None)(self._wide)  # a state is what one lesson asks for and another begins with
        encoded: list[Encoded | str] = []
        for state, question, completion, _, _, _ in lessons:
            # Runs of digits end with the newline between one of these texts and the next.
            prompt, answer = (self._program, wide(state), wide(question)), wide(completion)
            size = sum(map(len, prompt)) // 2
            encoded.append(Encoded(prompt, answer, len(self._program) // 2, size, len(answer) // 2))
        return encoded
