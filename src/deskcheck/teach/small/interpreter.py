"""Asks a model for the next states of many programs at once.

Each program is read once, and its keys and values are kept. Most of a state is the same as before, so the
state before serves as a guess, and the network checks many guessed tokens in one pass. If the model answers
in edits, the guess is its last answer at the same line. This is decoding with a draft from the prompt
(Leviathan et al. 2023, arXiv:2211.17192; Saxena 2023, "prompt lookup decoding"). The result is that of greedy
decoding: a guessed token counts only if it is the model's most likely token.

Needs numpy and a `Network`: `networks` with torch, or `runtime` with ONNX Runtime.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from deskcheck.notation.layout import asked_state
from deskcheck.teach.lessons.tokens import Edits, Tokenizer

Numbers = NDArray[np.int64]
Floats = NDArray[Any]
"""Arrays in the network's precision."""

_GUESS = 24
"""Tokens that are guessed at a time."""
_FIND = 4
"""Tokens that must agree before the guess continues from another place."""
_LONGER, _AT_LEAST = 4, 200
"""The longest state: this many times the length of its prompt, plus `_AT_LEAST` tokens. A model that is lost
would never end its answer."""
_AT_ONCE = 1024
"""Tokens in one pass of the network, with padding. Larger passes are not faster on a CPU."""
_ROOM = 64
"""Tokens for which the cache of keys and values is enlarged at a time."""
_SEEN_MOST = 200_000
"""Places in earlier answers that are remembered before the memory is cleared."""


class Network(Protocol):
    """A causal language model whose caller stores its keys and values."""

    layers: int
    heads: int
    head: int
    """Width of a head."""
    dtype: np.dtype[Any]
    """Type of keys and values."""
    shift_tokens: int
    """Number of earlier tokens that a pass needs in addition to its own."""

    def run(
        self, tokens: Numbers, keys: Sequence[Floats], values: Sequence[Floats], lengths: Numbers
    ) -> tuple[NDArray[np.float32], Sequence[Floats], Sequence[Floats]]:
        """One pass: log probabilities [rows, length, vocabulary], and the keys and values of these tokens.

        tokens: [rows, shift + length], -1 before the first. keys, values: a [rows, heads, size, head] for
        each layer; the first `lengths` [rows] of `size` count, and positions continue from there. The
        returned keys and values are [rows, heads, length, head].
        """
        ...


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """The answer of a model."""

    text: str
    ended: bool
    """Whether the model ended the answer; False: it reached the longest length."""
    tokens: int
    nll: float | None
    """Sum of the tokens' negative log probabilities in nats; None if the model does not report them."""
    passes: int
    """Passes of the network for this answer."""


