"""The reference tracer: defines a trace in readable Python. The native tracer is the fast one.

It uses `sys.settrace`, whose reports differ between 3.11 and 3.15, and makes the same events of them on all
versions (docs/reference/format.md defines them):

- A comprehension never has a separate frame (PEP 709). Its further items are `line` events of the enclosing
  frame, which has its variables while it runs.
- A StopIteration that ends a `for` loop or an `await` is not an event.
- `return` of settrace becomes a return, a yield, or an unwind by an exception.
- A generator that is closed where no handler could notice it has no events for that.

At `Granularity.INSTRUCTION` there is also an `instruction` event before each instruction. The other events
are the same for both granularities.

The tracer does not follow C code. Near the recursion limit it stops, because the interpreter removes a trace
function that it cannot call. It also stops if the process makes a second interpreter. The trace says so.
"""

import builtins
import ctypes
import threading
import types
from types import CodeType, FrameType
from typing import Any

from deskcheck.recording.trace import Kind
from deskcheck.tracer.base import (
    C_NAMES,
    HIDDEN_GLOBALS,
    KEEPS_ROOTS,
    OPERAND_TYPES,
    FrameCallback,
    Guest,
    Local,
    c_name,
)
from deskcheck.tracer.frames import (
    EMPTY,
    CodeFacts,
    FrameView,
    detach_loops,
    end_loops,
    facts,
    forget_loops,
    place_text,
)
from deskcheck.tracer.instructions import ASKS_NEXT, GOES_ON, LOOP_ENDS, RETURNS, YIELDS
from deskcheck.tracer.limits import Granularity
from deskcheck.tracer.snapshot import (
    UNBOUND,
    Snapshotter,
    is_iterator,
    json_object,
    qualified_name,
    runs_in,
    text_of,
    unwrapped,
)

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))

KEPT_NUMBERS = 1000
"""Number of objects of ended frames that keep their numbers until the next event of the calling frame. If C
code calls back often before that, only the latest ones keep them."""
_GENERATES = 0x20 | 0x80 | 0x200
"""CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR: frames that can be left and resumed."""
_newest_interpreter: Any = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyInterpreterState_Head", ctypes.pythonapi))
_MAIN_INTERPRETER = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyInterpreterState_Main", ctypes.pythonapi))()


class _Frame:
    """The tracer's record of an open frame. It does not hold the frame, which would keep its locals alive."""

    def __init__(self, code: CodeType, file: str) -> None:
        self.number = -1
        self.code = code
        self.facts: CodeFacts = facts(code)
        self.file = file
        self.locals: dict[str, str] = {}
        self.stack: list[str] = []
        self.refs: tuple[int, ...] = ()
        self.stack_refs: tuple[int, ...] = ()
        self.via: str | None = None
        """The C function or library code that called or resumed it last."""
        self.ended_refs: list[int] = []
        """Objects of ended frames that it called. They keep their numbers until its next event."""
        self.active = self.bypassed = False
        """`active`: whether it is in the thread's `active`. `bypassed`: whether only because of a `throw` to
        the generator that it delegates to."""
        self.last_line = 0
        self.last_offset = -1
        self.line = 0
        """Line of the last event. `last_line` and `last_offset` ignore instruction events."""
        self.propagating = False
        self.closing = False
        self.pending: Kind | None = None
        self.unfolding = False
        self.after_comprehension = False
        self.counts: dict[tuple[int | str, ...], int] = {}
        """(kind, place) -> number of events so far, if repetitions are limited."""
        self.repeats = False
        """Whether its last event exceeded the limit and is left out. Then its calls are left out, too."""
        self.skipped = False
        """Whether its last resume is left out. Then all its events are left out until it yields."""


