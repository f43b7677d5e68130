"""A model asked for many next states at once: the program of each row is read once and kept, and what is
likely to be the same as before is guessed and checked rather than written token by token.

The guess is the state before, since most of a state stays as it is; of a model that answers in edits, its
last answer at the same line (decoding with a draft from the prompt:
Leviathan et al. 2023, arXiv:2211.17192; Saxena 2023, "prompt lookup decoding"). What comes out is what greedy
decoding gives: a guess counts only where the model's most likely token is the guessed one.

Needs numpy, and a `Network`: of `networks` with torch, or `runtime` with ONNX Runtime.
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
"""Of the network's own precision."""

_GUESS = 24
"""Tokens that are guessed at a time."""
_FIND = 4
"""Tokens that must agree before the guess continues from another place."""
_LONGER, _AT_LEAST = 4, 200
"""A state ends at so many times the length of its prompt, and so many tokens: a model that has lost its way
writes for ever."""
_AT_ONCE = 1024
"""Tokens that the network runs over at a time, filled up ones counted: more are no faster on a processor."""
_ROOM = 64
"""Tokens by which keys and values grow."""
_SEEN_MOST = 200_000
"""Places of earlier answers that are remembered; then it begins anew."""


class Network(Protocol):
    """A causal language model with its keys and values outside of it."""

    layers: int
    heads: int
    head: int
    """Width of a head."""
    dtype: np.dtype[Any]
    """Of keys and values."""
    shift_tokens: int
    """So many tokens before those that it runs over it wants to see, too."""

    def run(
        self, tokens: Numbers, keys: Sequence[Floats], values: Sequence[Floats], lengths: Numbers
    ) -> tuple[NDArray[np.float32], Sequence[Floats], Sequence[Floats]]:
        """tokens: [rows, shift + length], -1 where none stands before; keys, values: a layer each, [rows,
        heads, size, head], of which the first `lengths` [rows] count. Log probabilities of the token after
        each, [rows, length, vocabulary], and the keys and values of these tokens, [rows, heads, length,
        head]. Positions go on from `lengths`."""
        ...


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """The answer of a model. ended: with the token that ends an answer; false: it reached the longest that is
    allowed. tokens: how many there are, and nll: the sum of their negative log probabilities in nats, None
    where nobody tells; passes: how often the network ran for it."""

    text: str
    ended: bool
    tokens: int
    nll: float | None
    passes: int