class Rows:
    """Programs that a model is asked about, one in each row."""

    programs: list[Any]
    """The programs as the model stores them."""

    def answers(self, questions: Sequence[tuple[Any, str, str]]) -> list[StepAnswer]:
        """The greedy answers. questions: (the stored program, prompt, a guess at the answer)."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.programs)

    def keep(self, rows: Sequence[int]) -> None:
        """Drops all other rows, and numbers these in this order."""
        self.programs = [self.programs[row] for row in rows]

    def add(self, rows: "Rows") -> None:
        """Appends the rows of another object of the same class."""
        self.programs += rows.programs

    def ask(self, questions: Mapping[int, tuple[str, str]]) -> dict[int, StepAnswer]:
        """Greedy answers. questions: row -> (prompt, a guess at the answer)."""
        answers = self.answers([(self.programs[row], *question) for row, question in questions.items()])
        return dict(zip(questions, answers, strict=True))

    def exact(self, rows: Sequence[int], texts: Sequence[tuple[str, str]]) -> list[bool]:
        """Whether greedy decoding gives exactly the answer, for each (prompt, answer) about a row's program.

        The answer serves as the guess, so a right one takes few passes.
        """
        answers = self.answers([(self.programs[row], *text) for row, text in zip(rows, texts, strict=True)])
        return [a.ended and a.text == text for a, (_, text) in zip(answers, texts, strict=True)]


class StepModel(Protocol):
    """A model that can step programs."""

    def read(self, programs: Sequence[str], longest: int) -> Rows:
        """Programs, as `program_text` writes them, ready for questions.

        longest: tokens of a prompt with its answer.
        """

    @property
    def step_notation(self) -> str | None:
        """The notation of runs that the model was taught; None if it was taught none, or is not known."""

    def refuse_untaught(self, notation: str, jumps: Sequence[int] = ()) -> None:
        """Raise InputError for a notation or jumps that the model does not know."""


class KnownProgram(NamedTuple):
    """A program that a network has read."""

    text: str
    tokens: list[int]
    keys: list[Any]
    """A [heads, tokens, head] for each layer."""
    values: list[Any]
    """A [heads, tokens, head] for each layer."""


class Pass(NamedTuple):
    """The input of one pass of a network.

    feeds: the tokens of each row. read_before: all tokens before them. keys, values: those of the tokens
    before, a [rows, heads, size, head] for each layer; empty if there are none. first: the first place whose
    next token is needed.
    """

    feeds: Sequence[list[int]]
    read_before: Sequence[list[int]]
    keys: list[Any]
    values: list[Any]
    first: int

    @property
    def lengths(self) -> list[int]:
        """How many keys and values of each row count."""
        return [len(tokens) for tokens in self.read_before]


class StepDecoder(Protocol):
    """A network with its tokens. Arrays are numpy's or torch's."""

    @property
    def end(self) -> int:
        """The token that ends an answer."""

    @property
    def at_once(self) -> int:
        """Tokens in one pass of the network, with padding."""

    def together(self, programs: Sequence[list[int]]) -> Iterator[list[int]]:
        """The numbers of the programs that are read together, group by group."""

    def shared(self, program: str) -> list[int]:
        """The tokens that all prompts about a program begin with."""

    def tokens(self, program: KnownProgram, prompt: str) -> list[int]:
        """All tokens before the answer to a prompt, including the program's."""

    def draft(self, prompt: str, guess: str) -> list[int]:
        """The tokens of a guess at the answer, without the end."""

    def answer(self, tokens: list[int], prompt: str, written: list[int]) -> str:
        """The text of an answer. tokens: all before it."""

    def most(self, start: int, prompt: int, longest: int, *, whole_trace: bool) -> int:
        """The largest number of tokens of a prompt with its answer.

        start: tokens before the prompt that are already read. prompt: tokens of the prompt. whole_trace: the
        prompt asks for a whole trace.
        """

    def zeros(self, like: Any, *shape: int) -> Any:
        """An array of zeros of the kind of `like`."""

    def run(self, batch: Pass) -> tuple[Numbers, NDArray[np.float32], list[Any], list[Any]]:
        """The most likely next tokens from `Pass.first` on, and their log probabilities, [rows, places].

        The keys and values of all tokens follow.
        """


