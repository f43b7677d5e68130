"""Why a value is what it is: the event that last changed it, and the values that its line read before that.

Values are followed by the identity of objects, through assignments, arguments, returns, attributes and items.
What runs in C, or in code that is not recorded, cannot be followed: the answer says so.
"""

import ast
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from deskcheck.errors import InputError
from deskcheck.recording.program import Mode
from deskcheck.recording.recording import Recording
from deskcheck.recording.trace import EARLIER, Row, State, Trace
from deskcheck.recording.value import Encoded, decode, loads, render
from deskcheck.view.queries.evaluator import FAILURES, Expression, NotThere, SeenObject, Unknown
from deskcheck.view.queries.statements import (
    Place,
    SourceStatements,
    Write,
    first_line,
    has_inner_events,
    own_nodes,
    own_parts,
    place_of,
    sources_of,
    targets,
)
from deskcheck.view.queries.threads import trace_of

STEPS = 10
VALUE_CHARS = 60
_REPEATS = 2
"""Number of steps on one line after which other lines come first."""
_MAX_REACHED = 500
_DATA = frozenset({"list", "dict", "set", "bytearray", "object", "exception", "array", "table"})
"""Kinds of objects whose contents are part of a value. Iterators and functions are not."""
CODE = frozenset({"module", "function", "type", "builtin_function_or_method"})
"""Types of values that are code, and are not followed."""
_LEAVES = frozenset({"return", "yield", "unwind"})


@dataclass(frozen=True, slots=True)
class ValueCause:
    """A value and the event that last changed it."""

    number: int
    """Position in the answer, from 1."""
    parent: int | None
    """The step whose line read this value; None for the expression that was asked about."""
    expression: str
    value: str
    how: str
    """``assigned``, ``changed``, ``argument``, ``default``, ``returned``, ``yielded``, ``raised``, ``ended``,
    ``decided`` for a condition, or ``unknown``."""
    event: int | None
    """The first event that shows the value."""
    line_event: int | None
    """The event before the line ran that made the value."""
    file: str = ""
    line: int = 0
    function: str = ""
    statement: str = ""
    unknown: str | None = None
    """What cannot be known about this step, and why."""

    @property
    def text(self) -> str:
        """The step as a sentence."""
        if self.event is None:
            return f"`{self.expression}` is {self.value}: {self.unknown}"
        where = f"line {self.line} of {self.file}"
        code = f": `{self.statement}`" if self.statement else ""
        match self.how:
            case "argument":
                words = f"is {self.value} since event {self.event}, an argument in {where}{code}"
            case "default":
                words = f"is {self.value} since event {self.event}, the parameter's default in {where}{code}"
            case "returned" | "yielded":
                words = f"is {self.value}, {self.how} at event {self.event}, {where}{code}"
            case "raised":
                words = f"is {self.value}, raised at event {self.event}, {where}{code}"
            case "decided":
                words = f"was {self.value} at event {self.event} and decided what ran next, {where}{code}"
            case "ended":
                words = f"has no value: an exception left it at event {self.event}, {where}{code}"
            case _:
                words = f"is {self.value} since event {self.event}, {where}{code}"
        return f"`{self.expression}` {words}" + (f". {self.unknown}" if self.unknown else "")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to `why`: steps, breadth first."""

    recording: str
    expression: str
    event: int
    """The event whose state the expression was read in."""
    steps: tuple[ValueCause, ...]
    more: int = 0
    """Number of further values that the last lines read, and that were not followed."""

    def lines(self) -> Iterator[str]:
        """The steps as an indented tree, for the terminal."""
        children: dict[int | None, list[ValueCause]] = {}
        for step in self.steps:
            children.setdefault(step.parent, []).append(step)

        def tree(parent: int | None, depth: int) -> Iterator[str]:
            for step in children.get(parent, ()):
                yield "  " * depth + step.text
                yield from tree(step.number, depth + 1)

        yield from tree(None, 0)
        if self.more:
            yield f"{self.more} more values were read there; --steps follows more of them"

    def to_dict(self) -> dict[str, Any]:
        """The fields as values for JSON."""
        return asdict(self) | {"steps": [asdict(step) | {"text": step.text} for step in self.steps]}


def why(
    recording: Recording,
    expression: str | None,
    *,
    at: int | None = None,
    steps: int = STEPS,
    thread: int = 0,
    conditions: bool = False,
) -> Answer:
    """The event that last changed the value of an expression, and the values that its line read.

    Values of lines that the chain has not shown yet come first, so that a loop does not fill it.

    expression: names, attributes and items, such as ``cart.items[0].price``. None: what the event `at`
    returned, yielded or raised. at: number of the event; by default the last event of the last frame that
    has the name, or the last exception. steps: length of the chain. conditions: also the conditions under
    which lines ran, and earlier changes of the same objects by other lines.

    Raises InputError if the expression has no value there, or the thread or event does not exist.
    """
    return Slicer(recording, trace_of(recording, thread), conditions).answer(expression, at, steps)


# -- places and questions ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that has a value: a name of a frame or file, an attribute or item of an object, an object."""

    kind: str
    """``local``, ``global``, ``field``, ``item`` or ``object``."""
    owner: int | str
    """Number of the frame or object, or name of the file."""
    key: Any = None


