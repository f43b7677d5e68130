"""The process of a program: a fork of the server that sets limits, runs the program and reports its ending.

The file is started by path, with the descriptor of the server's connection as its argument. Each fork reads
its job from the channel and becomes the program. Exceptions of the program leave this file too, so that exit
status, traceback and finalisation are the program's own.
"""

import sys

_package_root = __file__.rsplit("/", 4)[0]
sys.path.insert(0, __file__.rpartition("/")[0])

from hidden_modules import HiddenModules  # type: ignore[import-not-found]  # by itself: its package imports much

sys.path[0] = _package_root
_modules = HiddenModules()

from deskcheck.sandbox.inside import startup

sys.path.remove(_package_root)
startup.add_paths()
_modules.visible |= _modules.with_imports("site")
sys.path.insert(0, _package_root)

import ast
import atexit
import functools
import itertools
import json
import marshal
import os
import resource
import traceback
import types
from collections.abc import Callable, Mapping
from importlib.machinery import all_suffixes
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import FILES_BESIDE, Mode
from deskcheck.recording.value import decode, render
from deskcheck.sandbox.inside import calling, readable_files, session_child
from deskcheck.sandbox.inside import server as _server
from deskcheck.sandbox.inside.channel import END_BYTES, sender, sending_tracer
from deskcheck.sandbox.inside.main_module import MODULE, is_main_module, run_main_module
from deskcheck.sandbox.linux import notices, rlimits
from deskcheck.sandbox.linux.refused import Refuses, refused_call
from deskcheck.sandbox.linux.steps import compiled
from deskcheck.sandbox.surroundings import determinism, elsewhere
from deskcheck.tracer import Granularity, TraceLimits, outermost, tracer_class
from deskcheck.tracer.drain import whole_call
from deskcheck.tracer.result import exception_text, snapshot
from deskcheck.tracer.stdout import StdoutHearing

sys.path.remove(_package_root)

for _name in (None, "reference"):
    tracer_class(_name)  # imported before the first fork
if compiled is not None:
    compiled.watch(None)


def _read_job(channel: int) -> dict[str, Any]:
    """The job: its length in four bytes, then its text by `marshal`, which is faster than JSON."""
    data = calling.receive(channel)
    if data is None:
        raise EOFError("the caller closed the channel before the job was complete")
    job: dict[str, Any] = marshal.loads(data)
    return job


def _new_sender(job: dict[str, Any]) -> Callable[[int, bytes], Callable[[bytes], None]]:
    """`sender`, or a variant that never switches threads, for programs that switch only when one blocks."""
    if not job["determinism"]["turns"]:
        return sender
    ways: dict[str, Any] = {"write": determinism.write_in_turn, "blake2b": determinism.hash_in_turn}
    return functools.partial(sender, **ways)


def _stand_beside(folder: str) -> None:
    """Make links here to everything in a folder, so that relative paths work.

    Modules get no link: the import path has them, and here they would replace modules of the library. Private
    files get none either. A folder is ignored if it cannot be read or has very many entries.
    """
    try:
        with os.scandir(folder) as entries:
            listing = list(itertools.islice(entries, FILES_BESIDE + 1))
    except OSError:
        return
    if len(listing) > FILES_BESIDE:
        return
    modules = tuple(all_suffixes())
    for entry in listing:
        package = any(os.path.exists(f"{entry.path}/__init__{suffix}") for suffix in modules)
        module = package or entry.name.endswith(modules)
        if not (module or readable_files.is_private(entry.name) or os.path.lexists(entry.name)):
            os.symlink(entry.path, entry.name)


