"""Tokens and labels as columns in the making, without an object for each number.

A row: program and prompt (both ignored), completion and the end (trained). The tokens are those that a model
is given at inference: program and prompt tokenised as one text, the completion after them. A lesson whose
completion begins inside a token, or that does not come back as it was, is none.
"""

from array import array
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from deskcheck.teach.lessons.rows import Lesson
from deskcheck.teach.lessons.tokens import AnyTokenizer, Bytes, Pretrained

IGNORED = -100
"""Label of a token that is not trained (PyTorch's cross_entropy, ignore_index)."""


class Encoded(NamedTuple):
    """A lesson as tokens. given, in parts, and completion, without the end: in the form that `Ids` wants.

    prefix: how many tokens at the beginning are the program's alone, and so the same in all its lessons.
    ignored, answer: tokens of what is given, of the completion.
    """

    given: tuple[Any, ...]
    completion: Any
    prefix: int
    ignored: int
    answer: int


class Ids(Protocol):
    """input_ids and labels of some rows."""

    @property
    def size_bytes(self) -> int: ...

    def add(self, row: Encoded) -> None: ...

    def columns(self) -> tuple[Any, Any]:
        """input_ids and labels."""


class Encoder(Protocol):
    """Lessons to tokens."""

    type: Any
    """Arrow's type of a token in the file."""

    def program(self, text: str) -> None:
        """What the lessons that follow begin with."""

    def encode(self, lessons: list[Lesson]) -> list[Encoded | str]:
        """Their tokens; for those that have none, the reason."""

    def rows(self) -> Ids: ...


def encoder(tokenizer: AnyTokenizer) -> Encoder:
    return ByteEncoder(tokenizer) if isinstance(tokenizer, Bytes) else PretrainedEncoder(tokenizer)


def _list_array(offsets: "array[int]", values: Any, type_: Any) -> Any:
    size = type_.bit_width // 8
    tokens = pa.Array.from_buffers(type_, len(values) // size, [None, pa.py_buffer(values)])
    starts = pa.Array.from_buffers(pa.int32(), len(offsets), [None, pa.py_buffer(offsets)])
    return pa.ListArray.from_arrays(starts, tokens)


class PretrainedEncoder:
    """For tokenizers that are not ours, whose tokens may depend on what stands around them."""

    type = pa.int32()

    def __init__(self, tokenizer: Pretrained) -> None:
        self.tokenizer = tokenizer

    def program(self, text: str) -> None:
        self._text = text
        self._tokens = [*self.tokenizer.begin, *self.tokenizer.encode(text)]

    def encode(self, lessons: list[Lesson]) -> list[Encoded | str]:
        begin = self.tokenizer.begin
        given = [f"{self._text}{lesson.state}{lesson.asked}" for lesson in lessons]
        whole = [text + lesson.completion for text, lesson in zip(given, lessons, strict=True)]
        all_given, all_whole = self.tokenizer.encode_all(given), self.tokenizer.encode_all(whole)
        found: list[Encoded | str] = []
        for one, both, wrong in zip(
            all_given, all_whole, self.tokenizer.wrong(whole, all_whole), strict=True
        ):
            if both[: len(one)] != one:
                found.append("a token reaches over the end of the prompt")
            elif wrong:
                found.append("the tokenizer cannot write it")
            else:
                tokens = [*begin, *one]
                same = zip(self._tokens, tokens, strict=False)
                prefix = next((at for at, (a, b) in enumerate(same) if a != b), len(self._tokens))
                found.append(Encoded((tokens,), both[len(one) :], prefix, len(tokens), len(both) - len(one)))
        return found

    def rows(self) -> "PretrainedIds":
        return PretrainedIds(self.tokenizer.end)


class PretrainedIds:
    def __init__(self, end: int) -> None:
        self.end = end
        self.ids, self.labels = array("i"), array("i")
        self.offsets = array("i", [0])

    @property
    def size_bytes(self) -> int:
        return 8 * len(self.ids)

    def add(self, row: Encoded) -> None:
        for part in row.given:
            self.ids.extend(part)
        self.ids.extend(row.completion)
        self.ids.append(self.end)
        self.labels += array("i", [IGNORED]) * row.ignored
        self.labels.extend(row.completion)
        self.labels.append(self.end)
        self.offsets.append(len(self.ids))

    def columns(self) -> tuple[Any, Any]:
        ids, labels = (memoryview(values).cast("B") for values in (self.ids, self.labels))
        type_ = PretrainedEncoder.type
        return _list_array(self.offsets, ids, type_), _list_array(self.offsets, labels, type_)


class ByteEncoder:
    """For `Bytes`, whose tokens are bytes but for the end: 16 bits a token, little end first."""

    type = pa.int16()

    def __init__(self, tokenizer: Bytes) -> None:
        self.tokenizer = tokenizer

    def program(self, text: str) -> None:
        self._program = self._wide(text)

    def _wide(self, text: str) -> bytes:
        return self.tokenizer.data(text).decode("latin-1").encode("utf-16-le")

    def encode(self, lessons: list[Lesson]) -> list[Encoded | str]:
        known: dict[str, bytes] = {}  # a state is what one lesson asks for and another begins with
        found: list[Encoded | str] = []
        prefix = len(self._program) // 2
        for state, asked, completion, _, _, _ in lessons:
            # Runs of digits end with the newline between one of these texts and the next.
            for text in (state, asked, completion):
                if text not in known:
                    known[text] = self._wide(text)
            given = (self._program, known[state], known[asked])
            last = known[completion]
            found.append(Encoded(given, last, prefix, sum(map(len, given)) // 2, len(last) // 2))
        return found

    def rows(self) -> "ByteIds":
        return ByteIds()


_END = Bytes.end.to_bytes(2, "little")
_IGNORED = IGNORED.to_bytes(2, "little", signed=True)


class ByteIds:
    """Rows of tokens, in parts that rows share: they are put together once, when a file takes them."""

    def __init__(self) -> None:
        self._ids: list[bytes] = []
        self._labels: list[bytes | memoryview] = []
        self._ignored = memoryview(_IGNORED * 1024)
        self.offsets = array("i", [0])

    @property
    def size_bytes(self) -> int:
        return 4 * self.offsets[-1]

    def add(self, row: Encoded) -> None:
        end = (row.completion, _END)
        self._ids += row.given
        self._ids += end
        if len(self._ignored) < 2 * row.ignored:
            self._ignored = memoryview(_IGNORED * (2 * row.ignored))
        self._labels.append(self._ignored[: 2 * row.ignored])
        self._labels += end
        self.offsets.append(self.offsets[-1] + row.ignored + row.answer + 1)

    def columns(self) -> tuple[Any, Any]:
        ids, labels = b"".join(self._ids), b"".join(self._labels)
        type_ = ByteEncoder.type
        return _list_array(self.offsets, ids, type_), _list_array(self.offsets, labels, type_)
