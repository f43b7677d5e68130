"""What an event says, it says for ever: kept, copied, sent elsewhere, read in any order, by several at once."""

import copy
import gc
import itertools
import json
import operator
import pickle
import random
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deskcheck
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Event, Kind, Mode, Program, Recording, Row, State, Trace, Value
from deskcheck.recording.reader import Recordings
from deskcheck.recording.trace import CHECKPOINT_EVENTS, fingerprint
from deskcheck.recording.writer import Writer
from tests.sample import examples


def grow(n: int) -> list[int]:
    found: list[int] = []
    for i in range(n):
        found.append(twice(i))
    return found


def twice(x: int) -> int:
    y = x + x
    return y


def again_and_again(n: int) -> list[int]:
    last: list[int] = []
    for i in range(n):
        last = [twice(i), *last[:3]]
    return last


@pytest.fixture(scope="module")
def recording() -> Recording:
    return deskcheck.trace(grow, 6)


def said(event: Event) -> tuple[Any, ...]:
    """All that an event says."""
    return (
        event.row,
        list(event.locals.items()),
        list(event.globals.items()),
        event.stack,
        event.value,
        fingerprint(event.state),
    )


def at_once(trace: Trace) -> list[tuple[Any, ...]]:
    """What the events say while they are iterated."""
    return [said(event) for event in trace]


# ---------------------------------------------------------------------------------------------------
# What everybody types first
# ---------------------------------------------------------------------------------------------------


def test_a_list_of_events_has_the_state_of_each(recording: Recording) -> None:
    """The values in a list of events are those that the program itself had there, one after the other."""
    looped = [
        e for e in list(recording.trace) if e.function == "grow" and e.kind is Kind.LINE and "i" in e.locals
    ]
    appended = [e for e in looped if e.line == looped[0].line]
    assert [(e.locals["i"].atom, repr(e.locals["found"])) for e in appended] == [
        (i, repr([2 * k for k in range(i)])) for i in range(6)
    ]
    assert [said(event) for event in list(recording.trace)] == at_once(recording.trace)


def test_indices_and_slices_are_those_of_a_list(recording: Recording) -> None:
    """An index or a slice gives what it gives of a list of all events."""
    trace, told = recording.trace, at_once(recording.trace)
    for cut in (
        slice(None),
        slice(1, None),
        slice(-3, None),
        slice(None, None, -1),
        slice(2, 9, 3),
        slice(9, 2),
    ):
        assert [said(event) for event in trace[cut]] == told[cut], cut
    for index in (0, 3, -1, -len(trace)):
        assert said(trace[index]) == told[index]
    for index in (len(trace), -len(trace) - 1):
        with pytest.raises(IndexError, match=f"the trace has {len(trace)} events; there is none at {index}"):
            trace[index]
    assert [said(event) for event in reversed(trace)] == told[::-1]


def test_two_iterators_at_once(recording: Recording) -> None:
    """Iterators do not know of each other, nor of who asks by index while they run."""
    told = at_once(recording.trace)
    slow, fast = iter(recording.trace), iter(recording.trace)
    kept = []
    for index, event in enumerate(slow):
        ahead = [*itertools.islice(fast, 2)]
        kept += [event, *ahead]
        assert said(recording.trace[-1 - index]) == told[-1 - index]
        assert said(event) == told[index]
    assert all(said(event) == told[event.index] for event in kept)


# ---------------------------------------------------------------------------------------------------
# Somewhere else, some time later
# ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda event: pickle.loads(pickle.dumps(event))])
def test_copied_and_pickled_events(recording: Recording, again: Any) -> None:
    """A copy says the same, whether its event came by iterating or by index, without the recording."""
    told = at_once(recording.trace)
    assert [said(again(event)) for event in list(recording.trace)] == told
    assert [said(again(event)) for event in recording.trace[:]] == told


def test_an_event_outlives_its_recording() -> None:
    """An event that is kept keeps no more of the recording than it needs, and loses nothing by its end."""
    recording = deskcheck.trace(grow, 4)
    told = at_once(recording.trace)
    iterated, indexed = list(recording.trace), recording.trace[:]
    gone = weakref.ref(recording.trace)
    del recording
    gc.collect()
    assert [said(event) for event in iterated] == told
    assert [said(event) for event in indexed] == told
    gc.collect()
    assert gone() is None


