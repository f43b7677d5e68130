"""Records chosen calls of a project's own functions in the process of its tests.

An `Observer` gets every call (`sys.monitoring` from 3.12 on, `sys.setprofile` on 3.11) and describes the
arguments of a few. A call with new arguments may be drawn. A new tracer then records it with the calls inside
it. Needs only the standard library, `recording` and `tracer`, and runs no code of the project itself.
"""

import fnmatch
import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

from deskcheck.recording import block
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.trace import Kind
from deskcheck.recording.value import Value, decode, render
from deskcheck.tracer import tracer_class
from deskcheck.tracer.arguments import is_literal, telling
from deskcheck.tracer.callables.reached import reached_from
from deskcheck.tracer.callables.texts import Code, name_of, texts_of
from deskcheck.tracer.contents.introspection import bases_of, module_of
from deskcheck.tracer.frame_hook import frame_hook
from deskcheck.tracer.frames import FrameView
from deskcheck.tracer.limits import TraceLimits
from deskcheck.tracer.result import exception_text, snapshot
from deskcheck.tracer.snapshot import Snapshotter, fields_of, know_enum, qualified_name

ARGUMENT_CHARS = 2000
"""A call whose arguments need more text than this is not recorded."""
LOOKS = 200
"""Number of first calls of a function to examine. Later, the n-th call is examined with chance LOOKS / n."""
IDLE = 200_000
"""Number of consecutive calls, of any code, that are not examined. After that, the test is not watched."""
FIRST_CALLS = 2
"""Number of recorded calls of a function that may use the reserved CPU time (`Pace.first_s`)."""
GIVEN_UP = 2
"""A function is not recorded once calls that were too long exceed the others by this number."""

CALL_BYTES, CALL_S = 4 << 20, 10.0
"""A call whose events take more bytes, or that takes longer under the tracer, is left out."""
_RESULT_CHARS = 2 << 20
"""Largest size of the output and the result of a call. A character may take six bytes or more."""

_ARGUMENT_LIMITS = TraceLimits(items=200, text_chars=ARGUMENT_CHARS, depth=20, objects=300)
_RESULT_LIMITS = TraceLimits(items=10_000, text_chars=100_000)
_GENERATES = 0x20 | 0x80 | 0x200
"""CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR: a call only makes the object."""
_OPTIMIZED = 0x1
_NOT_OURS = frozenset({"site-packages", "dist-packages", "node_modules", "tests", "test"})
_gettrace = sys.gettrace
_namespace = vars(ModuleType)["__dict__"].__get__
"""Gives the namespace of a module, even if the module defines `__getattribute__`."""