class NetworkRows(Rows):
    """Programs that a network has read, one in each row. Any number of questions can follow.

    longest: tokens of a prompt with its answer. A state that is much longer than its prompt ends earlier.
    """

    programs: list[KnownProgram]
    answers_again = False
    """Whether the last answer to the same question serves as the guess, instead of the state before."""

    def __init__(self, decoder: StepDecoder, programs: Sequence[str], longest: int = 2048) -> None:
        self.decoder = decoder
        self.longest = longest
        self.earlier = Seen()
        texts = list(dict.fromkeys(programs))  # equal programs are read once
        tokens = [decoder.shared(text) for text in texts]
        by_text: dict[str, KnownProgram] = {}
        for together in decoder.together(tokens) if texts else ():
            feeds = [tokens[number] for number in together]
            *_, keys, values = decoder.run(
                Pass(feeds, [[]] * len(together), [], [], max(map(len, feeds)) - 1)
            )
            for row, number in enumerate(together):
                size = len(tokens[number])
                layers_of = [[layer[row, :, :size] for layer in layers] for layers in (keys, values)]
                by_text[texts[number]] = KnownProgram(texts[number], tokens[number], *layers_of)
        self.programs = [by_text[text] for text in programs]

    def answers(self, questions: Sequence[tuple[KnownProgram, str, str]]) -> list[StepAnswer]:
        """See `Rows.answers`."""
        decoder = self.decoder
        tokens = [decoder.tokens(program, prompt) for program, prompt, _ in questions]
        # The last token of a prompt is run over in any case: the answer begins behind it.
        starts = [
            min(len(common(program.tokens, all_)), len(all_) - 1)
            for (program, _, _), all_ in zip(questions, tokens, strict=True)
        ]
        writing = [
            self._begun(all_[start:], start, prompt, guess)
            for (_, prompt, guess), all_, start in zip(questions, tokens, starts, strict=True)
        ]
        if questions:
            read_tokens = [all_[:start] for all_, start in zip(tokens, starts, strict=True)]
            self._write(writing, [program for program, _, _ in questions], read_tokens)
        return [
            StepAnswer(
                decoder.answer(all_, prompt, writing_row.written),
                writing_row.ended,
                len(writing_row.written),
                writing_row.nll,
                writing_row.passes,
            )
            for writing_row, all_, (_, prompt, _) in zip(writing, tokens, questions, strict=True)
        ]

    def _begun(self, pending: list[int], start: int, prompt: str, guess: str) -> "Writing":
        state = asked_state(prompt)
        question = prompt.removeprefix(state or "")
        draft = self.earlier.answers.get(question) if self.answers_again else None
        if draft is None:
            draft = [*self.decoder.draft(prompt, guess), self.decoder.end]
        limit = self.decoder.most(start, len(pending), self.longest, whole_trace=state is None)
        return Writing(pending, draft, question, self.earlier, limit)

    def stacked(
        self, programs: Sequence[KnownProgram], starts: Sequence[int], size: int
    ) -> tuple[list[Any], list[Any]]:
        """Keys and values of the first tokens of programs as [rows, heads, size, head]."""
        stacked: tuple[list[Any], list[Any]] = ([], [])
        for layers, kind in zip(stacked, ("keys", "values"), strict=True):
            for layer, like in enumerate(getattr(programs[0], kind)):
                padded = self.decoder.zeros(like, len(programs), like.shape[0], size, like.shape[2])
                for row, (program, start) in enumerate(zip(programs, starts, strict=True)):
                    padded[row, :, :start] = getattr(program, kind)[layer][:, :start]
                layers.append(padded)
        return stacked

    def _write(
        self, writing: Sequence["Writing"], programs: Sequence[KnownProgram], read_tokens: list[list[int]]
    ) -> None:
        """Writes all answers. read_tokens: the tokens before each answer that are already read."""
        room = (
            max(len(row) + len(answer.pending) for row, answer in zip(read_tokens, writing, strict=True))
            + _ROOM
        )
        cache = self.stacked(programs, [len(row) for row in read_tokens], room)
        active = [number for number, answer in enumerate(writing) if answer.size < answer.limit]
        while active:
            feeds = {number: [*writing[number].pending, *writing[number].guess()] for number in active}
            for numbers in alike(feeds, self.decoder.at_once):
                cache = self._passed(numbers, writing, feeds, read_tokens, cache)
            active = [n for n in active if not writing[n].ended and writing[n].size < writing[n].limit]

    def _passed(
        self,
        numbers: list[int],
        writing: Sequence["Writing"],
        feeds: Mapping[int, list[int]],
        read_tokens: list[list[int]],
        cache: tuple[list[Any], list[Any]],
    ) -> tuple[list[Any], list[Any]]:
        """Continues some answers by one pass. Returns all keys and values."""
        lengths = [len(read_tokens[number]) for number in numbers]
        size, first = max(lengths), min(len(writing[number].pending) for number in numbers) - 1
        best, sure, *new = self.decoder.run(
            Pass(
                [feeds[number] for number in numbers],
                [read_tokens[number] for number in numbers],
                [layer[numbers, :, :size] for layer in cache[0]],
                [layer[numbers, :, :size] for layer in cache[1]],
                first,
            )
        )
        for row, (number, at) in enumerate(zip(numbers, lengths, strict=True)):
            answer, feed = writing[number], feeds[number]
            answered = slice(len(answer.pending) - 1 - first, len(feed) - first)
            count = answer.take(best[row, answered], sure[row, answered], self.decoder.end)
            cache = self._with_room(cache, at + count)
            for layers, new_layers in zip(cache, new, strict=True):
                for layer, new_layer in zip(layers, new_layers, strict=True):
                    layer[number, :, at : at + count] = new_layer[row][:, :count]
            read_tokens[number] = [*read_tokens[number], *feed[:count]]
        return cache

    def _with_room(self, cache: tuple[list[Any], list[Any]], size: int) -> tuple[list[Any], list[Any]]:
        if all(layer.shape[2] >= size for layer in cache[0]):
            return cache
        return self._wide(cache[0], size + _ROOM), self._wide(cache[1], size + _ROOM)

    def _wide(self, layers: list[Any], size: int) -> list[Any]:
        grown = [self.decoder.zeros(x, x.shape[0], x.shape[1], size, x.shape[3]) for x in layers]
        for wide, layer in zip(grown, layers, strict=True):
            wide[:, :, : layer.shape[2]] = layer
        return grown


