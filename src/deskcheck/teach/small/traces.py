"""Runs programs in a model that writes whole traces: `scratchpad` and `compact`.

As with states, the first state is not judged: what follows it is. So the figures can be compared with those
of `stepper`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise

from deskcheck.ask.methods.solvers import Predicted, read_trace
from deskcheck.notation import Moment, state_text
from deskcheck.notation.divergence import RunAgreement, Stop, compare_runs
from deskcheck.notation.forms.scratchpad import compact_lines, scratchpad_lines
from deskcheck.notation.layout import program_text, trace_prompt
from deskcheck.recording import InputError, Recording
from deskcheck.teach.small.interpreter import NetworkRows, Pass, StepModel, common
from deskcheck.teach.small.stepper import SteppedRun, start_of, true_states

TRACES: Mapping[str, Callable[[Iterable[Moment]], Iterator[str]]] = {
    "scratchpad": scratchpad_lines,
    "compact": compact_lines,
}
"""Notations of whole traces -> the lines of a trace."""
_MORE_TOKENS, _AS_LONG = 200, 1.25
"""Tokens that an answer may have: as many times the true trace's, and some more. Longer ones are wrong."""


def written_runs(
    model: StepModel, recordings: Sequence[Recording], notation: str, *, rows: int
) -> Iterator[tuple[int, SteppedRun, RunAgreement]]:
    """The model's trace of each recording, in one answer: its number, its states, and how they agree.

    Runs of similar length are asked for together, `rows` at a time.
    """
    parts = [_parts(recording, notation) for recording in recordings]
    order = sorted(range(len(recordings)), key=lambda number: sum(map(len, parts[number])))
    for first in range(0, len(order), rows):
        numbers = order[first : first + rows]
        texts = [program_text(recordings[number].program) for number in numbers]
        # A token is at least a byte of text; digits and names are not longer than their text.
        longest = max(len("".join(parts[number]).encode("utf-8", "replace")) for number in numbers)
        read = model.read(texts, int(longest * _AS_LONG) + _MORE_TOKENS)
        prompts = {row: (trace_prompt(recordings[n].program, notation), "") for row, n in enumerate(numbers)}
        for row, answer in read.ask(prompts).items():
            number = numbers[row]
            predicted = read_trace(answer.text, notation, truncated=not answer.ended)
            yield (number, *_judged(recordings[number], predicted, answer.nll))


def _judged(recording: Recording, predicted: Predicted, nll: float | None) -> tuple[SteppedRun, RunAgreement]:
    start = start_of(recording)
    true = true_states(recording)
    states, stop, stop_reason = predicted.states, predicted.stop, predicted.why
    next(true)
    if not states or state_text(states[0]) != start.state:
        states, stop, stop_reason = states[:1], Stop.UNREADABLE, stop_reason or "the first state is another"
    later = states[1:]
    run = SteppedRun(
        start=start,
        states=(start.state, *map(state_text, later)),
        jumps=(1,) * len(later),
        nll=(nll, *[None] * (len(later) - 1)) if later else (),
        stop=stop,
        why=stop_reason or None,
    )
    return run, compare_runs(later, true, stop)


def exact_events(
    model: StepModel, recording: Recording, notation: str, *, limit: int | None = None
) -> Iterator[bool]:
    """For each event of a run after the first, after the true text of all before it: whether the model's most
    likely tokens are those of the event's text. The last event includes the end of the answer.

    limit: number of events.

    Raises InputError for a model that does not report the likelihood of a text, and where a token belongs to
    two events.
    """
    parts = _parts(recording, notation)
    is_complete = limit is None or limit >= len(parts) - 1
    parts = parts if limit is None else parts[: limit + 1]
    rows = model.read([program_text(recording.program)], 1)
    if not isinstance(rows, NetworkRows):
        raise InputError(
            f"{notation}: single steps need a model that runs here, because a server does not say how likely "
            "a text is. Leave --each out."
        )
    decoder, (program,) = rows.decoder, rows.programs
    prompt_text = trace_prompt(recording.program, notation)
    prompt = decoder.tokens(program, prompt_text)
    tokens = decoder.draft(prompt_text, "".join(parts))
    ends = [0]
    for part in parts:
        ends.append(ends[-1] + len(decoder.draft(prompt_text, part)))
    if ends[-1] != len(tokens):
        raise InputError(
            f"{recording.id}: a token belongs to two events, so that these cannot be judged apart."
        )
    start = min(len(common(program.tokens, prompt)), len(prompt) - 1)
    cache = rows.stacked([program], [start], start)
    first_pass = Pass([[*prompt[start:], *tokens]], [prompt[:start]], *cache, len(prompt) - start - 1)
    best = decoder.run(first_pass)[0][0].tolist()
    right = [a == b for a, b in zip(best, [*tokens, decoder.end], strict=True)]
    if not is_complete:
        right.pop()
    else:
        ends[-1] += 1
    for begin, end in islice(pairwise(ends), 1, None):
        yield all(right[begin:end])


def _parts(recording: Recording, notation: str) -> list[str]:
    """The text of a trace, event by event; each but the last ends with a line end."""
    begun = 0

    def counted() -> Iterator[Moment]:
        nonlocal begun
        for moment in true_states(recording):
            begun += 1
            yield moment

    lines: list[list[str]] = []
    for line in TRACES[notation](counted()):
        lines += [[] for _ in range(begun - len(lines))]
        lines[begun - 1].append(line)
    parts = ["".join([f"{line}\n" for line in part]) for part in lines]
    return [*parts[:-1], parts[-1].removesuffix("\n")]