class Project:
    """Recognises the project's own code: the files below its root, or the named packages.

    Test files (the patterns of pytest's ``python_files``, conftest.py, folders called test or tests), virtual
    environments and hidden folders do not count.
    """

    def __init__(self, root: str, packages: Iterable[str], patterns: Iterable[str] = ()) -> None:
        self.root = os.path.realpath(root)
        self.packages = frozenset(packages)
        self.patterns = ["conftest.py", "setup.py", *patterns]
        self._owned: dict[str, bool] = {}
        self._environments: dict[str, bool] = {}
        self.modules: dict[str, tuple[str, str]] = {}
        """Imported modules of the project by name, as (file as its code names it, name in events)."""
        self.beside: set[str] = set()
        """The project's test modules. Their objects are described too."""
        self.untold: list[str] = []
        """Modules of the project that the observer has not reported yet."""
        self._looked_at = 0

    def owns(self, filename: str) -> bool:
        """Whether the code of this file is the project's own. Imported modules decide that for packages."""
        is_own = self._owned.get(filename)
        if is_own is None:
            is_own = self._owned[filename] = self._owns(filename)
        return is_own

    def _owns(self, filename: str) -> bool:
        if not filename.endswith(".py"):
            return False
        if self.packages:
            self.find_new_modules()
            return any(file == filename for file, _ in self.modules.values())
        return self._below_root(filename)

    @property
    def looked_into(self) -> set[str]:
        """Modules whose classes and functions are shown with their state."""
        return {*self.modules, *self.beside}

    def places(self, codes: Sequence[Code]) -> dict[str, list[str]]:
        """Qualified names of these definitions and of their base classes, by module as named in events."""
        names_by_module: dict[str, list[str]] = {}
        extended = (base for code in codes if type(code) is not FunctionType for base in bases_of(code))
        for code in dict.fromkeys([*codes, *filter(self.holds, extended)]):
            module = code.__globals__["__name__"] if type(code) is FunctionType else module_of(code)
            names_by_module.setdefault(self.modules[str(module)][1], []).append(name_of(code))
        return names_by_module

    def holds(self, code: Code) -> bool:
        """Whether a module of the project has this function or class under its own name."""
        if type(code) is not FunctionType:
            return module_of(code) in self.modules
        is_own = code.__globals__.get("__name__") in self.modules
        return is_own and name_of(code) == qualified_name(code.__code__.co_qualname)

    def _lies_below_root(self, filename: str) -> bool:
        """Whether a file belongs to the project or its tests, and is not installed there."""
        path = os.path.realpath(filename)
        return (
            path.startswith(self.root + os.sep)
            and not {"site-packages", "dist-packages"} & set(path.split(os.sep))
            and not self._in_environment(os.path.dirname(path))
        )

    def _below_root(self, filename: str) -> bool:
        path = os.path.realpath(filename)
        inside = os.path.relpath(path, self.root)
        parts = inside.split(os.sep)
        if parts[0] == os.pardir or _NOT_OURS & set(parts[:-1]) or any(p.startswith(".") for p in parts):
            return False
        return not self._is_test(path) and not self._in_environment(os.path.dirname(path))

    def _is_test(self, path: str) -> bool:
        name = os.path.basename(path)
        return any(fnmatch.fnmatch(path if "/" in p else name, p) for p in self.patterns)

    def _in_environment(self, folder: str) -> bool:
        """Whether a folder is in a virtual environment below the root."""
        is_inside = self._environments.get(folder)
        if is_inside is None:
            above = os.path.dirname(folder)
            is_inside = os.path.exists(os.path.join(folder, "pyvenv.cfg")) or (
                len(folder) > len(self.root) and above != folder and self._in_environment(above)
            )
            self._environments[folder] = is_inside
        return is_inside

    def find_new_modules(self) -> None:
        """Find modules of the project that have been imported since the last call."""
        if len(sys.modules) == self._looked_at:
            return
        self._looked_at = len(sys.modules)
        for name, module in list(sys.modules.items()):
            if name in self.modules or name == "__main__" or not issubclass(type(module), ModuleType):
                continue
            names = _namespace(module)
            file = names.get("__file__")
            if type(file) is not str or names.get("__name__") != name:
                continue
            if self._is_own_module(name, file):
                self.modules[name] = (file, name.replace(".", "/") + ".py")
                self.untold.append(name)
            elif self._lies_below_root(file):
                self.beside.add(name)

    def _is_own_module(self, name: str, file: str) -> bool:
        if not file.endswith(".py"):
            return False
        if not self.packages:
            return self._below_root(file)
        parts = name.split(".")
        return parts[0] in self.packages and not _NOT_OURS & set(parts) and not self._is_test(file)


FunctionKey = tuple[str, str, int]
"""Module, qualified name and first line of a function. The functions of a property share their name."""


