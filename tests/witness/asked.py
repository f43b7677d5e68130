"""`agree.compare` on sets of programs, each in a process of its own: nobody knows what it does.

    python -m tests.witness.asked mbpp|humaneval|programs

prints for each kind of question how many places were compared, and how often the two disagree. The published sets
are read from the folder of shared data (`DESKCHECK_SHARED`).
"""

import json
import os
import pickle
import resource
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from deskcheck.recording import Mode, Program
from tests.ask.conftest import record_here, shared
from tests.witness.agree import CONTROL, KINDS, compare

SECONDS = 60
CPU_SECONDS = 8
LONG = "takes long"

Found = list[tuple[str, bool, str]]


def in_child(name: str, code: str, kinds: tuple[str, ...] = KINDS) -> Found | str:
    """What `compare` says of a script; how the process ended where that was otherwise, or took too long."""
    reads, writes = os.pipe()
    if not (pid := os.fork()):
        os.close(reads)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
        with os.fdopen(writes, "wb") as pipe:
            _child(name, code, pipe, kinds)
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(pid, 0)
    ended = os.waitstatus_to_exitcode(status)
    found: Found | str = (
        pickle.loads(data) if data else LONG if ended == -signal.SIGXCPU else f"status {ended}"
    )
    return found


def _child(name: str, code: str, pipe: IO[bytes], kinds: tuple[str, ...]) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)
    found: Found | str
    warnings.simplefilter("ignore")
    try:
        recording = record_here(Program(id=name, code=code, mode=Mode.MODULE))
        found = list(compare(recording, kinds=kinds))
    except BaseException as error:  # noqa: BLE001 (the program's: it may end in any way)
        found = f"{type(error).__name__}: {error}"
    pickle.dump(found, pipe)


# -- sets of programs ------------------------------------------------------------------------------------------


def of_mbpp() -> Iterator[tuple[str, str]]:
    path = shared("data", "mbpp", "mbpp_730.jsonl")
    for line in path.read_text().splitlines() if path else []:
        row = json.loads(line)
        yield str(row["task_id"]), row["code"].replace("\r", "") + "\n" + "\n".join(row["test_list"]) + "\n"


def of_humaneval() -> Iterator[tuple[str, str]]:
    path = shared("data", "humaneval", "HumanEval.jsonl")
    for line in path.read_text().splitlines() if path else []:
        row = json.loads(line)
        code = row["prompt"] + row["canonical_solution"]
        yield row["task_id"], f"{code}\n{row['test']}\ncheck({row['entry_point']})\n"


NOT_COUNTED = {
    "audit_hook": "hears the checker compile",
    "library_patched": "patches the library for the checker, too",
    "builtins_broken": "breaks what the test needs",
    "builtins_patched": "breaks what the test needs",
    "process_fork_falls_through": "ends as two processes",
    "annotations_future": "the line of the future statement cannot be told of",
    "class_body_namespaces": "looks up every name in a namespace of its own, also the counter's",
    "class_changed_while_running": "gives a class another name while it runs",
    "class_lies_about_itself": "counts its own frames",
    "class_metaclass": "looks up every name in a namespace of its own, also the counter's",
    "del_while_unwinding": "dies with the frames, which the counter keeps",
    "exception_uncaught": "the test catches what the interpreter would print",
    "function_attributes": "exchanges code objects",
    "function_locals_deleted": "a condition that is a constant cannot be told of",
    "hash_ordered": "goes through a set of objects, whose order is that of addresses",
    "lines_without_code": "a condition that is a constant cannot be told of",
    "modules_forgotten": "looks at sys.modules, which differ",
    "output_closed": "closes the output of the test",
    "output_every_way": "closes the output of the test",
    "output_redirected": "looks at sys.stdout, which differs",
    "setprofile_user": "profiles itself",
    "settrace_left_on": "traces itself",
    "settrace_user": "traces itself",
    "values_opaque": "looks at sys.stdout, which differs",
    "settrace_bdb": "traces itself",
    "process_closes_descriptors": "closes the pipe to the test",
    "limits_crossed": "runs for long",
}


def of_ours() -> Iterator[tuple[str, str]]:
    folder = Path(__file__).resolve().parents[1] / "programs"
    # Threads have traces of their own, which `record_here` does not tell apart; what exits ends the comparison.
    for path in sorted(folder.glob("*.py")):
        if path.stem not in NOT_COUNTED and not path.stem.startswith(("threads_", "exit_")):
            yield path.stem, path.read_text()


PROGRAMS: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
    "mbpp": of_mbpp,
    "humaneval": of_humaneval,
    "programs": of_ours,
}
"""Set -> the names and texts of its programs; none where it is not here."""


def main(name: str) -> None:
    counts: Counter[tuple[str, bool]] = Counter()
    others: Counter[str] = Counter()
    programs = list(PROGRAMS[name]())
    for id_, code in programs:
        found = in_child(id_, code, CONTROL if name == "programs" else KINDS)
        if isinstance(found, str):
            others[f"{id_}: {found}"] += 1
            continue
        for kind, same, text in found:
            counts[kind, same] += 1
            if not same:
                print(text)
    print(f"{len(programs)} programs; not compared: {dict(others)}")
    for kind in KINDS:
        print(f"{kind:12} {counts[kind, True]:8} the same {counts[kind, False]:4} not")
    print(f"{'all':12} {sum(n for (_, same), n in counts.items() if same):8} the same")


if __name__ == "__main__":
    main(sys.argv[1])
