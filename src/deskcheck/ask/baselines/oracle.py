"""The models that know more than the prompt.

``deskcheck/oracle`` gives the recorded answer. It checks the scoring: a score other than 1 is a defect of
deskcheck. It does not check the recording.
``deskcheck/copy`` answers questions about notebooks with what the same cell showed when it was last executed,
and with the cell's last version. It measures how much of a score copying gets. It knows which cell is next,
which no prompt says.

``deskcheck/erring`` is the oracle with faults: a given share of its answers, or of the states of a run, is
wrong, drawn by a seed. The accuracy that is reported of it must be the one that it was given.

They know the answers from this process: the code that makes the samples of a task passes each to `remember`,
and the runs to predict to `remember_truth`.
"""

import random
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.methods.ground_truth import GroundTruth
from deskcheck.ask.methods.solvers import THINK, completion_of
from deskcheck.ask.samples.sample import Sample
from deskcheck.fences import fenced
from deskcheck.notation import NOTATIONS, Moment, state_text
from deskcheck.notation.forms.explained import EXPLAINED
from deskcheck.notation.forms.explained_steps import explained_step
from deskcheck.notation.layout import asked_state, trace_prompt
from deskcheck.recording import Kind

_answers: dict[str, tuple[str, str, str | None]] = {}
"""Prompt -> the form of the answer, the answer, and the text that can be copied from the same cell."""
_NOT_TOLD = "I was not told."


def remember(samples: Iterable[Sample]) -> None:
    """Tell the oracle the answers. Samples with one prompt have answers that are equally right."""
    _answers.update(
        (sample.prompt, (sample.data["form"], sample.answer, sample.data.get("copy"))) for sample in samples
    )


def forget(samples: Iterable[Sample]) -> None:
    """Free what was remembered."""
    for sample in samples:
        _answers.pop(sample.prompt, None)


def completion(prompt: str) -> str:
    """The oracle's completion; without an answer if the prompt was not passed to `remember`."""
    run = _run_in(prompt)
    if run is not None:
        return completion_of(prompt, "step", run.write(run.states))
    form, answer, _ = _answers.get(prompt.removesuffix(THINK), ("", None, None))
    return _NOT_TOLD if answer is None else completion_of(prompt, form, answer)


def copied(prompt: str) -> str:
    """The output or the source of the same cell when it was executed before; empty if it never was."""
    _, _, copy = _answers.get(prompt, ("", "", None))
    return "I have nothing to copy." if copy is None else f"{OPEN}{copy}{CLOSE}"


# -- runs ----------------------------------------------------------------------------------------

_truths: dict[str, list[GroundTruth]] = {}
"""The text of a program in prompts -> its runs."""
_following: dict[str, dict[str, tuple[list[Moment], int]]] = {}
"""The same -> state -> the run of this state, and its number in it. Made when a state is first asked for."""


def remember_truth(truth: GroundTruth) -> None:
    """Tell the oracle of a run."""
    truths = _truths.setdefault(truth.text, [])
    if not any(truth is remembered for remembered in truths):
        truths.append(truth)
        _following.pop(truth.text, None)


def forget_truth(truth: GroundTruth) -> None:
    """Free what was remembered of the runs of this program."""
    _truths.pop(truth.text, None)
    _following.pop(truth.text, None)


class _RunAnswer(NamedTuple):
    """The true states that a prompt about a run asks for, and their notation."""

    notation: str
    states: list[Moment]

    def write(self, states: list[Moment]) -> str:
        return NOTATIONS[self.notation].write(iter(states), "")


def _bare(prompt: str) -> str:
    """A prompt about a run without the explanation of the notation."""
    for instructions in (False, True):
        words = explained_step("dynamic", instructions=instructions, back=False)
        if prompt.startswith(words):
            prompt = prompt.removeprefix(words)
            return prompt.partition("\n\n")[2] if instructions else prompt  # after the version of Python
    for explained in EXPLAINED.values():
        prompt = prompt.removeprefix(explained)
    return prompt


def _run_in(prompt: str) -> _RunAnswer | None:
    prompt = _bare(prompt)
    program, empty, question = prompt.partition("\n\n")
    program += empty
    truths = _truths.get(program)
    if truths is None:
        return None
    for truth in truths:
        for notation in EXPLAINED:
            if question == trace_prompt(truth.program, notation):
                return _RunAnswer(notation, list(truth.states()))
    state = asked_state(question)
    if state is None:
        return None
    if program not in _following:
        _following[program] = {text: place for truth in truths for text, place in _places(truth)}
    run, number = _following[program].get(state, ([], 0))
    number += int(question.rstrip("\n").rpartition("\n")[2])
    return _RunAnswer("dynamic", [run[number]]) if 0 <= number < len(run) else None


def _places(truth: GroundTruth) -> Iterable[tuple[str, tuple[list[Moment], int]]]:
    """Each state of a run as text, with the run and the number of the state in it."""
    by_instruction = truth.recording.environment.granularity == "instruction"
    for instructions in (False, True) if by_instruction else (False,):
        run = list(truth.states(instructions=instructions))
        for number, moment in enumerate(run):
            yield state_text(moment), (run, number)


def erring(prompt: str, *, rate: float, seed: int) -> str:
    """The oracle's completion with faults: of a state or an event, and of any other answer, with the chance
    `rate`. A fault in a run is another value, another line, or a line that cannot be read, in equal shares
    where the event has a variable and is a line's."""
    rng = random.Random(f"{seed}:{_bare(prompt)}")
    run = _run_in(prompt)
    if run is None:
        answer = completion(prompt)
        return f"{OPEN}wrong{CLOSE}" if answer != _NOT_TOLD and rng.random() < rate else answer
    states = list(run.states)
    garbled: list[int] = []
    for number, moment in enumerate(states):
        if rng.random() < rate:
            wrong = _wrong(moment, rng)
            if wrong is None:
                garbled.append(number)
            else:
                states[number] = wrong
    text = run.write(states)
    if garbled:
        lines = text.split("\n")
        ends = NOTATIONS[run.notation].parse(text).lines
        for number in garbled:
            lines[ends[number] - 1] += " ]"
        text = "\n".join(lines)
    return fenced(text)


_ODD = 987_654_321
"""A value that no program has."""


def _wrong(moment: Moment, rng: random.Random) -> Moment | None:
    """The moment with a fault; None: its text is to be garbled."""
    frame = moment.running
    names = sorted(frame.locals)
    ways = ["garbled", *(["line"] if moment.kind is Kind.LINE else []), *(["value"] if names else [])]
    match rng.choice(ways):
        case "line":
            wrong = replace(frame, line=frame.line + 1)
        case "value":
            wrong = replace(frame, locals={**frame.locals, rng.choice(names): _ODD})
        case _:
            return None
    return replace(moment, frames=(*moment.frames[:-1], wrong))