class Rows:
    """Programs that a model is asked about, one a row. programs: what the model knows of each."""

    programs: list[Any]

    def answers(self, asked: Sequence[tuple[Any, str, str]]) -> list[StepAnswer]:
        """The greedy answers. asked: (what is known of the program, prompt, a guess at the answer)."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.programs)

    def keep(self, rows: Sequence[int]) -> None:
        """Drops all rows but these, which are numbered anew in this order."""
        self.programs = [self.programs[row] for row in rows]

    def add(self, other: "Rows") -> None:
        """Takes the rows of another of its kind in, behind its own."""
        self.programs += other.programs

    def ask(self, asked: Mapping[int, tuple[str, str]]) -> dict[int, StepAnswer]:
        """Greedy answers. asked: row -> (prompt, a guess at the answer)."""
        answers = self.answers([(self.programs[row], *question) for row, question in asked.items()])
        return dict(zip(asked, answers, strict=True))

    def exact(self, rows: Sequence[int], texts: Sequence[tuple[str, str]]) -> list[bool]:
        """Of each (prompt, answer) about the program of its row: whether greedy decoding gives exactly this
        answer. It is offered as the guess: where it is right, that is soon seen."""
        answers = self.answers([(self.programs[row], *text) for row, text in zip(rows, texts, strict=True)])
        return [a.ended and a.text == text for a, (_, text) in zip(answers, texts, strict=True)]


class StepModel(Protocol):
    """A model that programs can be stepped with."""

    def read(self, programs: Sequence[str], longest: int) -> Rows:
        """The texts of programs (`program_text`), ready to be asked about. longest: tokens of a prompt with
        its answer."""

    def refuse_untaught(self, notation: str, jumps: Sequence[int] = ()) -> None:
        """Raise InputError for a notation, or jumps, that the model cannot be asked in."""


class KnownProgram(NamedTuple):
    """A program that a network has read. keys, values: a layer each, [heads, tokens, head]."""

    text: str
    tokens: list[int]
    keys: list[Any]
    values: list[Any]


class Pass(NamedTuple):
    """Tokens of some rows, `feeds`, that a network runs over.

    done: all tokens before them. keys, values: of those, a layer each, [rows, heads, size, head]; empty for
    none. first: the place from which on the next tokens are wanted.
    """

    feeds: Sequence[list[int]]
    done: Sequence[list[int]]
    keys: list[Any]
    values: list[Any]
    first: int

    @property
    def lengths(self) -> list[int]:
        """How many keys and values of each row count."""
        return [len(tokens) for tokens in self.done]


class StepDecoder(Protocol):
    """A network with the tokens that it is asked in. Arrays are numpy's or torch's."""

    @property
    def end(self) -> int:
        """The token that ends an answer."""

    @property
    def at_once(self) -> int:
        """Tokens that the network runs over at a time, filled up ones counted."""

    def together(self, programs: Sequence[list[int]]) -> Iterator[list[int]]:
        """Which programs are read together, by number."""

    def shared(self, program: str) -> list[int]:
        """The tokens that all prompts about a program begin with."""

    def tokens(self, program: KnownProgram, prompt: str) -> list[int]:
        """All tokens before the answer to a prompt, those of the program too."""

    def draft(self, prompt: str, guess: str) -> list[int]:
        """The tokens of a guess at the answer, without the end."""

    def answer(self, tokens: list[int], prompt: str, written: list[int]) -> str:
        """The text of an answer. tokens: all before it."""

    def most(self, start: int, prompt: int, longest: int, *, whole: bool) -> int:
        """The most tokens of a prompt with its answer. start: tokens before it that are read already; prompt:
        its own; whole: it asks for a whole trace."""

    def zeros(self, like: Any, *shape: int) -> Any:
        """An array of the kind of another."""

    def run(self, some: Pass) -> tuple[Numbers, NDArray[np.float32], list[Any], list[Any]]:
        """The most likely next tokens from `Pass.first` on and their log probabilities, [rows, places]; then
        keys and values of all tokens."""


class NetworkRows(Rows):
    """Programs that a network has read, one a row, and can be asked about again and again.

    longest: tokens of a prompt with its answer; a state that gets much longer than its prompt ends earlier.
    """

    programs: list[KnownProgram]
    answers_again = False
    """Whether the last answer to the same question is a better guess than the state before."""

    def __init__(self, decoder: StepDecoder, programs: Sequence[str], longest: int = 2048) -> None:
        self.decoder = decoder
        self.longest = longest
        self.seen = Seen()
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

    def answers(self, asked: Sequence[tuple[KnownProgram, str, str]]) -> list[StepAnswer]:
        """As `Rows.answers`."""
        decoder = self.decoder
        tokens = [decoder.tokens(program, prompt) for program, prompt, _ in asked]
        # The last token of a prompt is run over in any case: the answer begins behind it.
        starts = [
            min(len(common(program.tokens, all_)), len(all_) - 1)
            for (program, _, _), all_ in zip(asked, tokens, strict=True)
        ]
        writing = [
            self._begun(all_[start:], start, prompt, guess)
            for (_, prompt, guess), all_, start in zip(asked, tokens, starts, strict=True)
        ]
        if asked:
            read_tokens = [all_[:start] for all_, start in zip(tokens, starts, strict=True)]
            self._write(writing, [program for program, _, _ in asked], read_tokens)
        return [
            StepAnswer(
                decoder.answer(all_, prompt, writing_row.written),
                writing_row.ended,
                len(writing_row.written),
                writing_row.nll,
                writing_row.passes,
            )
            for writing_row, all_, (_, prompt, _) in zip(writing, tokens, asked, strict=True)
        ]

    def _begun(self, pending: list[int], start: int, prompt: str, guess: str) -> "Writing":
        state = asked_state(prompt)
        question = prompt.removeprefix(state or "")
        draft = self.seen.answers.get(question) if self.answers_again else None
        if draft is None:
            draft = [*self.decoder.draft(prompt, guess), self.decoder.end]
        limit = self.decoder.most(start, len(pending), self.longest, whole=state is None)
        return Writing(pending, draft, question, self.seen, limit)

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
        self, writing: Sequence["Writing"], programs: Sequence[KnownProgram], done: list[list[int]]
    ) -> None:
        """All answers, to their ends. done: the tokens before each that are read."""
        room = max(len(row) + len(one.pending) for row, one in zip(done, writing, strict=True)) + _ROOM
        cache = self.stacked(programs, [len(row) for row in done], room)
        active = [number for number, one in enumerate(writing) if one.size < one.most]
        while active:
            feeds = {number: [*writing[number].pending, *writing[number].guess()] for number in active}
            for numbers in alike(feeds, self.decoder.at_once):
                cache = self._passed(numbers, writing, feeds, done, cache)
            active = [n for n in active if not writing[n].ended and writing[n].size < writing[n].most]

    def _passed(
        self,
        numbers: list[int],
        writing: Sequence["Writing"],
        feeds: Mapping[int, list[int]],
        done: list[list[int]],
        cache: tuple[list[Any], list[Any]],
    ) -> tuple[list[Any], list[Any]]:
        """All keys and values after one pass over some rows, which continues their answers."""
        lengths = [len(done[number]) for number in numbers]
        size, first = max(lengths), min(len(writing[number].pending) for number in numbers) - 1
        best, sure, *new = self.decoder.run(
            Pass(
                [feeds[number] for number in numbers],
                [done[number] for number in numbers],
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
            done[number] = [*done[number], *feed[:count]]
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

    def most(self, start: int, prompt: int, longest: int, *, whole: bool) -> int:
        return max(most_tokens(prompt, longest, whole=whole), prompt + 1)

    def zeros(self, like: Any, *shape: int) -> Any:
        return np.zeros(shape, dtype=like.dtype)

    def run(self, some: Pass) -> tuple[Numbers, NDArray[np.float32], list[Any], list[Any]]:
        """As `StepDecoder.run`."""
        logs, keys, values = self.logs(some)
        logs = logs[:, some.first :]
        return logs.argmax(-1), logs.max(-1), list(keys), list(values)

    def logs(self, some: Pass) -> tuple[NDArray[np.float32], Sequence[Floats], Sequence[Floats]]:
        """As `run`, with the log probabilities of all tokens, [rows, length, vocabulary]."""
        network, shift = self.network, self.network.shift_tokens
        tokens = np.zeros((len(some.feeds), shift + max(map(len, some.feeds))), dtype=np.int64)
        for row, (feed, before) in enumerate(zip(some.feeds, some.done, strict=True)):
            tokens[row, :shift] = _last(before, shift)
            tokens[row, shift : shift + len(feed)] = feed
        nothing = [np.zeros((len(tokens), network.heads, 0, network.head), network.dtype)] * network.layers
        keys, values = some.keys or nothing, some.values or nothing
        return network.run(tokens, keys, values, np.array(some.lengths, dtype=np.int64))


class ModelRows(NetworkRows):
    """`NetworkRows` of a `Network` with its tokenizer."""

    def __init__(
        self, network: Network, tokenizer: Tokenizer, prefixes: Sequence[str], longest: int = 2048
    ) -> None:
        self.tokenizer, self._logs = tokenizer, NetworkDecoder(network, tokenizer).logs
        super().__init__(NetworkDecoder(network, tokenizer), prefixes, longest)
        self.answers_again = isinstance(tokenizer, Edits)

    def logs(self, rows: Sequence[int], feeds: Sequence[list[int]]) -> NDArray[np.float32]:
        """Log probabilities after each token that stands behind the programs of rows, [rows, length,
        vocabulary]."""
        programs = [self.programs[row] for row in rows]
        done = [program.tokens for program in programs]
        lengths = [len(tokens) for tokens in done]
        logs, _, _ = self._logs(Pass(feeds, done, *self.stacked(programs, lengths, max(lengths)), 0))
        return logs

    def log_probabilities(
        self, rows: Sequence[int], texts: Sequence[tuple[str, str]]
    ) -> list[tuple[bool, float]]:
        """Of each (prompt, answer) about the program of its row: whether greedy decoding would give exactly
        this answer, and the sum of its tokens' log probabilities. One pass over all."""
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
        """As `Rows.exact`, in one pass over all."""
        return [exact for exact, _ in self.log_probabilities(rows, texts)]