@dataclass(frozen=True, slots=True)
class Read:
    """A value that a line read.

    at: the event whose state it was read in. skip: file and line of changes of its objects that are known.
    """

    expression: str
    slot: Slot
    at: int
    skip: frozenset[tuple[str, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class _Result:
    """The value of a call, or of an exception. event: where it was returned, yielded or raised."""

    expression: str
    event: int


@dataclass(frozen=True, slots=True)
class _Decision:
    """The condition under which a line ran. event: where it was evaluated."""

    event: int

    @property
    def expression(self) -> str:
        return "the condition"


Query = Read | _Result | _Decision


@dataclass(frozen=True, slots=True)
class _Call:
    """A recorded frame that ran during a line of another one."""

    place: Place
    frame: int
    via: str | None
    entered: int
    left: int | None
    """The last event at which it left, during the line."""


@dataclass(slots=True)
class _Line:
    """A line that ran: in a frame, from one event of the frame to the next."""

    frame: int
    file: str
    before: int
    after: int
    calls: dict[Place, list[_Call]]
    queries: list[Query] = field(default_factory=list)
    unrecorded: list[str] = field(default_factory=list)
    """Functions that were called and are not recorded."""
    written: frozenset[str] = frozenset()
    """Names that earlier statements on the line write: they have their values after it."""


class Slicer:
    """Answers questions about one trace. states: those at all events, if they are known."""

    def __init__(
        self, recording: Recording, trace: Trace, conditions: bool = False, states: Sequence[State] = ()
    ) -> None:
        self.conditions = conditions
        self.recording = recording
        self.trace = trace
        self.rows = trace.rows
        self.statements = SourceStatements(recording)
        self._states: dict[int, State] = dict(enumerate(states))

    # -- the answer --

    def answer(self, text: str | None, event: int | None, max_steps: int) -> Answer:
        if not self.rows:
            raise InputError(f"{self.recording.id}: has no events in this thread.")
        if event is not None and not 0 <= event < len(self.rows):
            raise InputError(f"--at {event}: the thread has events 0 to {len(self.rows) - 1}.")
        if text is None:
            ending = self._ending(event)
            text, event = ending.expression, ending.event
            first: list[Query] = [ending]
        else:
            event, first = self._first(Expression(text), event)
        queue: deque[tuple[Query, int | None]] = deque((query, None) for query in first)
        later: deque[tuple[ValueCause, list[Query]]] = deque()
        made: list[ValueCause] = []
        visited: set[tuple[Any, ...]] = set()
        shown: Counter[tuple[str, int]] = Counter()
        while (queue or later) and len(made) < max_steps:
            if queue:
                query, parent = queue.popleft()
                step, key, further = self.explain(query)
                if key in visited:
                    continue
                visited.add(key)
                step = replace(step, parent=parent)
                if shown[step.file, step.line] >= _REPEATS:
                    later.append((step, further))
                    continue
            else:
                step, further = later.popleft()
            shown[step.file, step.line] += 1
            made.append(replace(step, number=len(made) + 1))
            queue.extend((more, len(made)) for more in further)
        more = len({(query, parent) for query, parent in queue}) + len(later)
        return Answer(self.recording.id, text, event, tuple(made), more)

    def _first(self, expression: Expression, event: int | None) -> tuple[int, list[Query]]:
        """The event in whose state an expression is read, and the values that it reads."""
        if not expression.names:
            raise InputError(f"{expression.text!r}: reads no name, so no event changed it.")
        if event is None:
            event = self._last_event(expression)
        frame = self.rows[event].frame
        self._check(expression, frame, event)
        line = _Line(frame, self.rows[event].file, event, event, {})
        self._visit(expression.tree, line, frozenset())
        return event, line.queries

    def _ending(self, event: int | None) -> _Result:
        """The value that an event returned, yielded or raised; without an event, the last exception."""
        if event is None:
            raised = (i for i in range(len(self.rows) - 1, -1, -1) if self.rows[i].kind == "raise")
            event = next(raised, None)
            if event is None:
                raise InputError(f"{self.recording.id}: raised no exception. Name a value, or an event.")
            event = self._first_raise(event)
        row = self.rows[event]
        if row.kind not in ("return", "yield", "raise"):
            raise InputError(f"event {event}: returns and raises nothing. Name a value.")
        what = "the exception" if row.kind == "raise" else f"{row.function}(...)"
        return _Result(what, event)

    def _last_event(self, expression: Expression) -> int:
        """The last event of the last frame in which all names of an expression have had a value."""
        bound: dict[int | str, set[str]] = {}
        last: dict[int, int] = {}
        files: dict[int, str] = {}
        quoted_names = {f'"{name}"': name for name in expression.names}
        for i, row in enumerate(self.rows):
            last[row.frame] = i
            files[row.frame] = row.file
            for owner, column in ((row.frame, row.locals), (row.file, row.globals)):
                if column:
                    bound.setdefault(owner, set()).update(n for w, n in quoted_names.items() if w in column)
        for frame in sorted(last, key=lambda frame: -last[frame]):
            own, shared = bound.get(frame, set()), bound.get(files[frame], set())
            if not expression.names <= own | shared:
                continue
            for i in range(last[frame], max(last[frame] - 50, -1), -1):
                if self.rows[i].frame == frame and self._value(expression, frame, i) is not None:
                    return i
        raise InputError(
            f"{expression.text!r}: no event has this value. `deskcheck find FOLDER --changes NAME` lists the "
            "changes of a name."
        )

    def _value(self, expression: Expression, frame: int, moment: int) -> tuple[Any] | None:
        state = self.state(moment)
        try:
            return (expression.value(self._names(state, frame), state.objects),)
        except Unknown:
            return (None,)
        except (NotThere, *FAILURES):
            return None

    def _check(self, expression: Expression, frame: int, event: int) -> None:
        if self._value(expression, frame, event) is None:
            row = self.rows[event]
            names = sorted(self._names(self.state(event), frame))
            listed = ", ".join(names[:20]) + ", ..." * (len(names) > 20)
            raise InputError(
                f"{expression.text!r}: has no value at event {event}, line {row.line} of {row.file} in "
                f"{row.function}. Names there: {listed or 'none'}."
            )

    def state(self, index: int) -> State:
        """The state at an event."""
        if index not in self._states:
            if len(self._states) > 64:
                self._states.clear()
            self._states[index] = self.trace.state(index)
        return self._states[index]

    @staticmethod
    def _names(state: State, frame: int) -> Mapping[str, Encoded]:
        if frame not in state.frames:
            return {}
        file = state.frames[frame].file
        shared = state.globals.get(file, {})
        return {**shared, **state.names(frame)}

    def _text(self, encoded: Encoded, state: State) -> str:
        return render(decode(encoded, state.objects), max_chars=VALUE_CHARS)

    # -- lines --

    def _before(self, frame: int, index: int) -> int | None:
        """The frame's event before an event."""
        for i in range(index - 1, -1, -1):
            if self.rows[i].frame == frame:
                return i
        return None

    def _line(self, frame: int, after: int) -> _Line | None:
        """The line of a frame that ran before an event."""
        before = self._before(frame, after)
        if before is None:
            return None
        before = self._beginning(frame, before)
        calls: dict[Place, list[_Call]] = {}
        open_calls: dict[int, _Call] = {}
        for i in range(before + 1, after + 1):
            row = self.rows[i]
            if row.kind in ("call", "resume") and row.caller:
                caller = loads(row.caller)
                if caller["frame"] == frame and "at" in caller and i < after:
                    place: Place = tuple(caller["at"])
                    open_calls[row.frame] = _Call(place, row.frame, caller.get("via"), i, None)
            elif row.kind in _LEAVES and row.frame in open_calls and i < after:
                open_calls[row.frame] = replace(open_calls[row.frame], left=i)
                continue
        for call in open_calls.values():
            calls.setdefault(call.place, []).append(call)
        return _Line(frame, self.rows[before].file, before, after, calls)

    def _beginning(self, frame: int, before: int) -> int:
        """The first event of the statement that an event belongs to: others are inside of it."""
        row = self.rows[before]
        statement = self.statements.at(row.file, row.line)
        if statement is None or not has_inner_events(statement):
            return before
        while (earlier := self._before(frame, before)) is not None:
            row = self.rows[earlier]
            if self.statements.at(row.file, row.line) is not statement or row.kind == "call":
                break
            before = earlier
        return before

    def _read_at(self, node: Any, line: _Line) -> int:
        """The event in whose state a line reads an expression: after the calls that come before it."""
        position = node.lineno, node.col_offset
        left = [
            call.left
            for place, calls in line.calls.items()
            for call in calls
            if call.left is not None and place[2:] <= position
        ]
        return max([line.before, *left])

    def _visit(self, node: Any, line: _Line, hidden: frozenset[str]) -> None:
        """Add the values that an expression reads to the line's queries.

        hidden: the variables of comprehensions around it.
        """
        if isinstance(node, ast.expr) and self._visit_calls(node, line):
            return
        match node:
            case ast.Name():
                if node.id not in hidden:
                    self._visit_place(node, line)
            case ast.Attribute() | ast.Subscript():
                root: Any = node
                while isinstance(root, ast.Attribute | ast.Subscript):
                    if isinstance(root, ast.Subscript):
                        self._visit(root.slice, line, hidden)
                    root = root.value
                is_recorded_name = isinstance(root, ast.Name) and root.id not in hidden
                if not (is_recorded_name and self._visit_place(node, line)):
                    self._visit(node.value, line, hidden)
            case ast.Call():
                function = node.func
                self._visit(function.value if isinstance(function, ast.Attribute) else function, line, hidden)
                for part in (*node.args, *(keyword.value for keyword in node.keywords)):
                    self._visit(part, line, hidden)
                if self._is_unrecorded(node, line):
                    line.unrecorded.append(ast.unparse(function))
            case ast.Lambda():
                pass
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                for generator in node.generators:
                    self._visit(generator.iter, line, hidden)
                    bound = {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
                    hidden |= bound
                    for condition in generator.ifs:
                        self._visit(condition, line, hidden)
                parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
                for part in parts:
                    self._visit(part, line, hidden)
            case ast.IfExp():
                self._visit(node.test, line, hidden)
                truth = self._truth(node.test, line)
                for part, taken in ((node.body, True), (node.orelse, False)):
                    if truth is None or truth is taken:
                        self._visit(part, line, hidden)
            case ast.BoolOp():
                for part in node.values:
                    self._visit(part, line, hidden)
                    if self._truth(part, line) is isinstance(node.op, ast.Or):
                        break
            case _:
                for child in ast.iter_child_nodes(node):
                    self._visit(child, line, hidden)

    def _visit_calls(self, node: ast.expr, line: _Line) -> bool:
        """Follow the recorded calls of an expression, instead of its parts. Returns whether there are any."""
        if isinstance(node, ast.Await):
            return False
        calls = [call for call in line.calls.get(place_of(node), ()) if call.via is None]
        for call in calls:
            text, row = ast.unparse(node), self.rows[call.entered]
            if call.left is None:
                continue
            if row.function.endswith(".__init__") and row.kind == "call":
                this = next(iter(loads(row.locals or "{}").values()), None)
                if isinstance(this, dict) and "ref" in this:
                    line.queries.append(Read(text, Slot("object", this["ref"]), call.left))
            else:
                line.queries.append(_Result(text, call.left))
        return bool(calls)

    def _is_unrecorded(self, node: ast.Call, line: _Line) -> bool:
        """Whether a call ran code that is not recorded. A call of a recorded function may not have run."""
        calls = line.calls.get(place_of(node), ())
        if calls:
            return any(call.via for call in calls)
        number = self._object(node.func, line.frame, line.before)
        content = self.state(line.before).objects.get(number, {}) if number is not None else {}
        return content.get("kind") not in ("function", "class")

    def _truth(self, node: ast.expr, line: _Line) -> bool | None:
        """Whether a condition of the line was true, if that can be computed from recorded values."""
        state = self.state(self._read_at(node, line))
        try:
            return Expression(ast.unparse(node)).holds(self._names(state, line.frame), state.objects)
        except (InputError, NotThere, Unknown, *FAILURES):
            return None

    def _visit_place(self, node: Any, line: _Line) -> bool:
        """Add a name, attribute or item to the queries. Returns whether it is a recorded value."""
        root = node
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        event = line.after if root.id in line.written else self._read_at(node, line)
        try:
            slot = self._slot(node, line.frame, event)
        except (InputError, NotThere, Unknown, *FAILURES):  # InputError: an index that is a call
            return False
        if slot is None:
            return False
        while isinstance(node, ast.Subscript) and self._slot(node.value, line.frame, event) == slot:
            node = node.value  # an item of a tuple or text, which have no identity
        value = self._slot_value(slot, self.state(event))
        if _is_ref(value):
            content = self.state(event).objects.get(value["ref"], {})
            if content.get("kind") in ("function", "class"):
                return True
        if isinstance(value, dict) and value.get("type") in CODE:
            return True
        line.queries.append(Read(ast.unparse(node), slot, event))
        return True

    # -- slots --

    def _slot(self, node: Any, frame: int, event: int) -> Slot | None:
        """The place that a name, attribute or item names; None for what is not recorded, such as a module."""
        state = self.state(event)
        if isinstance(node, ast.Name):
            frame_state = state.frames.get(frame)
            if frame_state is None:
                return None
            if node.id in frame_state.locals:
                return Slot("local", frame, node.id)
            if frame_state.file in state.globals and node.id in state.globals[frame_state.file]:
                return Slot("global", frame_state.file, node.id)
            return None
        if not isinstance(node, ast.Attribute | ast.Subscript):
            return None
        base = self._slot(node.value, frame, event)
        if base is None:
            return None
        value = self._slot_value(base, state)
        if not _is_ref(value):
            return base if isinstance(node, ast.Subscript) else None
        number = value["ref"]
        content = state.objects[number]
        if isinstance(node, ast.Attribute):
            if node.attr in content.get("fields", {}):
                return Slot("field", number, node.attr)
            return self._class_slot(content, node.attr, state)
        if isinstance(node.slice, ast.Slice):
            return base
        key = Expression(ast.unparse(node.slice)).value(self._names(state, frame), state.objects)
        if isinstance(key, SeenObject):
            return base
        if content["kind"] == "list" and isinstance(key, int) and key < 0:
            key += content.get("length", len(content.get("items", ())))
        slot = Slot("item", number, key)
        return base if self._slot_value(slot, state) is _NOTHING else slot

    def _object(self, node: Any, frame: int, event: int) -> int | None:
        """The number of the object that a name, attribute or item names; None if it is not recorded."""
        try:
            slot = self._slot(node, frame, event)
        except (InputError, NotThere, Unknown, *FAILURES):  # InputError: an index that is a call
            return None
        value = _NOTHING if slot is None else self._slot_value(slot, self.state(event))
        return value["ref"] if _is_ref(value) else None

    @staticmethod
    def _class_slot(content: Mapping[str, Any], name: str, state: State) -> Slot | None:
        """The attribute of an object's class, if the class is recorded."""
        for number in state.objects:
            found = state.objects[number]
            is_class = found["kind"] == "class" and found.get("text") == f"class {content['type']}"
            if is_class and name in found.get("fields", {}):
                return Slot("field", number, name)
        return None

    def _slot_value(self, slot: Slot, state: State) -> Encoded:
        """The encoded value of a slot; `_NOTHING` if it has none."""
        if slot.kind == "local":
            frame = state.frames.get(slot.owner)  # type: ignore[arg-type]
            return _NOTHING if frame is None else frame.locals.get(slot.key, _NOTHING)
        if slot.kind == "global":
            return state.globals.get(str(slot.owner), {}).get(slot.key, _NOTHING)
        if slot.kind == "object":
            return {"ref": slot.owner}
        content = state.objects.get(slot.owner)  # type: ignore[arg-type]
        if content is None:
            return _NOTHING
        if slot.kind == "field":
            return content.get("fields", {}).get(slot.key, _NOTHING)
        items = content.get("items", [])
        if content["kind"] == "dict" or content.get("base") == "dict":
            return next((item for key, item in items if key == slot.key), _NOTHING)
        if isinstance(slot.key, int) and 0 <= slot.key < len(items):
            return items[slot.key]
        return _NOTHING

    # -- changes --

    def _last_change(
        self, slot: Slot, event: int, skip: frozenset[tuple[str, int]] = frozenset()
    ) -> tuple[int, int | None] | None:
        """The last event that changed the value of a slot, and the object whose content changed, if any.

        skip: lines whose changes of objects do not count.
        """
        last_write = self._last_write(slot, event)
        value = self._slot_value(slot, self.state(event))
        floor = -1 if last_write is None else last_write[0]
        numbers = self.reached(value, self.state(event))
        if slot.kind == "object":
            numbers.add(int(slot.owner))
        inner = self._last_content_change(numbers, event, floor) if numbers else None
        while inner is not None and skip and self._changing_line(inner[0]) in skip:
            inner = self._last_content_change(numbers, inner[0] - 1, floor)
        return inner or last_write

    def _changing_line(self, event: int) -> tuple[str, int] | None:
        """File and line that ran before an event in its frame."""
        row = self.rows[event]
        frame = loads(row.caller)["frame"] if row.kind in ("call", "resume") and row.caller else row.frame
        line = self._line(frame, event)
        return None if line is None else (line.file, self.rows[line.before].line)

    def _last_write(self, slot: Slot, event: int) -> tuple[int, int | None] | None:
        if slot.kind == "object":
            return None
        if slot.kind in ("field", "item"):
            index = self._last_item_change(slot, event)
            return None if index is None else (index, int(slot.owner))
        name, quoted = slot.key, f'"{slot.key}"' if slot.key.isascii() else '"'
        for i in range(event, -1, -1):
            row = self.rows[i]
            if slot.kind == "global":
                if (
                    row.globals
                    and row.file == slot.owner
                    and quoted in row.globals
                    and name in loads(row.globals)
                ):
                    return i, None
            elif row.frame == slot.owner:
                if row.locals and quoted in row.locals and name in loads(row.locals):
                    return i, None
                if row.kind == "call":
                    return None
            elif row.caller and quoted in row.caller:
                caller = loads(row.caller)
                if caller["frame"] == slot.owner and name in caller.get("locals", {}):
                    return i, None
        return None

    def _last_item_change(self, slot: Slot, event: int) -> int | None:
        """The last event that changed an attribute or item of an object."""
        quoted = f'"{slot.owner}":'
        for i in range(event, -1, -1):
            objects = self.rows[i].objects
            if (
                not objects
                or quoted not in objects
                or (change := loads(objects).get(str(slot.owner))) is None
            ):
                continue
            if "kind" not in change and slot.kind == "field":
                if slot.key in change.get("fields", {}):
                    return i
                continue
            before = _NOTHING if i == 0 else self._slot_value(slot, self.state(i - 1))
            if before != self._slot_value(slot, self.state(i)):
                return i
        return None

    def _last_content_change(self, numbers: set[int], event: int, floor: int) -> tuple[int, int] | None:
        """The last event after `floor` that changed one of these objects, and its number."""
        quoted = [f'"{number}":' for number in numbers] if len(numbers) < 10 else ['"']
        for i in range(event, floor, -1):
            objects = self.rows[i].objects
            if not objects or not any(text in objects for text in quoted):
                continue
            for key, change in loads(objects).items():
                number = int(key)
                if number not in numbers or change is None:
                    continue
                if "kind" not in change:
                    return i, number
                before = self.state(i - 1).objects.get(number) if i else None
                if before is not None and before != change:
                    return i, number
        return None

    def reached(self, value: Encoded, state: State) -> set[int]:
        """The objects whose contents are part of a value."""
        numbers: set[int] = set()
        todo = [value]
        while todo and len(numbers) < _MAX_REACHED:
            part = todo.pop()
            if isinstance(part, list):
                todo += part
            elif isinstance(part, dict):
                number = part.get("ref")
                if isinstance(number, int) and number not in numbers:
                    content = state.objects.get(number)
                    if content is not None and content["kind"] in _DATA:
                        numbers.add(number)
                        todo.append({key: content[key] for key in ("items", "fields") if key in content})
                todo += part.values()
        return numbers

    # -- explanations --

    def explain(self, query: Query) -> tuple[ValueCause, tuple[Any, ...], list[Query]]:
        """The step of a query, a key that is equal for the same step, and the queries that follow."""
        if isinstance(query, _Decision):
            step, line = self._explain_decision(query)
            return step, ("decision", query.event), [*line.queries, *self._decision(query.event)]
        if isinstance(query, _Result):
            step, result_line = self._explain_result(query)
            further = [] if result_line is None else result_line.queries
            returned = self.statements.at(self.rows[query.event].file, self.rows[query.event].line)
            at_end = step.how == "returned" and not isinstance(returned, ast.Return)
            return step, (query.event,), [*further, *self._decision(step.line_event, at_end=at_end)]
        state = self.state(query.at)
        change = self._last_change(query.slot, query.at, query.skip)
        encoded = self._slot_value(query.slot, state)
        text = "not there" if encoded is _NOTHING else self._text(encoded, state)
        made = ValueCause(0, None, query.expression, text, "unknown", None, None)
        if change is None:
            reason = "no recorded event changed it: it is older, or code that is not recorded made it"
            return replace(made, unknown=reason), (query.slot, None), []
        event, number = change
        row = self.rows[event]
        if row.left_out and EARLIER in loads(row.left_out):
            reason = f"it is older than event {event}, the start of the recording"
            return replace(made, unknown=reason), (query.slot, None), []
        step, queries = self._explain_change(replace(made, event=event), query, number)
        if not self.conditions:
            return step, (query.slot, event), queries
        if step.how in ("assigned", "changed"):
            queries = [*queries, *self._decision(step.line_event)]
        if number is None and query.slot.kind in ("local", "global"):
            queries = [*queries, *self._not_assigned(query, event)]
        if number is not None and step.line_event is not None:
            skipped = query.skip | {(step.file, self.rows[step.line_event].line)}
            queries.append(replace(query, at=event - 1, skip=skipped))
        elif query.skip:
            queries = [replace(q, skip=query.skip) if isinstance(q, Read) else q for q in queries]
        return step, (query.slot, event), queries

    def _decision(self, event: int | None, *, at_end: bool = False) -> list[Query]:
        """The last condition before a line that decided that it ran, in its frame."""
        if not self.conditions or event is None:
            return []
        row = self.rows[event]
        deciding = self.statements.deciding(row.file, self.statements.at(row.file, row.line), at_end=at_end)
        if not deciding:
            return []
        for i in range(event - 1, -1, -1):
            before = self.rows[i]
            if before.frame == row.frame:
                if before.kind == "line" and self.statements.at(before.file, before.line) in deciding:
                    return [_Decision(i)]
                if before.kind == "call":
                    break
        return []

    def _not_assigned(self, query: Read, event: int) -> list[Query]:
        """The conditions after an assignment that could have led to another one of the same name.

        Such values are in a relevant slice (Agrawal, Horgan, Krauser and London 1993), not in a dynamic one.
        """
        frame = query.slot.owner if query.slot.kind == "local" else self.rows[query.at].frame
        found: dict[Any, Query] = {}
        for i in range(query.at - 1, event - 1, -1):
            row = self.rows[i]
            if row.frame == frame and row.kind == "line":
                statement = self.statements.at(row.file, row.line)
                if statement not in found and statement in self.statements.guarding(
                    row.file, statement, query.slot.key
                ):
                    found[statement] = _Decision(i)
        return sorted(found.values(), key=lambda decision: -decision.event)  # type: ignore[union-attr]

    def _explain_decision(self, query: _Decision) -> tuple[ValueCause, _Line]:
        row = self.rows[query.event]
        statement = self.statements.at(row.file, row.line)
        after = next(i for i in range(query.event + 1, len(self.rows)) if self.rows[i].frame == row.frame)
        line = self._line(row.frame, after)
        assert line is not None
        loop = isinstance(statement, ast.For | ast.AsyncFor)
        tested = (own_parts(statement) or ())[1 if loop else 0]
        self._visit(tested, line, frozenset())
        truth = self._truth(tested, line) if not loop else None
        value = "looped over" if loop else "tested" if truth is None else str(truth)
        where = self._where(row, statement)
        step = ValueCause(0, None, ast.unparse(tested), value, "decided", query.event, query.event, **where)
        return replace(step, unknown=self._unrecorded(line.unrecorded)), line

    def _explain_change(
        self, step: ValueCause, query: Read, number: int | None
    ) -> tuple[ValueCause, list[Query]]:
        assert step.event is not None
        row, slot = self.rows[step.event], query.slot
        if number is None and slot.kind == "local" and row.kind == "call" and row.frame == slot.owner:
            return self._explain_argument(step, row, slot.key)
        if number is None:
            frame = int(slot.owner) if slot.kind == "local" else row.frame
            writes = Write("name", slot.key)
        else:
            frame, writes = row.frame, self._written(row, number, slot)
        if row.kind in ("call", "resume") and frame == row.frame and row.caller:
            frame = loads(row.caller)["frame"]
        line = self._line(frame, step.event)
        if line is None:
            reason = "it was made before the first recorded line, or by code that is not recorded"
            return replace(step, how="changed", unknown=reason, **self._where(row)), []
        statement = self._statement(line, writes)
        if statement is not None and not targets(statement, writes) and number is None:
            inner = self._inner_write(line, slot.key)
            if inner is not None:
                line = inner
                statement = self._statement(line, writes)
        before = self.rows[line.before]
        step = replace(
            step, how="assigned" if number is None else "changed", **self._where(before, statement)
        )
        step = replace(step, line_event=line.before)
        if statement is None:
            return replace(step, unknown="The text of the program is not in the recording."), []
        if isinstance(statement, ast.ClassDef) and slot.kind == "field" and number == slot.owner:
            for calls in line.calls.values():
                for call in calls:
                    body = self.rows[call.entered].function
                    if call.left is not None and body.rpartition(".")[2] == statement.name:
                        read = Read(step.expression, Slot("local", call.frame, slot.key), call.left)
                        change = self._last_change(read.slot, call.left)
                        if change is not None:
                            return self._explain_change(replace(step, event=change[0]), read, change[1])
        line.written = self.statements.written_before(line.file, before.line, statement)
        assert step.event is not None
        self._visit_statement(statement, writes, line, step.event, slot, number)
        unknown = self._unrecorded(line.unrecorded)
        written = targets(statement, writes) or isinstance(statement, ast.AugAssign)
        if not written and not line.unrecorded and not line.calls and number is None:
            unknown = (
                "The line does not assign it: code that is not recorded changed it (C, a library, another "
                "thread, or a limit of the recording)."
            )
        return replace(step, unknown=unknown), line.queries

    def _statement(self, line: _Line, writes: Write | None) -> Any:
        row = self.rows[line.before]
        return self.statements.at(row.file, row.line, writes)

    def _where(self, row: Row, statement: Any = None) -> dict[str, Any]:
        text = self.statements.text(row.file, statement) if statement is not None else ""
        line = row.line if statement is None else first_line(statement)
        return {"file": row.file, "line": line, "function": row.function, "statement": text}

    @staticmethod
    def _unrecorded(functions: list[str]) -> str | None:
        if not functions:
            return None
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(functions))
        verb = "are" if len({*functions}) > 1 else "is"
        return f"{names} {verb} C or library code: what happens inside is not recorded."

    @staticmethod
    def _written(row: Row, number: int, slot: Slot) -> Write:
        """The target that a statement must write to change this object."""
        if slot.owner == number and slot.kind in ("field", "item"):
            return Write(slot.kind, str(slot.key))
        change = loads(row.objects or "{}").get(str(number)) or {}
        fields = [*change.get("fields", {})]
        return Write("field", fields[0]) if fields and "splice" not in change else Write("item")

    def _inner_write(self, line: _Line, name: str) -> _Line | None:
        """The line of a frame that ran during this line and changed a variable of an enclosing function."""
        for i in range(line.after, line.before, -1):
            row = self.rows[i]
            for column in (row.locals, row.globals):
                if not column or row.kind == "call" or name not in loads(column):
                    continue
                inner = self._line(row.frame, i)
                statement = None if inner is None else self._statement(inner, Write("name", name))
                if statement is not None and targets(statement, Write("name", name)):
                    return inner
        return None

    def _visit_statement(
        self, statement: Any, writes: Write, line: _Line, event: int, slot: Slot, number: int | None
    ) -> None:
        if isinstance(statement, ast.For | ast.AsyncFor) and number is None:
            self._visit_loop(statement, line, event)
            return
        if isinstance(statement, ast.ExceptHandler):
            self._visit_exception(line, slot, event)
            return
        if isinstance(statement, ast.With | ast.AsyncWith) and number is None:
            for item in statement.items:
                for place in (place_of(statement), place_of(item.context_expr)):
                    for call in line.calls.get(place, ()):
                        if call.left is not None and self.rows[call.entered].function.endswith("__enter__"):
                            text = f"{ast.unparse(item.context_expr)}.__enter__()"
                            line.queries.append(_Result(text, call.left))
            if line.queries:
                return
        if number is not None and not targets(statement, writes):
            self._visit_mutation(statement, line, number, slot, event)
            return
        for node in sources_of(statement, writes):
            self._visit(node, line, frozenset())
        if writes.kind == "item" and targets(statement, writes):
            for part in own_nodes(statement):
                if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
                    self._visit(part.slice, line, frozenset())

    def _visit_loop(self, statement: ast.For | ast.AsyncFor, line: _Line, event: int) -> None:
        """The item that a loop took: from a generator, a list, or else what its expression reads."""
        for place in (place_of(statement), place_of(statement.iter)):
            for call in line.calls.get(place, ()):
                if call.left is not None and self.rows[call.left].kind == "yield" and call.via is None:
                    line.queries.append(_Result(f"next({ast.unparse(statement.iter)})", call.left))
                    return
        state = self.state(event)
        stack = state.frames[line.frame].stack if line.frame in state.frames else ()
        top: Encoded = stack[-1] if stack else None
        fields: dict[str, Encoded] = {}
        if _is_ref(top) and top["ref"] in state.objects:
            fields = state.objects[top["ref"]].get("fields", {})
        over: Any = fields.get("over")
        position = fields.get("next")
        if (
            _is_ref(over)
            and isinstance(position, int)
            and isinstance(statement.iter, ast.Name | ast.Attribute)
        ):
            slot = Slot("item", over["ref"], position - 1)
            if self._slot_value(slot, self.state(line.before)) is not _NOTHING:
                text = f"{ast.unparse(statement.iter)}[{position - 1}]"
                line.queries.append(Read(text, slot, line.before))
                return
        self._visit(statement.iter, line, frozenset())

    def _visit_exception(self, line: _Line, slot: Slot, event: int) -> None:
        value = self._slot_value(slot, self.state(event))
        for i in range(event, -1, -1):
            row = self.rows[i]
            if row.kind == "raise" and row.value and loads(row.value) == value:
                line.queries.append(_Result(f"exception {slot.key}", self._first_raise(i)))
                return

    def _first_raise(self, index: int) -> int:
        """The event that raised an exception, before it passed through other frames."""
        first = index
        while first and self.rows[first - 1].kind == "unwind":
            frame = self.rows[first - 1].frame
            inner = next((i for i in range(first - 2, -1, -1) if self.rows[i].frame == frame), None)
            if inner is None or self.rows[inner].kind != "raise":
                break
            first = inner
        return first

    def _visit_mutation(self, statement: Any, line: _Line, number: int, slot: Slot, event: int) -> None:
        """The values that a line read which changed an object by a call, or by an operator such as +=."""
        if isinstance(statement, ast.AugAssign):
            for node in sources_of(statement, None):
                self._visit(node, line, frozenset())
            return
        state = self.state(line.before)
        for call in own_nodes(statement):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            try:
                owner = self._slot(call.func.value, line.frame, self._read_at(call.func.value, line))
            except (InputError, NotThere, Unknown, *FAILURES):  # InputError: an index that is a call
                continue
            if owner is None or self._slot_value(owner, state) != {"ref": number}:
                continue
            arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
            added = self._added(event, number, slot)
            if not added:
                self._visit(call.func.value, line, frozenset())
            for node in arguments:
                self._visit(node, line, frozenset())
            line.unrecorded.append(ast.unparse(call.func))
            return
        for node in sources_of(statement, None):
            self._visit(node, line, frozenset())

    def _added(self, event: int, number: int, slot: Slot) -> bool:
        """Whether an event only added the item that is asked about, so that older items do not matter."""
        change = loads(self.rows[event].objects or "{}").get(str(number)) or {}
        if slot.kind != "item" or slot.owner != number or "splice" not in change:
            return False
        moment, removed, _ = change["splice"]
        old = self.state(event - 1).objects.get(number, {}).get("items", [])
        return bool(removed == 0 and moment == len(old))

    # -- calls --

    def _explain_result(self, query: _Result) -> tuple[ValueCause, _Line | None]:
        row = self.rows[query.event]
        state = self.state(query.event)
        value = loads(row.value) if row.value else None
        how = {"return": "returned", "yield": "yielded", "raise": "raised"}.get(row.kind, "ended")
        line = self._line(row.frame, query.event)
        statement = self.statements.at(row.file, row.line)
        step = ValueCause(
            0,
            None,
            query.expression,
            self._text(value, state),
            how,
            query.event,
            line.before if line is not None else None,
            **self._where(row, statement),
        )
        if statement is None or line is None:
            return replace(step, unknown="The text of the program is not in the recording."), None
        for node in self._result_nodes(row, statement):
            self._visit(node, line, frozenset())
        return replace(step, unknown=self._unrecorded(line.unrecorded)), line

    def _result_nodes(self, row: Row, statement: Any) -> list[Any]:
        """The expressions that decide what a frame returned, yielded or raised on a line."""
        if row.function.endswith("<lambda>"):
            function = self.statements.function(row.file, row.line, row.function)
            return [] if function is None else [function.body]
        if row.kind == "yield":
            if row.function.endswith("<genexpr>"):
                return [part.elt for part in own_nodes(statement) if isinstance(part, ast.GeneratorExp)][:1]
            yields = [part for part in own_nodes(statement) if isinstance(part, ast.Yield | ast.YieldFrom)]
            return [part.value for part in yields if part.value is not None]
        if row.kind == "return" and not isinstance(statement, ast.Return):
            return []
        return sources_of(statement, None)

    def _explain_argument(self, step: ValueCause, row: Row, name: str) -> tuple[ValueCause, list[Query]]:
        """The argument in the calling line that gave a parameter its value."""
        event = row.index
        definition = self.statements.function(row.file, row.line, row.function)
        parameters = _parameters(definition)
        if definition is not None and name not in parameters and not name.startswith("."):
            return self._explain_free(step, row, name)
        caller = loads(row.caller) if row.caller else None
        if caller is None:
            program = self.recording.program
            reason = "the call came from code that is not recorded (C or a library)"
            if program.mode is Mode.CALL and row.frame == 0:
                reason = f"it is an argument of the recorded call, {program.entry}{program.arguments}"
            return replace(step, how="argument", unknown=reason, **self._where(row)), []
        line = self._line(caller["frame"], event)
        if line is None:
            return replace(step, how="argument", unknown="the calling line is not recorded"), []
        statement = self._statement(line, None)
        step = replace(
            step, how="argument", line_event=line.before, **self._where(self.rows[line.before], statement)
        )
        nodes = self.statements.nodes(line.file, tuple(caller["at"])) if "at" in caller else []
        nodes = [node.iter if isinstance(node, ast.For | ast.AsyncFor) else node for node in nodes]
        call = next((node for node in nodes if isinstance(node, ast.Call)), None)
        if caller.get("via"):
            for node in nodes[:1]:
                self._visit(node, line, frozenset())
            reason = (
                f"`{caller['via']}` made the call: it is C or library code, and its choice is not recorded."
            )
            return replace(step, unknown=reason), line.queries
        if call is None or definition is None:
            for node in nodes[:1]:
                for child in ast.iter_child_nodes(node):
                    self._visit(child, line, frozenset())
            return step, line.queries
        arguments = self._arguments(call, definition, row, line, name, parameters)
        if arguments is None:
            return self._explain_default(step, row, definition, name)
        hidden = frozenset[str]()
        for node in arguments:
            self._visit(node, line, hidden)
        return replace(step, unknown=self._unrecorded(line.unrecorded)), line.queries

    def _arguments(
        self, call: ast.Call, definition: Any, row: Row, line: _Line, name: str, parameters: list[str]
    ) -> list[Any] | None:
        """The expressions that gave a parameter its value; None for its default."""
        keywords = [keyword.value for keyword in call.keywords if keyword.arg == name]
        if keywords:
            return keywords
        arguments = definition.args
        rest = [keyword.value for keyword in call.keywords if keyword.arg is None]
        if arguments.kwarg is not None and arguments.kwarg.arg == name:
            return [keyword.value for keyword in call.keywords if keyword.arg not in parameters]
        positional = [part.arg for part in (*arguments.posonlyargs, *arguments.args)]
        shift = self._bound_arguments(call, definition, row, line)
        starred = any(isinstance(part, ast.Starred) for part in call.args)
        if arguments.vararg is not None and arguments.vararg.arg == name:
            return list(call.args) if starred else call.args[max(len(positional) - shift, 0) :]
        if name in positional:
            position = positional.index(name) - shift
            if position < 0:
                return [call.func.value] if isinstance(call.func, ast.Attribute) else []
            if starred:
                return list(call.args)
            if position < len(call.args):
                return [call.args[position]]
        return rest or None

    def _bound_arguments(self, call: ast.Call, definition: Any, row: Row, line: _Line) -> int:
        """How many parameters the call fills before its first argument: 1 for a bound method, else 0."""
        owner = row.function.rpartition(".")[0]
        if not owner or owner.endswith("<locals>") or isinstance(definition, ast.Lambda):
            return 0
        decorators = {ast.unparse(part) for part in definition.decorator_list}
        if "staticmethod" in decorators:
            return 0
        if "classmethod" in decorators or not isinstance(call.func, ast.Attribute):
            return 1
        number = self._object(call.func.value, line.frame, line.before)
        content = self.state(line.before).objects.get(number, {}) if number is not None else {}
        return 0 if content.get("kind") == "class" and definition.name not in ("__init__", "__new__") else 1

    def _explain_default(
        self, step: ValueCause, row: Row, definition: Any, name: str
    ) -> tuple[ValueCause, list[Query]]:
        """The default of a parameter, which the line of its `def` made."""
        default = _default(definition, name)
        step = replace(step, how="default", file=row.file, line=definition.lineno, statement="")
        if default is None:
            return replace(step, how="argument", unknown="its argument was not found in the calling line"), []
        text = self.statements.text(row.file, definition)
        step = replace(step, line=default.lineno, statement=text)
        queries: list[Query] = []
        value = self._slot_value(Slot("local", row.frame, name), self.state(row.index))
        if _is_ref(value) and row.index:
            slot = Slot("object", value["ref"])
            if value["ref"] in self.state(row.index - 1).objects and self._last_change(slot, row.index):
                queries.append(Read(f"default of {name}", slot, row.index - 1))
        for i in range(row.index - 1, -1, -1):
            made_by = self.rows[i]
            is_default_line = made_by.file == row.file and made_by.line == default.lineno
            if is_default_line and made_by.kind == "line" and made_by.frame != row.frame:
                line = _Line(made_by.frame, made_by.file, i, i, {})
                self._visit(default, line, frozenset())
                return replace(step, line_event=i), queries + line.queries
        return step, queries

    def _explain_free(self, step: ValueCause, row: Row, name: str) -> tuple[ValueCause, list[Query]]:
        """The line that gave a variable of an enclosing function its value."""
        enclosing = row.function.rpartition(".<locals>.")[0]
        home = self._home(row, enclosing)
        for i in range(row.index - 1, -1, -1):
            made_by = self.rows[i]
            if not made_by.locals or f'"{name}"' not in made_by.locals or name not in loads(made_by.locals):
                continue
            inside = made_by.function.startswith(f"{enclosing}.<locals>.")
            if made_by.function != enclosing and not inside:
                continue
            if made_by.function == enclosing:
                if home is not None and made_by.frame != home:
                    continue
            elif made_by.kind == "call" or (
                home is not None
                and self._home(self.rows[self._began(made_by.frame, i)], enclosing) not in (home, None)
            ):
                continue
            slot = Slot("local", made_by.frame, name)
            return self._explain_change(replace(step, event=i), Read(step.expression, slot, i), None)
        reason = f"it is a variable of {enclosing or 'the module'}, and no recorded event changed it"
        return replace(step, unknown=reason, **self._where(row)), []

    def _began(self, frame: int, index: int) -> int:
        """The first event of a frame, up to an event."""
        first = index
        for i in range(index, -1, -1):
            if self.rows[i].frame == frame:
                first = i
                if self.rows[i].kind == "call":
                    break
        return first

    def _home(self, row: Row, enclosing: str) -> int | None:
        """The frame of the enclosing function that defined the function of a call, if that is known."""
        caller = loads(row.caller) if row.caller else None
        if caller is None or "at" not in caller:
            return None
        line = self._line(caller["frame"], row.index)
        nodes = self.statements.nodes(line.file, tuple(caller["at"])) if line is not None else []
        for node in nodes:
            if line is None or not isinstance(node, ast.Call):
                continue
            number = self._object(node.func, line.frame, line.before)
            if number is None:
                return None
            quoted = f'"{number}":{{"kind"'
            for i in range(row.index):
                made_by = self.rows[i]
                if made_by.objects and quoted in made_by.objects:
                    return made_by.frame if made_by.function == enclosing else None
        return None


_NOTHING: Any = object()


def _is_ref(value: Encoded) -> bool:
    return isinstance(value, dict) and "ref" in value


def _parameters(definition: Any) -> list[str]:
    if definition is None:
        return []
    arguments = definition.args
    parts = [
        *arguments.posonlyargs,
        *arguments.args,
        arguments.vararg,
        *arguments.kwonlyargs,
        arguments.kwarg,
    ]
    return [part.arg for part in parts if part is not None]


def _default(definition: Any, name: str) -> Any:
    """The expression of a parameter's default; None if it has none."""
    arguments = definition.args
    positional = [part.arg for part in (*arguments.posonlyargs, *arguments.args)]
    if name in positional:
        position = positional.index(name) - len(positional)
        return arguments.defaults[position] if -position <= len(arguments.defaults) else None
    for part, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if part.arg == name:
            return default
    return None