@dataclass(frozen=True, slots=True)
class NetworkDecoder:
    """A `Network` with its tokenizer, as a `StepDecoder`."""

    network: Network
    tokenizer: Tokenizer
    at_once: int = _AT_ONCE

    @property
    def end(self) -> int:
        return self.tokenizer.end

    def together(self, programs: Sequence[list[int]]) -> Iterator[list[int]]:
        for start in range(0, len(programs), 16):
            yield list(range(start, min(start + 16, len(programs))))

    def shared(self, program: str) -> list[int]:
        return self.tokenizer.encode(program)

    def tokens(self, program: KnownProgram, prompt: str) -> list[int]:
        return [*program.tokens, *self.tokenizer.encode_prompt(prompt, program.text)]

    def draft(self, prompt: str, guess: str) -> list[int]:
        return self.tokenizer.encode_answer(prompt, guess)

    def answer(self, tokens: list[int], prompt: str, written: list[int]) -> str:
        return self.tokenizer.decode_answer(prompt, written)

    def most(self, start: int, prompt: int, longest: int, *, whole_trace: bool) -> int:
        return max(most_tokens(prompt, longest, whole_trace=whole_trace), prompt + 1)

    def zeros(self, like: Any, *shape: int) -> Any:
        return np.zeros(shape, dtype=like.dtype)

    def run(self, batch: Pass) -> tuple[Numbers, NDArray[np.float32], list[Any], list[Any]]:
        """See `StepDecoder.run`."""
        logs, keys, values = self.logs(batch)
        logs = logs[:, batch.first :]
        return logs.argmax(-1), logs.max(-1), list(keys), list(values)

    def logs(self, batch: Pass) -> tuple[NDArray[np.float32], Sequence[Floats], Sequence[Floats]]:
        """The same as `run`, with the log probabilities of all tokens, [rows, length, vocabulary]."""
        network, shift = self.network, self.network.shift_tokens
        tokens = np.zeros((len(batch.feeds), shift + max(map(len, batch.feeds))), dtype=np.int64)
        for row, (feed, before) in enumerate(zip(batch.feeds, batch.read_before, strict=True)):
            tokens[row, :shift] = _last(before, shift)
            tokens[row, shift : shift + len(feed)] = feed
        nothing = [np.zeros((len(tokens), network.heads, 0, network.head), network.dtype)] * network.layers
        keys, values = batch.keys or nothing, batch.values or nothing
        return network.run(tokens, keys, values, np.array(batch.lengths, dtype=np.int64))


class ModelRows(NetworkRows):
    """`NetworkRows` of a `Network` with its tokenizer."""

    def __init__(
        self, network: Network, tokenizer: Tokenizer, prefixes: Sequence[str], longest: int = 2048
    ) -> None:
        self.tokenizer, self._logs = tokenizer, NetworkDecoder(network, tokenizer).logs
        super().__init__(NetworkDecoder(network, tokenizer), prefixes, longest)
        self.answers_again = isinstance(tokenizer, Edits)

    def logs(self, rows: Sequence[int], feeds: Sequence[list[int]]) -> NDArray[np.float32]:
        """Log probabilities after each token that follows the program of its row, [rows, length,
        vocabulary]."""
        programs = [self.programs[row] for row in rows]
        read_tokens = [program.tokens for program in programs]
        lengths = [len(tokens) for tokens in read_tokens]
        logs, _, _ = self._logs(Pass(feeds, read_tokens, *self.stacked(programs, lengths, max(lengths)), 0))
        return logs

    def log_probabilities(
        self, rows: Sequence[int], texts: Sequence[tuple[str, str]]
    ) -> list[tuple[bool, float]]:
        """Whether greedy decoding gives exactly the answer, and the sum of its log probabilities.

        texts: a (prompt, answer) about the program of each row. All take one pass.
        """
        tokenizer = self.tokenizer
        prompts = [
            tokenizer.encode_prompt(prompt, self.programs[row].text)
            for row, (prompt, _) in zip(rows, texts, strict=True)
        ]
        answers = [[*tokenizer.encode_answer(*text), tokenizer.end] for text in texts]
        feeds = [[*prompt, *answer][:-1] for prompt, answer in zip(prompts, answers, strict=True)]
        logs = self.logs(rows, feeds)
        results = []
        for number, (prompt, answer) in enumerate(zip(prompts, answers, strict=True)):
            mine = logs[number, len(prompt) - 1 : len(prompt) + len(answer) - 1]
            labels = np.array(answer)
            sure = mine[np.arange(len(answer)), labels]
            results.append((bool((mine.argmax(-1) == labels).all()), float(sure.sum())))
        return results

    def exact(self, rows: Sequence[int], texts: Sequence[tuple[str, str]]) -> list[bool]:
        """See `Rows.exact`. All take one pass."""
        return [exact for exact, _ in self.log_probabilities(rows, texts)]