def common(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """What both begin with."""
    count = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    return list(one[: min(len(one), len(other)) if count is None else count])


def alike(feeds: Mapping[int, Sequence[int]], at_once: int) -> Iterator[list[int]]:
    """Rows that are run over together: those whose tokens are about as many, so that little is filled up; so
    many tokens at a time, filled up ones counted, or one row."""
    group: list[int] = []
    for number in sorted(feeds, key=lambda number: len(feeds[number])):
        if group and (len(group) + 1) * len(feeds[number]) > at_once:
            yield group
            group = []
        group.append(number)
    yield group


def most_tokens(prompt: int, longest: int, *, whole: bool) -> int:
    """The most tokens of a prompt with its answer. prompt: its own; whole: it asks for a whole trace, whose
    length is unknown."""
    return longest if whole else min((1 + _LONGER) * prompt + _AT_LEAST, longest)


class Seen:
    """Earlier answers, by the tokens before each place: states of a program resemble one another."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, ...], tuple[list[int], int]] = {}
        self.answers: dict[str, list[int]] = {}
        """By what was asked of a state."""

    def add(self, question: str, written: list[int]) -> None:
        """Remembers an answer; of equal places the latest counts."""
        if len(self.places) > _SEEN_MOST:
            self.places.clear()
            self.answers.clear()
        self.answers[question] = written
        for at in range(_FIND, len(written)):
            self.places[tuple(written[at - _FIND : at])] = written, at

    def after(self, written: list[int]) -> tuple[list[int], int] | None:
        """Tokens, and from where they went on after what this ends with."""
        return self.places.get(tuple(written[-_FIND:]))


class Writing:
    """One answer while it is written. pending: tokens that the network has not run over yet; the last of them
    is the one whose successor is wanted. old: the guess that was given; source, at: what is guessed from, and
    how far it has been used."""

    def __init__(self, prompt: list[int], old: list[int], question: str, seen: Seen, most: int) -> None:
        self.pending = prompt
        self.question = question
        self.old = old
        self.seen = seen
        self.source, self.at = old, 0
        self.guessed: list[int] = []
        self.written: list[int] = []
        self.ended = False
        self.nll = 0.0
        self.passes = 0
        self.size = len(prompt)
        self.most = most

    def guess(self) -> list[int]:
        self.guessed = self.source[self.at : self.at + _GUESS]
        return self.guessed

    def take(self, best: NDArray[np.int64], sure: NDArray[np.float32], end: int) -> int:
        """Goes on with what the network found most likely after the last pending token and after each guessed
        one. sure: the log probability of each. How many of the tokens that it ran over stay."""
        self.passes += 1
        stay = len(self.pending)
        right = 0
        while True:
            token = int(best[right])
            self.nll -= float(sure[right])
            self.written.append(token)
            if token == end:
                self.ended = True
                self.seen.add(self.question, self.written)
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
        """Where the guess goes on after a token that was not guessed: where the state before has what was
        written last, or an earlier answer, else behind the token in whose place it stands."""
        last = self.written[-_FIND:]
        if len(last) < _FIND:
            return
        for at in range(len(self.old) - _FIND + 1):
            if self.old[at : at + _FIND] == last:
                self.source, self.at = self.old, at + _FIND
                return
        if place_after := self.seen.after(last):
            self.source, self.at = place_after


def _last(tokens: Sequence[int], count: int) -> list[int]:
    """The last of some tokens; -1 before the first."""
    return [*[-1] * (count - len(tokens)), *tokens[len(tokens) - min(count, len(tokens)) :]]