@dataclass(slots=True)
class _Function:
    """The state of one of the project's functions."""

    code: CodeType
    module: str
    label: str
    draws: int
    """The key for drawing its calls. A draw depends only on the key and the call's number (`_drawn`)."""
    why_not: str | None = None
    """The reason why its calls are not recorded by themselves."""
    kind: str = "other"
    """``function``, ``static`` or ``class`` if a lookup in the module gives exactly this code. Otherwise
    ``other``: a method, or a decorated function."""
    defaults: dict[str, Any] = field(default_factory=dict)
    owner: int = 0
    """The address of the class with a class method."""
    calls: int = 0
    digests_seen: set[str] = field(default_factory=set)
    """Digests of the examined arguments; `fresh` has those not reported yet."""
    fresh: list[str] = field(default_factory=list)
    recorded: int = 0
    given_up: int = 0
    too_long: int = 0
    """The number of calls with arguments that were too long."""
    next_look: int = 0
    """The number of the next call to examine."""
    test: str = ""
    """The last test that called it. The following fields are about this test."""
    time: int = 0
    not_drawn: int = 0
    to_record: frozenset[int] = frozenset()

    @property
    def key(self) -> FunctionKey:
        return self.module, self.code.co_qualname, self.code.co_firstlineno

    @property
    def so_far(self) -> tuple[int, int, int, int]:
        return self.recorded, self.given_up, self.too_long, self.next_look

    def go_on(self, calls: int, digests: list[str], so_far: tuple[int, int, int, int]) -> None:
        """Continue from the state at the end of an earlier run."""
        self.calls = calls
        self.digests_seen.update(digests)
        self.recorded, self.given_up, self.too_long, self.next_look = so_far