def common(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """The longest common beginning."""
    count = next((n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
    return list(first[: min(len(first), len(second)) if count is None else count])


def alike(feeds: Mapping[int, Sequence[int]], at_once: int) -> Iterator[list[int]]:
    """Groups of rows for one pass each: rows of similar length, so that there is little padding.

    A group has up to `at_once` tokens, with padding, or is a single row.
    """
    group: list[int] = []
    for number in sorted(feeds, key=lambda number: len(feeds[number])):
        if group and (len(group) + 1) * len(feeds[number]) > at_once:
            yield group
            group = []
        group.append(number)
    yield group


def most_tokens(prompt: int, longest: int, *, whole_trace: bool) -> int:
    """The largest number of tokens of a prompt with its answer.

    prompt: tokens of the prompt. whole_trace: it asks for a whole trace, whose length is unknown.
    """
    return longest if whole_trace else min((1 + _LONGER) * prompt + _AT_LEAST, longest)


class Seen:
    """Earlier answers, by the tokens before each place. A program's states are alike."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, ...], tuple[list[int], int]] = {}
        self.answers: dict[str, list[int]] = {}
        """The last answer to each question."""

    def add(self, question: str, written: list[int]) -> None:
        """Remembers an answer. It replaces earlier places with the same tokens before them."""
        if len(self.places) > _SEEN_MOST:
            self.places.clear()
            self.answers.clear()
        self.answers[question] = written
        for end in range(_FIND, len(written)):
            self.places[tuple(written[end - _FIND : end])] = written, end

    def after(self, written: list[int]) -> tuple[list[int], int] | None:
        """An earlier answer that has the last tokens of `written`, and the place after them."""
        return self.places.get(tuple(written[-_FIND:]))


class Writing:
    """An answer that is being written."""

    def __init__(self, prompt: list[int], old: list[int], question: str, earlier: Seen, limit: int) -> None:
        self.pending = prompt
        """Tokens for the next pass of the network, which gives the token after the last of them."""
        self.question = question
        self.old = old
        """The guess at the whole answer."""
        self.earlier = earlier
        self.source, self.at = old, 0
        """The tokens that the guesses come from, and the place of the next guess in them."""
        self.guessed: list[int] = []
        self.written: list[int] = []
        self.ended = False
        self.nll = 0.0
        self.passes = 0
        self.size = len(prompt)
        self.limit = limit

    def guess(self) -> list[int]:
        self.guessed = self.source[self.at : self.at + _GUESS]
        return self.guessed

    def take(self, best: NDArray[np.int64], sure: NDArray[np.float32], end: int) -> int:
        """Continues with the most likely token after the last pending token and after each right guess.

        sure: log probabilities of the tokens in `best`. Returns how many tokens of the pass are kept.
        """
        self.passes += 1
        stay = len(self.pending)
        right = 0
        while True:
            token = int(best[right])
            self.nll -= float(sure[right])
            self.written.append(token)
            if token == end:
                self.ended = True
                self.earlier.add(self.question, self.written)
                break
            if right == len(self.guessed) or token != self.guessed[right]:
                break
            right += 1
        self.pending = self.written[-1:]
        self.size += right + 1
        self.at += right + 1
        if self.source[self.at - 1 : self.at] != self.pending:
            self._find()
        return stay + right

    def _find(self) -> None:
        """Finds the source of the next guesses after a wrong guess.

        That is a place in the state before, or else in an earlier answer, that follows the tokens that were
        written last. Without one, the guesses skip the wrong token.
        """
        last = self.written[-_FIND:]
        if len(last) < _FIND:
            return
        for start in range(len(self.old) - _FIND + 1):
            if self.old[start : start + _FIND] == last:
                self.source, self.at = self.old, start + _FIND
                return
        if place_after := self.earlier.after(last):
            self.source, self.at = place_after


def _last(tokens: Sequence[int], count: int) -> list[int]:
    """The last `count` tokens, filled with -1 at the front."""
    return [*[-1] * (count - len(tokens)), *tokens[len(tokens) - min(count, len(tokens)) :]]