def test_events_of_a_file(tmp_path: Path) -> None:
    """So are events of a recording that is read from a file, also when the file is gone meanwhile."""
    made = deskcheck.trace(again_and_again, 600)
    told = {event.index: said(event) for event in made.trace if event.index % 61 == 0}
    with Writer(tmp_path / "runs") as writer:
        spool = writer.begin(made.program)
        for row in made.trace.rows:
            spool.write(json.dumps(row))
        spool.finish(made.run_result, made.environment)
    trace = Recordings(tmp_path / "runs")[made.id].trace
    assert len(trace) > 3 * CHECKPOINT_EVENTS
    kept = list(trace)
    for index in random.Random(1).sample(sorted(told), len(told)):
        assert said(trace[index]) == told[index]
    for path in (tmp_path / "runs").glob("*.parquet"):
        path.unlink()
    assert {index: said(kept[index]) for index in told} == told


def test_a_list_of_rows_that_is_changed_later(recording: Recording) -> None:
    """A trace that was made of a list of rows does not notice what becomes of the list."""
    rows = list(recording.trace.rows)
    trace = Trace(rows)
    late = trace[-1]
    rows.clear()
    assert said(late) == at_once(recording.trace)[-1]


def test_threads() -> None:
    """One thread iterates, others read what it hands over, and ask by index."""
    trace = deskcheck.trace(again_and_again, 60).trace
    told = at_once(trace)
    trace = Trace(trace.rows)
    handed: SimpleQueue[Event | None] = SimpleQueue()

    def iterate() -> None:
        for event in trace:
            handed.put(event)
        for _ in range(3):
            handed.put(None)

    def read() -> list[tuple[int, bool]]:
        return [(e.index, said(e) == told[e.index]) for e in iter(handed.get, None)]

    def ask(seed: int) -> list[bool]:
        rng = random.Random(seed)
        return [said(trace[i]) == told[i] for i in (rng.randrange(len(trace)) for _ in range(20))]

    with ThreadPoolExecutor(8) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        askers = [pool.submit(ask, seed) for seed in range(4)]
        iterating = pool.submit(iterate)
        iterating.result()
        found = [pair for reader in readers for pair in reader.result()]
        assert sorted(found) == [(i, True) for i in range(len(trace))]
        assert all(all(asker.result()) for asker in askers)


# ---------------------------------------------------------------------------------------------------
# The result
# ---------------------------------------------------------------------------------------------------


POINTS = """
class Point:
    def __init__(self, x, follows=None):
        self.x = x
        self.follows = follows

def last_of(n):
    other = Point(n)
    for i in range(n):
        other = Point(i, other)
    return other

def other_than(function):
    exec("def called(n): return (function(n), Point(n, '#7'))[1]", globals() | {"function": function}, found := {})
    return found["called"]

other = other_than(last_of)
"""


def test_the_result_has_the_numbers_of_the_trace(tmp_path: Path) -> None:
    """What a call returned is named as the events name it; what the trace does not tell keeps its numbers."""
    made = [
        Program(id=entry, code=POINTS, mode=Mode.CALL, entry=entry, arguments="(3,)")
        for entry in ("last_of", "other")
    ]
    record_programs(made, tmp_path, RecordSettings(repeat=False))
    recordings = Recordings(tmp_path)
    one, other = recordings["last_of"], recordings["other"]
    assert (one.run_result.result or "").startswith("Point#1(x=2, follows=Point#2(x=1, ")
    assert one.result == repr(one.trace[-1].value) == repr(one.trace[-1].locals["other"])
    assert one.result != one.run_result.result
    assert other.trace[-1].value is not None
    assert other.result == other.run_result.result == "Point#1(x=3, follows='#7')"
    assert deskcheck.trace(grow, 2).result == "[0, 2]"


# ---------------------------------------------------------------------------------------------------
# Whoever changes what was handed out
# ---------------------------------------------------------------------------------------------------