@dataclass(frozen=True, slots=True)
class _Arguments:
    """The arguments of a call, described."""

    text: str
    """The arguments as text in a call."""
    values: tuple[Value, ...]
    """The values, without an object that is still empty."""
    code: tuple[Code, ...]
    """The functions and classes that the values refer to."""
    hides: bool
    """Whether an object has state that is not shown."""
    numbers: dict[int, list[str | int]] | None
    """The parameter and the path to an object in the text, by number of the object."""
    literal: bool
    """Whether the text is Python code that makes the values again."""

    @property
    def digest(self) -> str:
        functions = [function for function in self.code if type(function) is FunctionType]
        places = (f"{f.__code__.co_filename}:{f.__code__.co_firstlineno}" for f in functions)
        return _digest("\n".join([self.text, *places]))

    def told(self, project: Project) -> dict[str, Any]:
        """The facts of a call about its arguments.

        Their form is ``literal``, ``shown`` (the text shows everything) or ``in part``. Further facts are the
        texts of functions and classes to show with them, and the names of definitions to show, by file.
        """
        if self.literal:
            return {"form": "literal"}
        texts, code = texts_of(self.code, project.holds)
        names = {*texts, *map(name_of, code)}
        # A class of the program's own need not be seen where only its objects are there.
        unseen = [part for part in self.code if name_of(part) not in names and not project.holds(part)]
        if unseen or self.hides or not all(telling(value, names) for value in self.values):
            return {"form": "in part", "numbers": self.numbers}
        return {
            "form": "shown",
            "functions": texts,
            "numbers": self.numbers,
            "needs": project.places(code),
        }


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _drawn(key: int, number: int) -> float:
    """A number between 0 and 1 that depends on every bit of the two numbers and nothing else (splitmix64)."""
    bits = (key + number * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
    return (((bits ^ bits >> 31) >> 11) + 0.5) / (1 << 53)


class Drawing(NamedTuple):
    """Limits for the calls to keep. A call in a used slot replaces the earlier call."""

    per_function: int
    """Largest number of calls of one function, lower if all functions together would exceed `budget`."""
    budget: int
    seed: int


class Observer:
    """Watches the main thread from `begin` to `end`, one test at a time.

    Args:
        send: takes (kind, JSON-able facts, blocks of events).
        to_record: record exactly these calls, given by test, module, function, its first line, and the number
            among its calls in the test.
        pace: see `suite.Pace`.
        earlier: facts from the earlier run that this one continues.
    """

    def __init__(
        self,
        project: Project,
        send: Callable[[str, dict[str, Any], list[bytes]], None],
        drawing: Drawing,
        *,
        limits: TraceLimits,
        to_record: frozenset[tuple[str, str, str, int, int]] | None = None,
        pace: dict[str, Any] | None = None,
        earlier: dict[str, Any] | None = None,
    ) -> None:
        self.project = project
        self.send = send
        self.per_function = drawing.per_function
        self.budget = drawing.budget
        self.limits = limits
        self.watched = to_record is None
        """Whether calls are drawn; otherwise certain calls are recorded."""
        self.to_record: dict[str, dict[FunctionKey, set[int]]] = {}
        self.left_of_wanted = Counter(key[0] for key in to_record or ())
        """The number of calls to record that have not begun, by test."""
        for of_test, module, name, line, which in to_record or ():
            self.to_record.setdefault(of_test, {}).setdefault((module, name, line), set()).add(which)
        self.seed = drawing.seed
        self.pace = pace
        self.allowed_s = pace["times"] * pace["start"] if pace else 0.0
        self.spent_s = 0.0
        self._began = 0.0
        earlier = earlier or {"left_out": {}, "recorded": 0, "functions": []}
        self.earlier_functions = {tuple(row[:3]): row[3:] for row in earlier["functions"]}
        self.met = set(self.earlier_functions)
        """The called functions whose calls can be drawn. Their number decides the calls to keep of each."""
        self.test = ""
        self.functions: dict[int, _Function] = {}
        self.called: list[_Function] = []
        """The functions that the test has called."""
        self.idle = 0
        self.left_out: Counter[str] = Counter(earlier["left_out"])
        self.recorded = earlier["recorded"]
        self._recording: _Recording | None = None
        self._thread = threading.get_ident()
        self._pid = os.getpid()
        self._hook = frame_hook(self._entered)
        os.register_at_fork(after_in_child=self._forked)

    def begin(self, test: str) -> None:
        """Watch from now on, while `test` is running."""
        if os.getpid() != self._pid:
            return
        if self.pace:
            self.allowed_s += self.pace["times"] * self.pace["cpu_s_by_test"].get(test, 0.0)
        self.test, self.idle = test, 0
        self.called.clear()
        if self.watched or self.left_of_wanted[test]:
            self._hook.on()

    def end(self) -> None:
        """Stop watching. An open recording, for example of a frame that was never left, is given up."""
        if os.getpid() == self._pid:
            self._hook.off()
            if self._recording is not None and not self._recording.is_over():
                self._recording.give_up("the call did not end with its test")

    def account(self) -> list[tuple[Any, ...]]:
        """The facts about each function that the test has called.

        These are the number of calls, the new arguments, and the counters that decide which of its next calls
        are drawn.
        """
        rows = []
        for function in self.called:
            rows.append((*function.key, function.time, function.fresh, function.so_far))
            function.fresh, function.test = [], ""
            if function.not_drawn:
                self.left_out["not drawn"] += function.not_drawn
                function.not_drawn = 0
        self.called.clear()
        return rows

    def wrote(self, text: str) -> None:
        """Note a text that was written to standard output."""
        recording = self._recording
        if recording is not None:
            recording.tracer.wrote(text)
            if threading.get_ident() == self._thread:
                recording.written.append(text)

    def _forked(self) -> None:
        self._hook.off()
        if self._recording is not None:
            self._recording.tracer.forget_thread()
            self._recording = None

    # -- a call begins -------------------------------------------------------------------------------

    def _entered(self, frame: FrameType) -> bool:
        """Handle the start of a frame. Returns whether later calls of this code are of interest."""
        code = frame.f_code
        function = self.functions.get(id(code))
        if function is None and not self.project.owns(code.co_filename):
            return self._nothing_done()
        try:
            return self._own_call(frame, function or self._function(frame, code))
        except Exception as error:  # ours must not become the program's
            self.left_out[_ours(error)] += 1
            return True

    def _own_call(self, frame: FrameType, function: _Function) -> bool:
        if function.why_not is not None:
            return self._nothing_done()
        if threading.get_ident() != self._thread:
            self.left_out["in another thread"] += 1
            return True
        if function.test != self.test:
            self._first_of_test(function)
        function.time += 1
        function.calls += 1
        if self._recording is not None and not self._recording.is_over():
            self.left_out["inside a recorded call"] += 1
        elif not self.watched:
            self._look_for_wanted(frame, function)
        elif function.calls < function.next_look:
            function.not_drawn += 1
            self._nothing_done()
        elif _gettrace() is not None:
            self.left_out["under a trace function of the test"] += 1
        elif self._over(function):
            self.left_out["recording had used up its time"] += 1
            self._nothing_done()
        else:
            self._began = time.process_time()
            if not self._consider(frame, function):
                self.spent_s += time.process_time() - self._began
        return True

    def _first_of_test(self, function: _Function) -> None:
        function.test, function.time = self.test, 0
        function.to_record = frozenset(self.to_record.get(self.test, {}).get(function.key, ()))
        self.called.append(function)
        self.met.add(function.key)

    def _nothing_done(self) -> bool:
        """Count a call that was not examined. Very many such calls would cost more than the tests."""
        self.idle += 1
        if self.idle == IDLE and self.watched and self._recording is None:
            self.left_out[f"not seen: after {IDLE:,} calls in a test, none of them drawn"] += 1
            self._hook.off()
        return False

    def _look_for_wanted(self, frame: FrameType, function: _Function) -> None:
        if not self.left_of_wanted[self.test]:
            self._hook.off()
        elif function.time in function.to_record:
            self.left_of_wanted[self.test] -= 1
            if _gettrace() is not None:
                self.left_out["under a trace function of the test"] += 1
                return
            arguments = self._arguments(frame, function)
            if arguments is not None:
                self._record(frame, function, arguments, self.recorded)

    def _consider(self, frame: FrameType, function: _Function) -> bool:
        """Record the call if it is drawn; returns whether it was."""
        if function.given_up > function.recorded + GIVEN_UP:
            self.left_out["too long, as calls of the function before"] += 1
            self._nothing_done()
            return False
        self.idle = 0
        if function.calls >= LOOKS:
            # The n-th call is looked at with the chance LOOKS / n: drawn is when that happens next.
            skipped = _drawn(function.draws, function.calls) ** (-1 / LOOKS)
            function.next_look = int(function.calls * skipped) + 1
        arguments = self._arguments(frame, function)
        if arguments is None:
            self.left_out[f"arguments of more than {ARGUMENT_CHARS} characters"] += 1
            function.too_long += 1
            if function.too_long > GIVEN_UP + len(function.digests_seen):
                function.next_look = max(function.next_look, 2 * function.calls)
            return False
        if arguments.digest in function.digests_seen:
            self.left_out["the same arguments again"] += 1
            return False
        function.digests_seen.add(arguments.digest)
        function.fresh.append(arguments.digest)
        slot = len(function.digests_seen) - 1
        limit = max(1, min(self.per_function, self.budget // len(self.met)))
        if slot >= limit:  # reservoir: every one of n different calls is kept with the same chance
            slot = int(_drawn(function.draws, -len(function.digests_seen)) * len(function.digests_seen))
            if slot >= limit:
                self.left_out["not drawn"] += 1
                return False
        self._record(frame, function, arguments, slot)
        return True

    def _over(self, function: _Function) -> bool:
        """Whether recording has used its CPU time so far.

        A function with few recorded calls may use the reserved time too.
        """
        if self.pace is None:
            return False
        if not self.pace["cpu_s_by_test"]:  # not known: what is not spent here is the tests' own
            self.allowed_s = self.pace["times"] * (time.process_time() - self.spent_s)
        kept_s: float = self.pace["first_s"] if function.recorded < FIRST_CALLS else 0.0
        return self.spent_s > self.allowed_s + kept_s

    def _function(self, frame: FrameType, code: CodeType) -> _Function:
        name = frame.f_globals.get("__name__")
        module = name if type(name) is str else ""
        self.project.find_new_modules()
        while self.project.untold:
            name = self.project.untold.pop()
            file, label = self.project.modules[name]
            self.send("module", {"name": name, "file": os.path.abspath(file), "label": label}, [])
        module_known = self.project.modules.get(module)
        draws = int(_digest(f"{self.seed}:{module}:{code.co_qualname}:{code.co_firstlineno}"), 16)
        function = _Function(code, module, module_known[1] if module_known else "", draws)
        if function.key in self.earlier_functions:
            function.go_on(*self.earlier_functions[function.key])
        self.functions[id(code)] = function  # which keeps the code alive, so its address stays its own
        if not code.co_flags & _OPTIMIZED or code.co_name == "<module>":
            function.why_not = ""
        elif module_known is None or module_known[0] != code.co_filename:
            function.why_not = "not in a module that can be imported by name"
        elif code.co_flags & _GENERATES:
            function.why_not = "a generator or coroutine"
        elif not self.limits.chooses(function.label, code.co_qualname):
            function.why_not = "not asked for"
        elif "<" in code.co_qualname:
            function.why_not = "inside a function" if not code.co_name.startswith("<") else ""
        if function.why_not:
            key = dict(zip(("module", "function", "line"), function.key, strict=True))
            self.send("function", key | {"why_not": function.why_not}, [])
        if function.why_not is None:
            _resolve(function, frame.f_globals)
        return function

    def _arguments(self, frame: FrameType, function: _Function) -> _Arguments | None:
        code = function.code
        bound = FrameView(frame).locals()
        count = code.co_argcount
        names = code.co_varnames
        positional, keywords = names[:count], names[count : count + code.co_kwonlyargcount]
        stars = names[count + code.co_kwonlyargcount :]
        extra = bound.get(stars[0], ()) if code.co_flags & 0x4 else ()
        more = bound.get(stars[bool(code.co_flags & 0x4)], {}) if code.co_flags & 0x8 else {}
        if type(extra) is not tuple or type(more) is not dict or any(n not in bound for n in positional):
            return None
        again = function.kind != "other"
        if function.kind == "class":
            again = bool(positional) and id(bound[positional[0]]) == function.owner  # not on a subclass
            positional = positional[1:] if again else positional

        def left(name: str) -> bool:
            return name in function.defaults and bound[name] is function.defaults[name]

        plan: list[tuple[str, Any, list[str | int]]] = []
        """Tuples of the text before the value, the value, and its path from a variable."""
        only = frozenset(names[: code.co_posonlyargcount])
        needed = max((i for i, n in enumerate(positional) if n in only and not left(n)), default=-1)
        by_name = False
        for number, name in enumerate(positional):
            if left(name) and not extra and number > needed:
                by_name = True
            else:
                plan.append((f"{name}=" if by_name else "", bound[name], [name]))
        plan += [("", value, [stars[0], number]) for number, value in enumerate(extra)]
        plan += [(f"{name}=", bound[name], [name]) for name in keywords if name in bound and not left(name)]
        for number, (key, value) in enumerate(more.items()):
            if type(key) is not str or not key.isidentifier():
                return None
            plan.append((f"{key}=", value, [stars[bool(code.co_flags & 0x4)], 2 * number + 1]))
        begun = positional[0] if code.co_name == "__init__" and positional else None
        empty = begun is not None and self._is_empty(bound[begun])
        return self._written(plan, again=again, empty=empty)

    def _is_empty(self, instance: Any) -> bool:
        """Whether an object is still empty, because its `__init__` has just begun.

        Such an object needs no description. An object with a base outside of the project does not count.
        """
        bases = [base for base in bases_of(type(instance)) if base is not object]
        return all(module_of(base) in self.project.looked_into for base in bases) and not fields_of(
            instance, (*bases,)
        )

    def _written(
        self, plan: list[tuple[str, Any, list[str | int]]], *, again: bool, empty: bool
    ) -> _Arguments | None:
        """The arguments, described.

        Args:
            again: whether a call of the function's name with these arguments is the same call.
            empty: whether the first argument is an empty object.
        """
        know_enum()
        snapshotter = Snapshotter(_ARGUMENT_LIMITS, self.project.looked_into, lambda frame: None)
        snapshotter.begin()
        texts, _ = snapshotter.roots([value for _, value, _ in plan])
        objects = {number: json.loads(content) for number, content in snapshotter.finish().items()}
        if sum(map(_chars_at_least, objects.values())) > ARGUMENT_CHARS:  # to write them out takes long
            return None
        values = [decode(json.loads(text), objects) for text in texts]
        parts = [
            before + render(value, max_chars=ARGUMENT_CHARS + 1)
            for (before, _, _), value in zip(plan, values, strict=True)
        ]
        text = f"({', '.join(parts)})"
        if len(text) > ARGUMENT_CHARS:
            return None
        literal = again and all(value.builtin for value in values) and is_literal(text)
        if literal:
            return _Arguments(text, tuple(values[empty:]), (), False, None, literal)
        reached = reached_from(value for _, value, _ in plan)
        numbers = _numbers(zip(values, [path for _, _, path in plan], strict=True))
        return _Arguments(text, tuple(values[empty:]), reached.code, reached.hides, numbers, literal)

    def _record(self, frame: FrameType, function: _Function, arguments: _Arguments, slot: int) -> None:
        project = self.project
        scope = dict(project.modules.values())
        facts = {
            "module": function.module,
            "function": function.code.co_qualname,
            "file": os.path.abspath(function.code.co_filename),
            "line": function.code.co_firstlineno,
            "arguments": arguments.text,
            "functions": {},
            "numbers": None,
            "needs": {},
            **arguments.told(project),
            "test": self.test,
            "seen": arguments.digest,
            "time": function.time,
            "slot": slot,
            "own": sorted({name.partition(".")[0] for name in project.modules}),
        }
        self._recording = _Recording(self, function, facts, scope, project.looked_into)
        self._recording.start(frame)

    def finished(self, facts: dict[str, Any] | None, blocks: list[bytes], why_not: str = "") -> None:
        """Take the result of the recording at its end. Without facts, it failed."""
        recording, self._recording = self._recording, None
        if facts is not None and len(facts["stdout"]) + len(facts.get("result", "")) > _RESULT_CHARS:
            facts, why_not = None, f"more than {_RESULT_CHARS >> 20} million characters of output"
        if facts is None:
            self.left_out[why_not] += 1
        else:
            self.recorded += 1
            self.send("call", facts, blocks)
        if recording is not None:
            recording.function.given_up += facts is None
            recording.function.recorded += facts is not None
        self.spent_s += time.process_time() - self._began


class _Recording:
    """The recording of one call."""

    def __init__(
        self,
        observer: Observer,
        function: _Function,
        facts: dict[str, Any],
        scope: dict[str, str],
        modules: set[str],
    ) -> None:
        self.observer = observer
        self.function = function
        self.facts = facts
        self.blocks: list[bytes] = []
        self.written: list[str] = []
        self.bytes_left = CALL_BYTES
        self.until = time.monotonic() + CALL_S
        self.tracer = tracer_class()(scope, self._keep, modules=modules, limits=observer.limits)
        self.error: dict[str, Any] = {}

    def _keep(self, events: bytes) -> None:
        self.blocks.append(events)
        self.bytes_left -= len(events)
        if self.bytes_left < 0 or time.monotonic() > self.until:
            self.tracer.give_up("bytes" if self.bytes_left < 0 else "time")

    def start(self, frame: FrameType) -> None:
        """Trace from this frame on, which is at its beginning."""
        self.tracer.start(frame, self._told)
        if _gettrace() is None:
            self.give_up("the tracer could not be started")

    def _told(self, event: str, arg: Any) -> None:
        """Handle an exception in the frame of the call, or the end of the frame."""
        try:
            if event == "exception":
                self.error = _described(arg[1])
            elif event == "return":
                self._end(arg)
        except Exception as error:  # ours must not become the program's
            self.give_up(_ours(error))

    def is_over(self) -> bool:
        """Whether the recording ended early because the tracer had to give up."""
        if self.tracer.cut is None:
            return False
        self.give_up("")
        return True

    def give_up(self, reason: str) -> None:
        self.tracer.stop()
        reasons = {
            "events": f"more than {self.observer.limits.events} events",
            "bytes": f"events of more than {CALL_BYTES >> 20} MiB",
            "time": f"more than {CALL_S:g} s under the tracer",
            "recursion": "near the recursion limit",
            "subinterpreters": "in a process with subinterpreters",
            "failure": "the tracer failed",
        }
        cut = self.tracer.cut
        self.observer.finished(None, [], reason or reasons.get(cut or "", f"the trace was cut: {cut}"))

    def _end(self, returned: Any) -> None:
        self.tracer.stop()  # which hands over the last events
        if self.tracer.cut is not None or not self.blocks:
            self.give_up("")
            return
        from_the_end = (row for events in reversed(self.blocks) for row in reversed([*block.rows(events)]))
        last = next(row for row in from_the_end if row.thread == 0)  # another thread may have come between
        if last.kind == Kind.UNWIND:
            self.facts |= self.error
        else:
            value = decode(*snapshot(returned, _RESULT_LIMITS))
            self.facts |= {
                "outcome": Outcome.RETURNED,
                "result": render(value),
                "result_builtin": value.builtin,
            }
        self.facts["stdout"] = "".join(self.written)
        self.observer.finished(self.facts, self.blocks)


_MOST_NUMBERS = 50


def _numbers(values: Iterable[tuple[Value, list[str | int]]]) -> dict[int, list[str | int]] | None:
    """The path to each shown object, by its number; None if there are very many objects.

    A path is a variable, then names of attributes and positions of items. In a dict, keys and values count.
    """
    paths: dict[int, list[str | int]] = {}
    todo = [*values]
    ids: set[int] = set()
    while todo:
        value, path = todo.pop(0)
        if value.id is not None:
            if value.id in ids:
                continue
            ids.add(value.id)
            if value.kind in ("object", "opaque"):
                paths[value.id] = path
        flat = [part for item in value.items for part in (item if isinstance(item, tuple) else (item,))]
        todo += [(part, [*path, number]) for number, part in enumerate(flat)]
        todo += [(part, [*path, name]) for name, part in value.fields]
    return paths if len(paths) <= _MOST_NUMBERS else None


def _chars_at_least(content: dict[str, Any]) -> int:
    """A lower bound for the length of an object's text, which is written at least once."""
    if content["kind"] != "object":
        return 2
    return len(content["type"]) + sum(len(name) + 2 for name in content.get("fields", ()))


def _ours(error: Exception) -> str:
    """The reason for omitting a call if the recorder itself failed."""
    if isinstance(error, RecursionError):
        return "near the recursion limit"
    return f"{type(error).__name__} in the recorder"


def _described(error: BaseException) -> dict[str, Any]:
    kinds = {SystemExit: Outcome.EXITED, MemoryError: Outcome.OUT_OF_MEMORY}
    outcome = next((o for kind, o in kinds.items() if issubclass(type(error), kind)), Outcome.RAISED)
    name = type.__dict__["__qualname__"].__get__(type(error))
    return {"outcome": outcome, "exception": name, "detail": exception_text(error)[:2000]}


def _resolve(function: _Function, namespace: dict[str, Any]) -> None:
    """Find out whether the qualified name refers to exactly this code, without running the project's code."""
    first, *names = function.code.co_qualname.split(".")
    member, owner = namespace.get(first), None
    for name in names:
        if not issubclass(type(member), type):
            return
        owner = member
        member = type.__dict__["__dict__"].__get__(member).get(name)
    kind = "other"
    if type(member) is FunctionType:
        kind = "function" if owner is None else "other"
    elif type(member) is staticmethod or type(member) is classmethod:
        kind = "static" if type(member) is staticmethod else "class"
        member = member.__func__
    if type(member) is not FunctionType or member.__code__ is not function.code:
        return
    function.kind, function.owner = kind, id(owner)
    code, values = function.code, member.__defaults__ or ()
    function.defaults = dict(
        zip(code.co_varnames[code.co_argcount - len(values) : code.co_argcount], values, strict=True)
    )
    function.defaults |= member.__kwdefaults__ or {}