class ReferenceTracer(Guest):
    """Traces through `sys.settrace`; `emit` gets a block for each event."""

    name = "reference"

    def _set_up(self) -> None:
        self._threads: dict[int, _Thread] = {}
        self._files: dict[int, tuple[CodeType, str | None]] = {}
        """Address of a code object -> the code object, and the name of its file if it is recorded."""

    def file_of(self, code: CodeType) -> str | None:
        """Name of a code object's file in events; None if the code is not recorded."""
        file = self.scope.get(code.co_filename)
        if file is None or not self.limits.only:
            return file
        entry = self._files.get(id(code))
        if entry is None:
            chosen = self.limits.chooses(file, qualified_name(code.co_qualname))
            entry = self._files[id(code)] = code, file if chosen else None
        return entry[1]

    def wrote(self, text: str) -> None:
        if self.is_on:
            self._thread().output.append(text)

    def _attach(self) -> None:
        self._real[0](self._thread().on_call)

    def _follow(self, frame: FrameType, notify: FrameCallback) -> None:
        thread = self._thread()
        thread.on_call(frame, "call", None)

        def local(frame: FrameType, event: str, arg: Any) -> Local:
            thread.on_event(frame, event, arg)
            if event in ("exception", "return"):
                notify(event, arg)
            return local

        frame.f_trace = local
        if frame.f_code.co_flags & _GENERATES:
            thread.followed = id(frame), local

    def _close(self) -> None:
        forget_loops()
        for thread in list(self._threads.values()):
            thread.snapshots.clear()

    def _thread(self) -> "_Thread":
        ident = threading.get_ident()
        thread = self._threads.get(ident)
        if thread is None:
            with self._lock:
                thread = self._threads[ident] = _Thread(self, len(self._threads))
        return thread

    def _thread_started(self, frame: FrameType, event: str, arg: Any) -> Local | None:
        # A dead thread's ident may be used again.
        ident = threading.get_ident()
        thread = self._threads.get(ident)
        if thread is None or thread.active or thread.index:
            with self._lock:
                number = max((t.number for t in self._threads.values()), default=-1) + 1
                self._threads[ident] = thread = _Thread(self, number)
        self._user.function = self._user_thread_function
        self._real[0](thread.on_call)
        return thread.on_call(frame, event, arg)

    def _is_on_here(self) -> bool:
        function = self._real[1]()
        return type(function) is types.MethodType and type(function.__self__) is _Thread

    def _user_settrace(self, function: Any) -> None:
        if self._is_on_here():
            self._user.function = function
        else:
            if function != self._thread_started:  # which `threading` sets where a thread begins
                self._thread().untraced = True
            self._real[0](function)

    def write(self, line: str) -> None:
        with self._lock:
            self.emit(line.encode("utf-8", "surrogatepass"))

    def give_up(self, reason: str, failure: BaseException | None = None) -> None:
        super().give_up(reason, failure)
        self._real[0](self.user_function)


