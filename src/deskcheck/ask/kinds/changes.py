"""The changes that a call makes in its arguments, so that calls that return nothing have an answer, too.

The prompt shows receiver and arguments before the call; the answer has the values that differ when it
returns. Not covered: objects in other objects, and changes outside of the arguments.
"""

import random
from collections.abc import Iterator
from dataclasses import replace

from deskcheck.ask.kinds.returned import ends
from deskcheck.ask.samples.guessing import guesses
from deskcheck.ask.samples.kind import ANSWER_CHARS, kind, sample_of
from deskcheck.ask.samples.places import (
    Unfit,
    call_source,
    check_all_recorded,
    check_arguments,
    files_of,
    plain,
)
from deskcheck.ask.samples.sample import Sample
from deskcheck.notation.calls import begun_by
from deskcheck.recording import Mode, Recording, Value, render

_CONTAINERS = frozenset({"list", "dict", "set", "bytearray"})


@kind("changes", "how does the call change its arguments?")
def changes(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    if recording.program.mode is not Mode.CALL:
        raise Unfit("it is not a call")
    if begun_by(recording.program, call_source(recording)):
        raise Unfit("the call only begins a generator or coroutine")
    check_arguments(recording.program, "literal", "shown")
    check_all_recorded(recording)
    called, returned = ends(recording)
    changed: dict[str, str] = {}
    for name, value in called.locals.items():
        if value.id is None or value.kind not in (*_CONTAINERS, "object"):
            continue
        after = returned.locals.get(name)
        if after is None or after.id != value.id:
            raise Unfit("a parameter is rebound")
        changed |= _changed(name, value, after)
    if not changed:
        raise Unfit("it does not change its arguments")
    answer = "{" + ", ".join(f"{what!r}: {text}" for what, text in sorted(changed.items())) + "}"
    if len(answer) > ANSWER_CHARS:
        raise Unfit("the answer is too long")
    question = "Changed: what the arguments hold when the call returns, as far as that is another value"
    yield sample_of(recording, "changes", files_of(recording), question, answer)


@guesses("changes")
def _guessed_changes(prompt: str) -> str:
    return "{}"


def _changed(name: str, before: Value, after: Value) -> dict[str, str]:
    """Name of something that has changed -> its new value, as text."""
    if before.kind in _CONTAINERS:
        return _other(name, before, after)
    if render(replace(before, fields=())) != render(replace(after, fields=())):
        raise Unfit("its change is not plain data")
    fields, changed = dict(before.fields), dict[str, str]()
    if not fields.keys() <= dict(after.fields).keys():
        raise Unfit("an attribute is deleted")
    for attribute, value in after.fields:
        changed |= _other(f"{name}.{attribute}", fields.get(attribute), value)
    return changed


def _other(what: str, before: Value | None, after: Value) -> dict[str, str]:
    text = render(after)
    if before is not None and render(before) == text:
        return {}
    if not plain(after):
        raise Unfit("its change is not plain data")
    return {what: text}
