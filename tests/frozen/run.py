"""Runs the command lines of `commands` in a folder of their own, and gathers their items."""

import errno
import importlib.util
import os
import pty
import resource
import shutil
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.metadata import entry_points
from pathlib import Path

from tests.frozen.commands import Step
from tests.frozen.items import Items, Renamed

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHARED = Path(os.environ.get("DESKCHECK_SHARED") or ROOT.parent / "shared") / "data"
DATE = 1_704_067_200
"""Of every file that is recorded: 2024-01-01 UTC, in seconds."""
SOME = {
    "cruxeval.jsonl": ("cruxeval/cruxeval_600.jsonl", 1),
    "cruxeval_some.jsonl": ("cruxeval/cruxeval_600.jsonl", 20),
    "mbpp.jsonl": ("mbpp/mbpp_730.jsonl", 4),
    "mbpp_all.jsonl": ("mbpp/mbpp_730.jsonl", 1),
    "mbpp_some.jsonl": ("mbpp/mbpp_730.jsonl", 40),
}
"""File of the run -> file of a published set, of which it has every so-manieth row."""
UNSTEADY = """
    coroutine_asyncio_queue exit_syntax_error_inside gc_callbacks hash_ordered import_own_module import_pickle_main
    import_runpy modules_forgotten process_* profilers_of_the_library
    settrace_checks_itself threads_* weakref_callbacks
""".split()
"""Programs of tests/programs, as patterns, whose recordings are not the same in every run: addresses, the order of
sets, process ids, threads or paths decide."""


@dataclass(frozen=True)
class Ran:
    """Items of one step, by name; the renamed keys that were met; CPU time in seconds; whether it ended as it should."""

    items: dict[str, str]
    used: frozenset[Renamed]
    cpu_s: float
    well: bool


@contextmanager
def folder() -> Iterator[Path]:
    """A new folder with all that is recorded, which other users may read; it is removed at the end.

    Its path is of one length everywhere, since tables that show it are laid out by that."""
    with tempfile.TemporaryDirectory(prefix="frozen-", dir="/tmp") as made:
        work = Path(made).resolve()
        work.chmod(0o755)
        shutil.copytree(HERE / "inputs", work, dirs_exist_ok=True)
        (work / "project" / "shop_tests.py").rename(work / "project" / "test_shop.py")
        shutil.copytree(ROOT / "examples", work / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        (work / "programs").mkdir()
        for path in sorted((ROOT / "tests" / "programs").glob("*.py")):
            if not any(fnmatchcase(path.stem, pattern) for pattern in UNSTEADY):
                shutil.copy(path, work / "programs")
        _published(work / "data")
        for path in work.rglob("*"):
            os.utime(path, (DATE, DATE))
        yield work


def _published(data: Path) -> None:
    data.mkdir()
    for name, (source, every) in SOME.items():
        if (SHARED / source).exists():
            lines = [line for line in (SHARED / source).read_text("utf-8").splitlines() if line.strip()]
            (data / name).write_text("\n".join(lines[::every]) + "\n")


def missing(step: Step, work: Path) -> str | None:
    """What a step lacks here; None if nothing."""
    for module in step.needs:
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed"
    if step.names_all and any(group.startswith("deskcheck.") for group in entry_points().groups):
        return "another package adds names of its own"
    for argument in step.arguments:
        if ":data/" in argument and not (work / argument.partition(":")[2]).exists():
            return f"no {argument.partition(':')[2]}: set DESKCHECK_SHARED"
    return None


def run(step: Step, work: Path) -> Ran:
    """One step."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status, stdout, stderr = _process(step, work)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    items = Items(step.name, work)
    items.add("status", str(status))
    items.printed("stdout", stdout)
    items.printed("stderr", stderr)
    for output in step.outputs:
        items.read(output)
    items.counted()
    texts = {name: "\n".join(lines) + "\n" for name, lines in sorted(items.texts.items())}
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(texts, frozenset(items.used), cpu_s, status == step.status)


def _process(step: Step, work: Path) -> tuple[int, str, str]:
    """Exit status, standard output and error. Where both would be read in turn a full pipe could stop the process,
    so that they go into files; a terminal is read while it runs."""
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as said:
        terminal, inside = _terminal() if step.terminal else (None, printed.fileno())
        with subprocess.Popen(
            [sys.executable, "-m", step.module, *_arguments(step, work)],
            cwd=work,
            env=_environment(work),
            stdin=subprocess.DEVNULL,
            stdout=inside,
            stderr=said,
        ) as process:
            if terminal is not None:
                os.close(inside)
                printed.writelines(_until_its_end(terminal))
        printed.seek(0)
        said.seek(0)
        return process.returncode, printed.read().decode(), said.read().decode()


def _terminal() -> tuple[int, int]:
    """Both ends of a terminal of 80 columns."""
    outside, inside = pty.openpty()
    termios.tcsetwinsize(inside, (50, 80))
    return outside, inside


def _until_its_end(terminal: int) -> Iterator[bytes]:
    """What is written to a terminal until nobody has it open, which its reader learns by EIO."""
    try:
        while data := os.read(terminal, 1 << 16):
            yield data
    except OSError as error:
        if error.errno != errno.EIO:
            raise
    finally:
        os.close(terminal)


def _arguments(step: Step, work: Path) -> Iterator[str]:
    for argument in step.arguments:
        if "*" in argument:
            yield from sorted(str(path.relative_to(work)) for path in work.glob(argument))
        else:
            yield argument.replace("{work}", str(work))


def _environment(work: Path) -> dict[str, str]:
    """Nothing of the user's: home, language, time zone and the width of the terminal are the same everywhere."""
    home = str(work / "home")
    return {
        "DESKCHECK_POWERCAP": "/nowhere",  # what a machine takes is not frozen
        "PATH": os.environ["PATH"],
        "HOME": home,
        "XDG_CACHE_HOME": f"{home}/cache",
        "XDG_DATA_HOME": f"{home}/data",
        "XDG_CONFIG_HOME": f"{home}/config",
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
    }
