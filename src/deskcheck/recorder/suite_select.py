"""Chooses among the recorded calls of a project's tests."""

import functools
import hashlib
import os
import stat
from collections.abc import Container, Iterable
from itertools import chain, zip_longest

from deskcheck.recording import Kind, Outcome
from deskcheck.recording.block import rows
from deskcheck.sandbox.observed.suite import Observed, RecordedCall
from deskcheck.sources.sets.files import short_id

_FORMS = ("literal", "shown", "in part")
"""Forms of a call's arguments. About the first form most can be asked."""
_SOURCE_BYTES = 16 << 20


def choose(
    observed: Observed, calls: int, per_function: int, excluded_tests: Container[str] = ()
) -> list[RecordedCall]:
    """Choose up to `calls` of the recorded calls. The result is in the order in which they happened.

    Every function gets its first call before any gets its second. Among the calls of a function, each path
    through the code comes once before any comes twice. Of the calls with one path, those come first that
    return and whose arguments can be written or shown. Calls that run code without source are moved from
    `observed.calls` to `observed.left_out`.
    """
    by_function: dict[tuple[str, str, int], dict[str, list[RecordedCall]]] = {}
    ids: set[str] = set()
    without_source = []
    for number, call in observed.calls.items():
        recording_id = call_id(call)
        if recording_id in ids or call.facts["test"] in excluded_tests:
            continue
        ids.add(recording_id)
        path = _path_digest(observed, call)
        if path is None:
            without_source.append(number)
        else:
            by_function.setdefault(call.key[1:4], {}).setdefault(path, []).append(call)
    for number in without_source:
        del observed.calls[number]
        observed.left_out["in a module whose source cannot be read"] += 1
    queues = [_best_first(paths.values())[:per_function] for paths in by_function.values()]
    return sorted(_in_turn(queues)[:calls], key=lambda call: call.position)


def call_id(call: RecordedCall) -> str:
    """The id of the recording of a call."""
    facts = call.facts
    return short_id(f"{facts['module']}.{facts['function']}{facts['arguments']}")


def _best_first(paths: Iterable[list[RecordedCall]]) -> list[RecordedCall]:
    """The calls of a function, one of each path before a second one of any."""
    ranked = [sorted(calls, key=_rank) for calls in paths]
    return _in_turn(sorted(ranked, key=lambda calls: _rank(calls[0])))


def _rank(call: RecordedCall) -> tuple[bool, int]:
    """Sort key: lower for calls about which more can be asked."""
    return call.facts["outcome"] != Outcome.RETURNED, _FORMS.index(call.facts["form"])


def _in_turn(lists: Iterable[list[RecordedCall]]) -> list[RecordedCall]:
    """The first item of each list, then the second of each, and so on."""
    return [call for calls in zip_longest(*lists) for call in calls if call is not None]


def _path_digest(observed: Observed, call: RecordedCall) -> str | None:
    """Digest of the lines that a call ran, in order; None if one of its files has no source."""
    digest = hashlib.blake2b(digest_size=16)
    files = {*call.facts["needs"]}
    for row in chain.from_iterable(map(rows, observed.blocks_of(call))):
        files.add(row.file)
        if row.kind == Kind.LINE:
            digest.update(f"{row.file}:{row.line};".encode("utf-8", "surrogatepass"))
    sources = (
        file in observed.modules and source_of(observed.modules[file][1]) is not None for file in files
    )
    return digest.hexdigest() if all(sources) else None


@functools.cache
def source_of(file: str) -> str | None:
    """The text of a module at the path that the tests report, or None."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with open(descriptor, encoding="utf-8", errors="replace") as stream:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > _SOURCE_BYTES:
                return None
            return stream.read(_SOURCE_BYTES)
    except OSError:
        return None