class _Thread:
    """The trace of one thread."""

    def __init__(self, tracer: ReferenceTracer, number: int) -> None:
        self.tracer = tracer
        self.followed: tuple[int, Local] | None = None
        """Address of a generator's frame that is followed (`Guest.start`), and its local trace function."""
        self.number = number
        self.index = 0
        self.output: list[str] = []
        self.left_out = {"deep": 0, "repeated": 0, "called": 0}
        """Counts of omissions since the last event (docs/reference/format.md, *Gaps*)."""
        self.untraced = False
        """Whether the interpreter removed our trace function and the program set another one. Then our local
        trace functions, which frames still have, do nothing."""
        self.frames: dict[int, _Frame | tuple[_Frame, int]] = {}
        """`id` of a frame -> its record; for a comprehension's frame (enclosing record, last offset)."""
        self.active: list[_Frame] = []
        self.globals: dict[str, dict[str, str]] = {}
        self.global_refs: dict[str, tuple[int, ...]] = {}
        self.in_flight: tuple[int, ...] = ()
        self.ended_refs: list[int] = []
        """Like that of a frame, if no recorded frame is on the stack."""
        self.dirty = False
        self.unsure = False
        """Whether code that is not recorded got objects since the last event, and may have released them."""
        self.next_frame = 0
        self.user_local: dict[int, Any] = {}
        self.raised: dict[int, int] = {}
        """`id` of a frame -> offset of an exception that no line event has followed yet."""
        self.snapshots = Snapshotter(tracer.limits, tracer.modules, self._number_of)
        self.snapshots.is_recorded = lambda code: tracer.file_of(code) is not None  # type: ignore[method-assign]

    def _number_of(self, frame: FrameType) -> int | None:
        record = self.frames.get(id(frame))
        return record.number if isinstance(record, _Frame) and record.code is frame.f_code else None

    # -- what settrace calls -----------------------------------------------------------------------

    def on_call(self, frame: FrameType, event: str, arg: Any) -> Local | None:
        """The global trace function: a frame begins or is resumed."""
        code = frame.f_code
        file = self.tracer.file_of(code)
        recorded = file is not None and self.tracer.cut is None and self.tracer.is_on
        if recorded and file is not None:
            try:
                self._call(frame, code, file)
            except Exception as error:
                self._failed(error)
        user = self.tracer.user_function
        if user is not None:
            self.user_local[id(frame)] = user(frame, event, arg)
            return self.on_event
        if recorded and self.followed is not None and self.followed[0] == id(frame):
            return self.followed[1]
        return self.on_event if recorded else None

    def on_event(self, frame: FrameType, event: str, arg: Any) -> Local:
        """The local trace function: line, opcode, exception, return."""
        on = self.tracer.is_on and self.tracer.cut is None and not self.untraced
        if on and self.tracer.file_of(frame.f_code) is not None:
            try:
                self._event(frame, event, arg)
            except Exception as error:
                self._failed(error)
        if self.user_local:
            local = self.user_local.get(id(frame))
            if local is not None and event != "opcode":
                self.user_local[id(frame)] = local(frame, event, arg)
            if event == "return":
                self.user_local.pop(id(frame), None)
        return self.on_event

    def _failed(self, error: Exception) -> None:
        detach_loops()
        # ctypes reports the error of a conversion as ArgumentError, by its text.
        if isinstance(error, RecursionError) or "RecursionError" in str(error):
            self.tracer.give_up("recursion")
        else:
            self.tracer.give_up("failure", error)

    # -- from settrace's events to ours ------------------------------------------------------------

    def _call(self, frame: FrameType, code: CodeType, file: str) -> None:
        about = facts(code)
        if about.needs_opcodes or self.tracer.granularity is Granularity.INSTRUCTION:
            frame.f_trace = self.on_event  # 3.13 forgets f_trace_opcodes on a frame without one
            frame.f_trace_opcodes = True
        if self._leaves_out(frame, about):
            return
        if about.is_comprehension:
            enclosing = self._recorded(frame.f_back)
            if enclosing is not None:
                self.frames[id(frame)] = (enclosing, -1)
                return
        view = FrameView(frame)
        op = about.opname.get(view.offset, "")
        begins = view.offset <= about.first_resume
        record = self.frames.get(id(frame))
        if begins or not isinstance(record, _Frame) or record.code is not code:
            record = _Frame(code, file)
            self.frames[id(frame)] = record
        record.skipped = record.repeats = self._in_gap()
        if not begins:
            self._enter_bypassed(frame)
        self._enter(record)
        record.propagating = record.closing = False
        record.pending = Kind.CALL if begins else Kind.RESUME
        if op in GOES_ON:  # else an exception is thrown in: the next event shows it
            self._flush(frame, record)

    def _enter(self, record: _Frame, *, bypassed: bool = False) -> None:
        record.active, record.bypassed = True, bypassed
        self.active.append(record)

    def _enter_bypassed(self, frame: FrameType) -> None:
        """Enter the generators that a `throw` bypasses: it resumes only the generator that they delegate to.

        Their frames are shown as callers, so that their objects have to stay known.
        """
        bypassed = []
        below = frame.f_back
        while below is not None:
            record = self._recorded(below)
            if record is not None:
                if record.active:
                    break
                bypassed.append(record)
            below = below.f_back
        for record in reversed(bypassed):
            self._enter(record, bypassed=True)

    def _leaves_out(self, frame: FrameType, about: CodeFacts) -> bool:
        """Whether to leave out a frame that begins or is resumed: it is too deep, or called in a gap.

        A frame that was recorded before is not left out. A comprehension's frame follows the enclosing one.
        """
        depth = self.tracer.limits.call_depth
        deep = depth is not None and len(self.active) >= depth
        if not deep and not self._in_gap():
            return False
        if about.is_comprehension:
            if self._recorded(frame.f_back) is not None:
                return False
        else:
            record = self.frames.get(id(frame))
            begins = FrameView(frame).offset <= about.first_resume
            if not begins and isinstance(record, _Frame) and record.code is frame.f_code:
                return False
            self.left_out["deep" if deep else "called"] += 1
        self.frames.pop(id(frame), None)
        return True

    def _in_gap(self) -> bool:
        """Whether the calling frame exceeds its limit of repetitions."""
        return bool(self.active) and self.active[-1].repeats

    def _repeats(self, kind: Kind, record: _Frame, frame: FrameType, line: int | None) -> bool:
        """Whether an event is left out because the frame had too many similar ones.

        The beginning and end of a frame are never left out, nor is a yield whose resume is recorded.
        """
        limit = self.tracer.limits.repetitions
        if limit is None or kind in (Kind.CALL, Kind.RETURN, Kind.UNWIND):
            return False
        if not record.skipped and kind is not Kind.YIELD:
            instruction = kind is Kind.INSTRUCTION
            key = (kind, id(frame.f_code), frame.f_lasti) if instruction else (kind, line or 0)
            record.counts[key] = count = record.counts.get(key, 0) + 1
            record.repeats = count > limit
            record.skipped = record.repeats and kind is Kind.RESUME
        elif kind is Kind.YIELD:
            record.repeats = record.skipped
        if record.repeats:
            self.left_out["repeated"] += 1
            self._note_place(kind, record, FrameView(frame), line)
        return record.repeats

    def _note_place(self, kind: Kind, record: _Frame, top: FrameView, line: int | None) -> int:
        """Remember the place of the frame's last event; returns its line."""
        if line is None:  # an instruction without a line belongs to the last one
            line = record.last_line or record.facts.first_line
        record.line = line
        if kind is not Kind.INSTRUCTION:
            record.last_line, record.last_offset = line, top.offset if top.code is record.code else -1
        return line

    def _recorded(self, frame: FrameType | None) -> _Frame | None:
        """The record of a frame; for a comprehension's frame that of the enclosing one.

        Never the record of an earlier frame that ended unnoticed at the same address.
        """
        record = self.frames.get(id(frame))
        if record is None or frame is None:
            return None
        if isinstance(record, tuple):
            return record[0] if facts(frame.f_code).is_comprehension else None
        return record if record.code is frame.f_code else None

    def _event(self, frame: FrameType, event: str, arg: Any) -> None:
        record = self.frames.get(id(frame))
        if record is None:
            return
        if event == "exception":
            if self._ends_loop(frame, arg):
                return
            self.raised[id(frame)] = FrameView(frame).offset
        elif event != "opcode" and id(frame) in self.raised:
            view = FrameView(frame)
            raises_again = event == "line" and view.offset in view.facts.raises_again
            waits = event == "return" and view.facts.opname.get(view.offset) in YIELDS
            if not raises_again and not waits:
                del self.raised[id(frame)]
        if isinstance(record, tuple):
            self._comprehension(frame, event, arg, *record)
        elif event == "line":
            self._line(frame, record)
        elif event == "opcode":
            if frame.f_lasti in record.facts.missed_lines:
                self._event(frame, "line", None)
            if record.facts.needs_opcodes:
                self._opcode(frame, record)
            self._instruction(frame, record)
        elif event == "exception":
            self._exception(frame, record, arg)
        elif event == "return":
            self._return(frame, record, arg)

    def _line(self, frame: FrameType, record: _Frame) -> None:
        about, offset, line = record.facts, FrameView(frame).offset, frame.f_lineno
        op = about.opname.get(offset, "")
        if about.comprehension_at(offset) is not None:
            record.after_comprehension = True
            return
        if op == "CLEANUP_THROW" or offset in about.unwritten:
            return
        if about.enters_comprehension(offset):
            record.last_line, record.after_comprehension = line, True
            return
        if record.after_comprehension:
            record.after_comprehension = False
            jumped = about.name_at(offset) in ("FOR_ITER", "JUMP_BACKWARD") or offset < record.last_offset
            if line == record.last_line and not jumped:
                return
        further_on_line = line == record.last_line and offset > record.last_offset
        if further_on_line and offset in about.reported_again and not record.propagating:
            return
        self._flush(frame, record)
        record.propagating = False
        self._emit(Kind.LINE, record, frame, line)

    def _opcode(self, frame: FrameType, record: _Frame) -> None:
        """Inside an inlined comprehension, a jump back asks for the next item."""
        offset = frame.f_lasti
        inside = record.facts.comprehension_at(offset)
        if inside is None:
            record.last_offset = offset
            return
        record.after_comprehension = True
        jumped = offset < record.last_offset
        if jumped and record.facts.name_at(offset) in ASKS_NEXT:
            record.propagating = False
            self._emit(Kind.LINE, record, frame, inside[2])
        record.last_offset = offset

    def _instruction(self, frame: FrameType, record: _Frame) -> None:
        """An instruction is about to run in the frame of `record`, or in a comprehension's inside it."""
        if self.tracer.granularity is not Granularity.INSTRUCTION or record.pending is not None:
            return
        about, offset = facts(frame.f_code), frame.f_lasti
        text = about.instruction(offset)
        if text is not None:
            line = about.positions[offset // 2][0] or record.line
            self._emit(Kind.INSTRUCTION, record, frame, line, instruction=text)

    def _comprehension(self, frame: FrameType, event: str, arg: Any, enclosing: _Frame, last: int) -> None:
        """An event in the frame of a comprehension on 3.11. It belongs to the enclosing frame."""
        if event == "opcode":
            offset = frame.f_lasti
            if offset < last and facts(frame.f_code).name_at(offset) in ASKS_NEXT:
                self._emit(Kind.LINE, enclosing, frame, frame.f_code.co_firstlineno)
            self.frames[id(frame)] = (enclosing, offset)
            self._instruction(frame, enclosing)
        elif event == "exception":
            if not enclosing.unfolding:
                self._emit(Kind.RAISE, enclosing, frame, frame.f_lineno, value=arg[1])
                enclosing.propagating = True
            else:
                enclosing.unfolding = False
        elif event == "return":
            self.frames.pop(id(frame), None)
            enclosing.after_comprehension = True
            enclosing.unfolding = enclosing.propagating

    def _ends_loop(self, frame: FrameType, arg: Any) -> bool:
        if not issubclass(arg[0], (StopIteration, StopAsyncIteration)):
            return False
        view = FrameView(frame)
        return view.facts.opname.get(view.offset) in LOOP_ENDS

    def _exception(self, frame: FrameType, record: _Frame, arg: Any) -> None:
        if record.unfolding:  # already reported when it passed through the comprehension
            record.unfolding = False
            return
        if record.pending is not None and arg[0] is GeneratorExit and self._closes_unseen(frame, record):
            return
        record.closing = record.pending is not None and arg[0] is GeneratorExit
        self._flush(frame, record)
        self._emit(Kind.RAISE, record, frame, frame.f_lineno, value=arg[1])
        record.propagating = True

    def _closes_unseen(self, frame: FrameType, record: _Frame) -> bool:
        """Whether some version closes the generator without running it.

        3.13 does if no handler covers the yield, except for a lambda. 3.12 does if the generator has not
        begun.
        """
        if record.code.co_name == "<lambda>" and FrameView(frame).offset > record.facts.first_resume:
            return False
        offset = FrameView(frame).offset
        return not any(start <= offset < end + 2 for start, end in record.facts.guarded)

    def _flush(self, frame: FrameType, record: _Frame) -> None:
        """Write the call or resume event, delayed until it is clear whether an exception is thrown in."""
        kind, record.pending = record.pending, None
        if kind is None:
            return
        if record.number < 0:
            record.number = self.next_frame
            self.next_frame += 1
        self._emit(kind, record, frame, record.facts.first_line if kind is Kind.CALL else frame.f_lineno)

    def _return(self, frame: FrameType, record: _Frame, arg: Any) -> None:
        if record.pending is not None:  # closed unseen
            record.pending = None
            self._leave(frame, record)
            return
        op = record.facts.opname.get(FrameView(frame).offset, "")
        if op in RETURNS:
            kind = Kind.RETURN
        elif op in YIELDS and not record.propagating:
            kind = Kind.YIELD
        else:
            kind = Kind.UNWIND
        if kind is Kind.UNWIND:
            self._emit(kind, record, frame, frame.f_lineno)
        else:
            self._emit(kind, record, frame, frame.f_lineno, value=unwrapped(arg))
        self._leave(frame, record, keep=kind is Kind.YIELD)

    def _leave(self, frame: FrameType, record: _Frame, *, keep: bool = False) -> None:
        self._leave_active(record)
        if not keep:
            self.frames.pop(id(frame), None)
        while self.active and self.active[-1].bypassed:
            self._leave_active(self.active[-1])

    def _leave_active(self, record: _Frame) -> None:
        if self.active and self.active[-1] is record:
            self.active.pop()
            record.active = False
        ended_refs = self.active[-1].ended_refs if self.active else self.ended_refs
        ended_refs += (*record.ended_refs, *record.refs, *self.in_flight)
        if len(ended_refs) > 2 * KEPT_NUMBERS:
            del ended_refs[:-KEPT_NUMBERS]
        record.ended_refs.clear()
        self.dirty = True
        self.unsure |= record.via is not None

    # -- the event itself --------------------------------------------------------------------------

    def _emit(self, kind: Kind, record: _Frame, frame: FrameType, line: int, **extra: Any) -> None:
        """Write one event of `record`. `frame` is its frame, or a comprehension's inside it."""
        if kind is not Kind.RAISE:
            end_loops(frame, over=kind in (Kind.RETURN, Kind.UNWIND))
        if self._repeats(kind, record, frame, line):
            return
        if self.index >= self.tracer.limits.events:
            self.tracer.give_up("events")
            return
        if _newest_interpreter() != _MAIN_INTERPRETER:
            self.tracer.give_up("subinterpreters")
            return
        snapshots = self.snapshots
        # Before new objects get numbers: one may be at the address of an object that has ended.
        dead = [*self._forget_unsure(), *self._forget()] if self.dirty else []
        snapshots.begin()
        views = self._views(frame)
        top = views[-1]
        shows_stack = kind in (Kind.CALL, Kind.LINE, Kind.RESUME, Kind.YIELD)
        stack = [value for view in views[:-1] for value in view.pending()]
        if kind is Kind.INSTRUCTION:
            shows_stack = True
            stack += top.whole_stack()
        elif shows_stack:
            stack += top.stack(yields=kind is Kind.YIELD)
        if kind is Kind.RESUME and stack:
            extra = {"value": stack.pop()}
        changed, stack_text = self._frame_changes(record, _merged(views), stack if shows_stack else None)
        caller = self._caller(record, frame) if kind in (Kind.CALL, Kind.RESUME) else None
        value_text, self.in_flight = None, ()
        if "value" in extra:
            (value_text,), self.in_flight = snapshots.roots([extra["value"]])
        global_changes = self._global_changes(record, frame)
        objects = snapshots.finish()
        if objects or changed or stack_text or global_changes or record.ended_refs or self.ended_refs:
            record.ended_refs.clear()
            self.ended_refs.clear()
            dead += self._forget()
        objects.update((number, "null") for number in sorted(dead))
        line = self._note_place(kind, record, top, line)
        output = "".join(self.output) or None
        self.output.clear()
        left_out = {what: str(count) for what, count in self.left_out.items() if count}
        self.left_out = dict.fromkeys(self.left_out, 0)
        columns = (
            json_object(changed) if changed else None,
            stack_text,
            json_object(global_changes) if global_changes else None,
            "{" + ",".join([f'"{n}":{c}' for n, c in objects.items()]) + "}" if objects else None,
            caller,
            value_text,
            output,
            extra.get("instruction"),
            json_object(left_out) if left_out else None,
        )
        offset = top.offset
        head = (
            f'[{self.number},{self.index},"{kind}",{record.number},{text_of(qualified_name(record.code.co_qualname))},'
            f"{text_of(record.file)},{line},{offset}"
        )
        self.index += 1
        detach_loops()
        self.tracer.write(head + "".join([f",{text_of(c)}" if c else ",null" for c in columns]) + "]")

    def _views(self, frame: FrameType) -> list[FrameView]:
        """The frame, and for a comprehension's frame the enclosing ones: outermost first."""
        views = [FrameView(frame)]
        while isinstance(self.frames.get(id(frame)), tuple) and frame.f_back is not None:
            frame = frame.f_back
            views.insert(0, FrameView(frame))
        return views

    def _frame_changes(
        self, record: _Frame, values: dict[str, Any], stack: list[Any] | None
    ) -> tuple[dict[str, str], str | None]:
        """Encode a frame's variables and stack; returns the changes since its last event."""
        texts, refs = self.snapshots.roots(values.values())
        now = dict(zip(values, texts, strict=True))
        changed = {name: text for name, text in now.items() if record.locals.get(name) != text}
        changed.update({name: UNBOUND for name in record.locals if name not in now})
        record.locals = now
        stack_text = None
        if stack is not None:
            filled, record.stack_refs = self.snapshots.roots([v for v in stack if v is not EMPTY])
            texts_left = iter(filled)
            stack_texts = [UNBOUND if v is EMPTY else next(texts_left) for v in stack]
            if stack_texts != record.stack:
                record.stack = stack_texts
                stack_text = f"[{','.join(stack_texts)}]"
        record.refs = refs + record.stack_refs
        return changed, stack_text

    def _unwinds(self, view: FrameView) -> bool:
        """Whether an exception is emptying the stack of a frame.

        It was raised by the current instruction, or passes through one that ends a loop or a `throw`.
        """
        raised = self.raised.get(id(view.frame))
        at = view.facts.opname.get(view.offset)
        return raised is not None and (raised == view.offset or at in ("END_ASYNC_FOR", "CLEANUP_THROW"))

    def _caller(self, record: _Frame, frame: FrameType) -> str | None:
        """The state of the calling frame: its expression, the values that it has computed, and the C function
        or library code that makes the call."""
        calling, via = frame.f_back, None
        while calling is not None and self._recorded(calling) is None:
            via = qualified_name(calling.f_code.co_qualname)
            calling = calling.f_back
        record.via = via
        parent = self._recorded(calling)
        if calling is None or parent is None or parent is record:
            return None
        views = self._views(calling)
        top = views[-1]
        # A destructor may run while the operands are being released: use only their addresses.
        freeing = record.closing or record.code.co_name == "__del__" or self._unwinds(top)
        operands = [] if freeing else top.operands(OPERAND_TYPES)
        if via is None:
            via = c_name(operands[0]) if operands else C_NAMES.get(top.callable_address())
        record.via = via
        stack = []
        for view in views:
            stack += view.pending(unwinding=self._unwinds(view))
        if via is not None:
            stack += [operand for operand in operands if is_iterator(operand) and not runs_in(operand, frame)]
        changed, stack_text = self._frame_changes(parent, _merged(views), stack)
        parts = [f'"frame":{parent.number}', f'"offset":{top.offset}']
        position = place_text(top.facts.positions[top.offset // 2])
        if position is not None:
            parts.append(position)
        if via is not None:
            parts.append(f'"via":{text_of(via)}')
        if changed:
            parts.append(f'"locals":{json_object(changed)}')
        if stack_text is not None:
            parts.append(f'"stack":{stack_text}')
        return "{" + ",".join(parts) + "}"

    def _global_changes(self, record: _Frame, frame: FrameType) -> dict[str, str]:
        names = {
            name: value
            for name, value in list(frame.f_globals.items())
            if type(name) is str
            and name not in HIDDEN_GLOBALS
            and name not in self.tracer.hidden
            and type(value) is not types.ModuleType
        }
        texts, refs = self.snapshots.roots(names.values())
        now = dict(zip(names, texts, strict=True))
        earlier = self.globals.get(record.file, {})
        changed = {name: text for name, text in now.items() if earlier.get(name) != text}
        changed.update({name: UNBOUND for name in earlier if name not in now})
        self.globals[record.file] = now
        self.global_refs[record.file] = refs
        return changed

    def _held(self) -> list[int]:
        """Numbers of the objects that variables and value stacks refer to."""
        numbers = [ref for frame in self.active for ref in frame.refs]
        numbers += [ref for refs in self.global_refs.values() for ref in refs]
        for record in self.frames.values():
            if isinstance(record, _Frame) and record.code.co_flags & KEEPS_ROOTS:
                numbers += record.refs
        return numbers

    def _forget_unsure(self) -> list[int]:
        """Forget objects whose death is not noticed and that no variable leads to, if other code had them.

        Objects of ended frames lose their numbers too, because they may lead to dead ones.
        """
        if not self.snapshots.die_unseen:
            self.unsure = False
            return []
        self.ended_refs.clear()
        for frame in self.active:
            frame.ended_refs.clear()
        if not self.unsure:
            return []
        self.unsure = False
        return self.snapshots.forget_unsure(self._held())

    def _forget(self) -> list[int]:
        """Forget the objects that nothing recorded refers to any more."""
        self.dirty = False
        ended_refs = [ref for frame in self.active for ref in frame.ended_refs]
        return self.snapshots.forget_unreachable(
            [*self._held(), *self.in_flight, *self.ended_refs, *ended_refs]
        )


def _merged(views: list[FrameView]) -> dict[str, Any]:
    """Variables of a frame and of the comprehensions running in it: parameters, then by name."""
    values = views[0].locals()
    if len(views) == 1:
        return values
    for view in views[1:]:
        for name in view.code.co_varnames:
            values.pop(name, None)
        values.update(view.locals())
    ordered = {name: values.pop(name) for name in views[0].facts.parameters if name in values}
    return {**ordered, **{name: values[name] for name in sorted(values)}}
