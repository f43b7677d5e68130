"""Questions about control flow and objects, and what the program that counts by itself says (`counted`)."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from deskcheck.ask import QUESTIONS, Sample
from deskcheck.recording import Mode, Recording
from tests.witness.counted import Counted, Refused, counted

KINDS = ("branch", "iterations", "after_loop", "visit", "coverage", "calls", "alias", "type")


def told(sample: Sample, found: Counted) -> Any:
    """What the witness says of a sample, in the form of its answer."""
    data = sample.data
    place = data.get("line", 0), data.get("k", 0)
    match sample.question:
        case "branch":
            return str(found.branches.get(place))
        case "iterations":
            return str(found.passes[place]) if place[1] <= found.entered[place[0]] else "never entered"
        case "after_loop":
            return found.after.get(place, {}).get(data["variable"])
        case "visit":
            return str(found.then.get(place))
        case "coverage":
            return str(found.runs[place[0]] > 0)
        case "calls":
            return str({pair: n for pair, n in sorted(found.calls.items()) if pair[0] != "<caller>"})
        case "alias":
            names = found.same.get(place, {}).get(data["variable"])
            return (
                names
                if names is None
                else "{" + ", ".join(map(repr, sorted(names))) + "}"
                if names
                else "set()"
            )
        case "type":
            return found.types.get(place, {}).get(data["variable"])
    raise AssertionError(sample.question)


def compare(
    recording: Recording, excluded: Mapping[str, Counter[str]] | None = None, **names: Any
) -> Iterator[tuple[str, bool, str]]:
    """(Kind, whether both say the same, what they say) of every sample that can be asked of a recording."""
    program = recording.program
    samples = [
        sample
        for kind in KINDS
        for sample in QUESTIONS[kind](
            recording, per_recording=10_000, excluded=None if excluded is None else excluded[kind]
        )
    ]
    if not samples:
        return
    call = f"{program.entry}{program.arguments}" if program.mode is Mode.CALL else None
    try:
        found, _ = counted(program.code, call, **names)
    except Refused:
        return
    for sample in samples:
        said = told(sample, found)
        same = said == sample.answer
        if not same and sample.question in ("after_loop", "calls"):
            same = _read(said) == _read(sample.answer)
        yield sample.question, same, f"{sample.id}: {sample.answer!r}, counted {said!r}"


def _read(text: str | None) -> Any:
    try:
        return ast.literal_eval(text or "")
    except (ValueError, SyntaxError):
        return text