class _Run:
    """One run of a program in this process."""

    def __init__(self, job: dict[str, Any], fork: _server.Fork) -> None:
        # Not a Program: the fewer objects a fork makes and touches, the fewer pages are copied for it.
        self.program: Any = types.SimpleNamespace(**job["program"])
        self.record: bool = job["record"]
        self.job = job
        self.channel = fork.channel
        self.mirror = fork.mirror
        self.send = _new_sender(job)(fork.channel, bytes.fromhex(job["key"]))
        self.tracer: Any = None
        self.main: Any = types.ModuleType("__main__")
        self.sources: dict[str, str] = {}
        self.pid = os.getpid()
        self.ours = fork.ours
        self.named = fork.named
        self.watched = fork.watched
        self.status: int | None = None
        self.files = {self.program.filename}
        """Names of the program's own files."""
        self.reads: elsewhere.UnsetVariables | None = None

    def prepare(self) -> None:
        program = self.program
        main_module = is_main_module(program.extra)
        if not main_module and program.filename == os.path.basename(program.filename):
            # Beside the run, so that tracebacks and `inspect` find it.
            text = program.code.encode("utf-8", "surrogatepass")
            source = os.open(program.filename, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                while text:
                    text = text[os.write(source, text) :]
            finally:
                os.close(source)
        names = self.main.__dict__
        loader = sys.modules["_frozen_importlib_external"].SourceFileLoader
        names["__loader__"] = loader("__main__", os.path.abspath(program.filename))
        if sys.version_info < (3, 14):  # PEP 649
            names["__annotations__"] = {}
        names["__builtins__"] = sys.modules["builtins"]
        names["__file__"] = program.filename
        names["__cached__"] = None
        scope = {program.filename: program.filename}
        if self.record:
            assert self.mirror is not None
            make = functools.partial(
                tracer_class(self.job["tracer"]),
                scope,
                limits=TraceLimits(**self.job["trace_limits"]),
                granularity=Granularity(self.job["granularity"]),
            )
            self.tracer = sending_tracer(make, self.channel, self.mirror, self.send)
            StdoutHearing(self.tracer.wrote).on()
        stdout: Any = sys.stdout
        stdout.reconfigure(
            line_buffering=True
        )  # as at a terminal: a signal that ends the program loses no line
        sys.modules["__main__"] = self.main
        first = program.filename
        if main_module:
            first = "-m" if program.extra["run"] == MODULE else program.source
        sys.argv = [first, *program.extra.get("argv", ())]
        if "stdin" in program.extra:
            self._redirect_stdin(program.extra["stdin"].encode(program.extra["stdin_encoding"]))

    def _redirect_stdin(self, data: bytes) -> None:
        """Make a file with this content the standard input, like `<` in a shell."""
        descriptor = os.open(_STDIN, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.unlink(_STDIN)
            while data:
                data = data[os.write(descriptor, data) :]
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.dup2(descriptor, 0, inheritable=True)
        finally:
            os.close(descriptor)

    def _be_imported(self) -> None:
        """Name the module like an import of the file, so that a call of its function runs no main part."""
        name = self.program.filename.removesuffix(".py")
        self.main.__dict__["__name__"] = name
        sys.modules[name] = self.main
        if self.tracer is not None:
            self.tracer.modules.add(name)

    def enter(self) -> None:
        """Let the program find its own files. Earlier code of its environment must not find them."""
        program = self.program
        _modules.visible |= self.ours.union(*map(_modules.with_imports, self.named))
        if is_main_module(program.extra):
            _modules.visible |= _modules.with_imports("runpy")
        _modules.hide()
        if startup.has_code():
            self.ours |= frozenset(startup.run_code())
            notices.begin()
        sys.path.insert(0, os.getcwd())
        if program.path is not None:
            # Last: a file named as a library module must not stand in for it when the library imports it.
            # But a project whose tests are recorded comes before an installed copy of it.
            position = 0 if is_main_module(program.extra) else len(sys.path)
            if "own" in program.extra:
                installed = ("site-packages", "dist-packages")
                position = next((n for n, name in enumerate(sys.path) if name.endswith(installed)), position)
            sys.path.insert(position, program.path)
            if program.module is None and "own" not in program.extra:
                _stand_beside(program.path)

    def go_elsewhere(self, job: dict[str, Any]) -> None:
        """Simulate another machine and another day."""
        elsewhere.move(job, _modules.loaded())
        self.reads = elsewhere.UnsetVariables(self.files.__contains__)
        self.reads.look()

    def _import_module(self, name: str) -> None:
        """Import the module whose namespace the program starts with, and record its functions too."""
        file = self.program.extra.get("file")
        if file is not None:  # by its file: its name may be that of a library module
            spec = spec_from_file_location(name, file)
            if spec is None or spec.loader is None:
                raise ImportError(f"{file} cannot be loaded as a module")
            module = module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)
        else:
            __import__(name)
            module = sys.modules[name]
        names = self.main.__dict__
        names.update({k: v for k, v in vars(module).items() if k not in ("__spec__", "__loader__")})
        names["__name__"] = "__main__"
        self._follow(name, module)
        for imported in self.program.extra.get("modules", ()):
            __import__(imported)
        packages = self.program.extra.get("own", ())
        for imported, loaded in list(sys.modules.items()):
            if imported != name and (imported in packages or imported.partition(".")[0] in packages):
                self._follow(imported, loaded)

    def _follow(self, name: str, module: types.ModuleType) -> None:
        """Record the functions of a module."""
        origin = vars(module).get("__file__")
        if isinstance(origin, str) and origin.endswith(".py"):
            label = name.replace(".", "/") + ".py"
            with open(origin, encoding="utf-8", errors="replace") as stream:
                self.sources[label] = stream.read()
            self.files.add(origin)
            if self.tracer is not None:
                self.tracer.scope[origin] = label
                self.tracer.modules.add(name)

    def _start(self) -> None:
        if self.tracer is not None:
            self.tracer.start()

    def _stop(self) -> None:
        if self.tracer is not None:
            self.tracer.stop()

    def run(self) -> Any:
        """Run the program; return the result of its call, a `Whole`."""
        program = self.program
        if program.module is not None:
            self._import_module(program.module)
        if program.mode == Mode.SESSION:
            return self._session()
        if program.mode == Mode.CALL and program.module is None and "file" in program.extra:
            self._be_imported()
        if is_main_module(program.extra):
            return self._run_main_module()
        code = compile(program.code, program.filename, "exec", dont_inherit=True)
        if program.mode == Mode.MODULE:
            word = b"ask" if self.job["calls"] else b"answer"
            peer = calling.Peer(
                self.main.__dict__ if self.job["answers"] else {}, self.channel, self.send, word
            )
            for name in self.job["calls"]:
                self.main.__dict__[name] = peer.function(name)
            self._follow_own()
            self._start()
            try:
                outermost.evaluate(code, self.main.__dict__)
                if self.job["answers"]:
                    peer.serve()
            finally:
                self._stop()
            if (
                not self.job["answers"] and peer.not_compared is not None
            ):  # and the check has not let itself be stopped
                raise calling.NotCompared(peer.not_compared)
            return None
        outermost.evaluate(code, self.main.__dict__)
        arguments = compile(
            f"(lambda *args, **kwargs: (args, kwargs)){program.arguments}", "<arguments>", "eval"
        )
        args, kwargs = eval(arguments, self.main.__dict__)
        function: Any = self.main
        for name in (program.entry or "").split("."):
            function = getattr(function, name)
        self._start()
        try:
            return whole_call(function, outermost.call(None, function, *args, **kwargs))
        finally:
            self._stop()

    def _run_main_module(self) -> None:
        program, scope = self.program, self.job["scope"]

        def start(main_file: str) -> None:
            scope.setdefault(main_file, program.filename)
            self._follow_own()
            self._start()

        try:
            run_main_module(program.source if program.extra["run"] == MODULE else None, start)
        finally:
            self._stop()

    def _follow_own(self) -> None:
        """Record the modules of the program's folder, also where the working directory links to them."""
        scope = self.job["scope"]
        scope.update({os.path.abspath(label): label for label in [*scope.values()]})
        self.files.update(scope)
        if self.tracer is not None:
            self.tracer.scope.update(scope)
            self.tracer.modules.update(self.job["modules"])

    def _session(self) -> None:
        tree = ast.parse(self.program.code, self.program.filename)
        self._start()
        try:
            for statement in tree.body:
                code = compile(
                    ast.Interactive([statement]), self.program.filename, "single", dont_inherit=True
                )
                try:
                    outermost.evaluate(code, self.main.__dict__)
                except Exception as error:
                    _show(error)
        finally:
            self._stop()

    def _loaded(self) -> list[str]:
        """Names in events of the loaded modules that are recorded with a main module."""
        scope = self.job["scope"]
        if not scope:
            return []
        files = {
            vars(module).get("__file__") for module in [*sys.modules.values()] if hasattr(module, "__dict__")
        }
        return [label for file, label in scope.items() if file in files]

    def begin(self) -> None:
        """Report that the program begins, just before it does."""
        if compiled is not None and self.watched is not None:
            compiled.watch(self.watched)
        self.send(b"ready")

    def report(self, outcome: Outcome, **facts: Any) -> None:
        """Send the end message, unless this is a process that the program forked."""
        if os.getpid() != self.pid:
            return
        tracer = self.tracer
        used = resource.getrusage(resource.RUSAGE_SELF)
        message = {
            "outcome": outcome,
            "cut": tracer.cut if tracer is not None else None,
            "failure": repr(tracer.failure) if tracer is not None and tracer.failure else None,
            "sources": self.sources,
            "loaded": self._loaded(),
            "imported": sorted({name.partition(".")[0] for name in [*sys.modules] if name not in self.ours}),
            "cpu_s": used.ru_utime + used.ru_stime,
            "reads": [] if self.reads is None else [*self.reads.names][:_READS],
            **facts,
        }
        if compiled is not None and self.watched is not None:
            message["unopened"] = compiled.unopened()
        text = json.dumps(message).encode()
        if len(text) > END_BYTES - 4:
            text = json.dumps(_shortened(message)).encode()
        try:
            self.send(b"end " + text)
        except OSError:
            return


_STDIN = ".stdin"
_READS = 20
"""Largest number of variables to report."""


def _shortened(end: dict[str, Any]) -> dict[str, Any]:
    """The end message, shortened to its limit: no texts of files, and only both ends of a long result."""
    shorter = {**end, "sources": {}}
    result = end.get("result")
    if result is not None:
        while len(json.dumps(shorter)) > END_BYTES - 4:
            result = f"{result[: len(result) // 3]} ... {result[-len(result) // 6 :]}"
            shorter |= {"result": result, "result_builtin": False}
    return shorter


_OURS = (__file__, "<arguments>", whole_call.__code__.co_filename)
"""Files in a traceback that come before the program's own code."""


def _show(error: Exception) -> None:
    """Show an exception in the output of a session, like a terminal does."""
    outermost.without_ours(error, *_OURS)
    print("".join(traceback.format_exception(error)), end="")


def _describe(
    error: BaseException, *, refuses: Refuses, sources: Mapping[str, str] = types.MappingProxyType({})
) -> dict[str, str]:
    """The class and text of an exception. Its last line names the call that the sandbox refused."""
    name = type.__dict__["__qualname__"].__get__(type(error))
    detail = exception_text(error)[:2000]
    call = refused_call(error, refuses, sources)
    _, colon, message = detail.partition(": ")
    if call is not None and not (colon and not message.strip()):  # or it would be taken for the message
        detail += f"\nthe sandbox refused the system call {call}"
    return {"exception": name, "detail": detail}


def _exit_status(error: SystemExit) -> int | None:
    """The exit status for an uncaught SystemExit; None if the interpreter must decide it."""
    code = error.code
    if code is None:
        return 0
    return code & 0xFF if type(code) is int else 1 if type(code) is str else None


def _end() -> None:
    """Do the first steps of an interpreter at the end of a program: wait for threads, run exit functions.

    The last exit function is that of `leave_at_once`, which ends the process. So this function returns only
    if the program removed that one, or if the interpreter shall end the process.
    """
    threading = sys.modules.get("threading")
    if threading is not None:
        outermost.call(None, threading._shutdown)
    outermost.call(None, atexit._run_exitfuncs)


def main() -> None:
    fork = _server.serve(int(sys.argv[1]), _modules.visible, {"tracer": tracer_class().name})
    job = _read_job(fork.channel)
    describe = functools.partial(_describe, refuses=fork.refuses)
    if "session" in job:
        rlimits.apply(job["limits"])
        _modules.visible |= fork.ours.union(*map(_modules.with_imports, fork.named))
        _modules.hide()
        startup.run_code()
        determinism.fix(job["determinism"], _modules.get)
        session = session_child.SessionInterpreter(fork.channel, job["session"], describe)
        session.serve(session_child.receive, new_sender=_new_sender(job))
        return
    run = _Run(job, fork)
    sources = {run.program.filename: run.program.code}
    describe = functools.partial(describe, sources=sources)

    def forget() -> int | None:
        sys.modules.pop(run.main.__name__, None)
        run.main = None
        sys.modules.pop("__main__", None)
        return run.status

    try:
        run.prepare()
        _server.leave_at_once(forget)
        rlimits.apply(job["limits"])
        run.enter()
        determinism.fix(job["determinism"], _modules.get)
        if job["elsewhere"] is not None:
            run.go_elsewhere(job["elsewhere"])
    except BaseException as error:
        run.send(b"failed " + json.dumps(describe(error)).encode())
        raise
    run.begin()
    try:
        result = run.run()
    except SystemExit as error:
        run.report(Outcome.EXITED, **describe(error))
        run.status = _exit_status(error)
        raise
    except BaseException as error:
        ran_out = isinstance(error, MemoryError)
        call = None if ran_out else refused_call(error, fork.refuses, sources)
        refused = {} if call is None else {"refused": call}
        run.report(Outcome.OUT_OF_MEMORY if ran_out else Outcome.RAISED, **describe(error), **refused)
        outermost.without_ours(error, *_OURS)
        status = outermost.exit_status(error)
        if not isinstance(error, KeyboardInterrupt):  # which ends a process by a signal
            run.status = status
    else:
        facts: dict[str, Any] = {}
        if run.program.mode == Mode.CALL:
            encoded, objects = snapshot(result.value)
            value = decode(encoded, objects)
            # A list of what was drawn is our account of the call: it returned a generator.
            facts = {"result": render(value), "result_builtin": value.builtin and not result.drawn}
            if result.detail:
                facts["detail"] = result.detail
        del result
        run.report(Outcome.RETURNED, **facts)
        run.status = 0
    _end()
    if run.status is not None:
        sys.exit(run.status)


_keep = sys.modules["__main__"]  # or its globals, which main() uses, would be cleared
main()