def test_what_a_reader_changes_is_the_readers_own(recording: Recording) -> None:
    """Whatever is done to what an event gave out, nobody else sees it."""
    told = at_once(recording.trace)
    for events in (list(recording.trace), recording.trace[:]):
        for event in events:
            event.locals.clear()
            event.globals.clear()
            event.stack.append(Value("atom", "int", atom=3))
            event.left_out["deep"] = 3
            for content in event.state.objects.values():
                content["kind"] = "changed"
                content.setdefault("items", []).append(17)
            for frame in event.state.frames.values():
                names: Any = frame.locals
                names["new"] = {"int": "9"}
        assert [said(event) for event in events] == told
    assert at_once(recording.trace) == told


# ---------------------------------------------------------------------------------------------------
# Against a plain account of the same
# ---------------------------------------------------------------------------------------------------


class Account:
    """Rows by chance, and beside each what is known after it: written down whole each time."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.rows: list[Row] = []
        self.known: list[dict[str, Any]] = []
        self.frames: dict[int, dict[str, Any]] = {}
        self.active: list[int] = []
        self.suspended: list[int] = []
        self.globals: dict[str, Any] = {}
        self.objects: dict[int, dict[str, Any]] = {}
        self.leaving: tuple[str, int] | None = None
        self.frames_seen = self.objects_seen = 0

    def value(self) -> Any:
        if self.objects and self.rng.random() < 0.5:
            return {"ref": self.rng.choice(list(self.objects))}
        return self.rng.randrange(100)

    def names(self, names: dict[str, Any], most: int) -> str | None:
        """Bind, rebind and unbind some."""
        changes: dict[str, Any] = {}
        for _ in range(self.rng.choice([0, 1, 1, 2, most])):
            name = f"v{self.rng.randrange(150)}"
            if name in names and self.rng.random() < 0.3:
                changes[name] = {"unbound": True}
            else:
                changes[name] = self.value()
        for name, value in changes.items():
            if isinstance(value, dict) and "unbound" in value:
                names.pop(name, None)
            else:
                names[name] = value
        return json.dumps(changes) if changes else None

    def change_objects(self, most: int) -> str | None:
        changes: dict[str, Any] = {}
        for _ in range(self.rng.choice([0, 1, 1, 3, most])):
            number = self.rng.randrange(self.objects_seen + 1)
            content = self.objects.get(number)
            if str(number) in changes or (content is None and number < self.objects_seen):
                continue
            if content is None:
                self.objects_seen += 1
                changes[str(number)] = {"kind": "list", "type": "list", "items": [number]}
                self.objects[number] = {"kind": "list", "type": "list", "items": [number]}
            elif self.rng.random() < 0.3 and not self.used(number):
                changes[str(number)] = None
                del self.objects[number]
            else:
                at = self.rng.randint(0, len(content["items"]))
                removed, new = self.rng.randint(0, 2), [self.rng.randrange(9)]
                changes[str(number)] = {"splice": [at, removed, new]}
                content["items"][at : at + removed] = new
        return json.dumps(changes) if changes else None

    def used(self, number: int) -> bool:
        return f'{{"ref": {number}}}' in json.dumps([self.frames, self.globals])

    def event(self, most: int) -> None:
        if self.leaving is not None:
            kind, number = self.leaving
            self.active.pop()
            if kind == "yield":
                self.suspended.append(number)
            else:
                del self.frames[number]
            self.leaving = None
        kinds = ["call"]
        kinds += ["line"] * 6 + ["return", "unwind", "yield", "call"] if self.active else []
        kinds += ["resume"] if self.suspended else []
        kind = self.rng.choice(kinds)
        caller = None
        if kind in ("call", "resume"):
            if self.active:
                calling = self.frames[self.active[-1]]
                offset = self.rng.randrange(50)
                changes = self.names(calling["locals"], 2)
                calling["offset"] = offset
                told = {"frame": self.active[-1], "offset": offset}
                caller = json.dumps({**told, "locals": json.loads(changes)} if changes else told)
            if kind == "call":
                number, self.frames_seen = self.frames_seen, self.frames_seen + 1
                self.frames[number] = {"locals": {}, "stack": []}
            else:
                number = self.suspended.pop(self.rng.randrange(len(self.suspended)))
            self.active.append(number)
        else:
            number = self.active[-1]
        frame = self.frames[number]
        frame["line"], frame["offset"] = self.rng.randrange(1, 30), self.rng.randrange(50)
        objects = self.change_objects(most)
        locals_ = self.names(frame["locals"], most)
        globals_ = self.names(self.globals, most)
        stack = None
        if self.rng.random() < 0.3:
            frame["stack"] = [self.value()]
            stack = json.dumps(frame["stack"])
        place = (number, "f", "p.py", frame["line"], frame["offset"])
        self.rows.append(
            Row(0, len(self.rows), kind, *place, locals_, stack, globals_, objects, caller, None, None, None)
        )
        self.known.append(
            copy.deepcopy(
                {
                    "frames": [
                        (n, list(f["locals"].items()), f["stack"], f["line"], f["offset"])
                        for n, f in self.frames.items()
                    ],
                    "active": self.active,
                    "globals": list(self.globals.items()),
                    "objects": self.objects,
                }
            )
        )
        if kind in ("return", "unwind", "yield"):
            self.leaving = kind, number


def written_down(state: State) -> dict[str, Any]:
    return {
        "frames": [
            (n, list(f.locals.items()), [*f.stack], f.line, f.offset) for n, f in state.frames.items()
        ],
        "active": [*state.active],
        "globals": list(state.globals.get("p.py", {}).items()),
        "objects": dict(state.objects),
    }


@settings(max_examples=examples(12), deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 90), st.sampled_from([2, 10, 120]))
def test_states_are_those_of_a_plain_account(seed: int, events: int, most: int) -> None:
    """For any events, with few names and objects and with hundreds, each state is the one that a plain account
    has: at once, late, by index in any order, and after a copy was sent elsewhere."""
    rng = random.Random(seed)
    account = Account(rng)
    for _ in range(events):
        account.event(most)
    trace = Trace(account.rows)
    assert [written_down(event.state) for event in trace] == account.known
    kept = list(trace)
    order = rng.sample(range(events), events)
    assert [written_down(kept[i].state) for i in order] == [account.known[i] for i in order]
    assert [written_down(trace[i].state) for i in order] == [account.known[i] for i in order]
    sent = pickle.loads(pickle.dumps(kept))
    assert [written_down(event.state) for event in sent] == account.known
    assert [(len(e.state.objects), e.state.size) for e in kept] == [
        (len(known["objects"]), size_of(known)) for known in account.known
    ]


def size_of(known: dict[str, Any]) -> int:
    names = sum(len(names) for _, names, *_ in known["frames"])
    return names + len(known["globals"]) + len(known["objects"]) + len(known["active"])


# ---------------------------------------------------------------------------------------------------
# Memory
# ---------------------------------------------------------------------------------------------------


class Endless(Sequence[Row]):
    """Rows made as they are asked for: 300 objects, of which one changes and one is another at each event."""

    def __init__(self, events: int) -> None:
        self.events = events

    def __len__(self) -> int:
        return self.events

    def __getitem__(self, index: Any) -> Any:
        i = operator.index(index)
        objects = f'"{i}": {{"kind": "list", "type": "list", "items": [{i}, {i}]}}'
        if i >= 300:
            objects += f', "{i - 300}": null, "{i - 5}": {{"splice": [0, 1, [{i}]]}}'
        names = f'{{"a": {{"ref": {i}}}, "v{i % 90}": {i}}}'
        place = (i, "line" if i else "call", 0, "f", "p.py", 1, 0)
        return Row(0, *place, names, None, None, f"{{{objects}}}", None, None, None, None)

    def __iter__(self) -> Iterator[Row]:
        return map(self.__getitem__, range(self.events))


def _peak_kb(*, anew: bool = False) -> int:
    """The process's peak of resident memory; anew: from now on, so that an earlier one does not count."""
    if anew:
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="no /proc: would bound the memory")
@pytest.mark.parametrize("events", [30_000, pytest.param(1_000_000, marks=pytest.mark.exhaustive)])
def test_who_only_iterates_needs_no_memory(events: int) -> None:
    """The peak of memory does not grow with the events that are iterated, though one of them is kept."""
    for _ in Trace(Endless(3_000)):
        pass
    before = _peak_kb(anew=True)
    kept = None
    for event in Trace(Endless(events)):
        if event.index == 400:
            kept = event
    assert kept is not None
    assert repr(kept.locals["a"]) == repr([400, 400])
    assert _peak_kb() - before < 3_000
