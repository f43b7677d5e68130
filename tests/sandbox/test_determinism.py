"""What is fixed is the same in every run and consistent; what makes runs differ is found by experiment."""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.repeats import Cause, causes
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox import Determinism, Limits, Provided, Sandbox, Tracing

START = 1_709_210_096.25
"""2024-02-29 12:34:56.25 UTC."""
LIMITS = Limits(cpu_s=5, wall_s=60)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(workers=1, limits=LIMITS) as place:
        yield place


def printed(sandbox: Sandbox, code: str, determinism: Determinism) -> str:
    run_result = sandbox.run_one(Program(id="p", code=code), determinism=determinism)
    assert run_result.outcome is Outcome.RETURNED, run_result.stderr
    return run_result.stdout


FROZEN = """
import datetime as d, time, json, warnings
warnings.simplefilter("ignore")
class Own(d.datetime):
    pass
class Timer:
    clock = time.perf_counter
now = d.datetime.now()
print(json.dumps([
    str(now), str(d.datetime.today()), str(d.datetime.utcnow()), str(d.datetime.now(d.timezone.utc)), str(d.date.today()),
    time.time(), time.time_ns(), time.clock_gettime(time.CLOCK_REALTIME), time.strftime("%Y-%m-%d %H:%M:%S"),
    time.ctime(), time.asctime(), time.localtime()[:6], time.gmtime()[:6], type(now) is d.datetime,
    type(Own.now()) is Own, isinstance(Own.now(), d.datetime), time.monotonic() == time.perf_counter() == Timer().clock(),
    time.monotonic_ns() / 1e9 == time.monotonic() == time.clock_gettime(time.CLOCK_MONOTONIC), time.process_time(),
    repr(time.time), time.strftime("%Y", time.gmtime(0)), time.ctime(0),
]))
"""


def test_a_frozen_clock_is_one_time_everywhere(sandbox: Sandbox) -> None:
    """Every function of time and datetime tells the same moment; classes are what they were."""
    shown = json.loads(printed(sandbox, FROZEN, Determinism(clock=START, tick_s=0)))
    moment = "2024-02-29 12:34:56"
    assert shown == [
        *(moment + ".250000" for _ in range(3)),
        moment + ".250000+00:00",
        "2024-02-29",
        START,
        1_709_210_096_250_000_000,
        START,
        moment,
        *("Thu Feb 29 12:34:56 2024" for _ in range(2)),
        *([2024, 2, 29, 12, 34, 56] for _ in range(2)),
        *(True for _ in range(5)),
        0.0,
        "<built-in function time>",
        "1970",
        "Thu Jan  1 00:00:00 1970",
    ]


def test_a_clock_advances_by_its_tick_and_by_what_is_slept(sandbox: Sandbox) -> None:
    """Readings are a tick apart, whichever clock they are of; a loop that waits ends; a sleep counts."""
    code = (
        "import time\na = time.monotonic()\nb = time.time()\nc = time.monotonic()\nprint(round(c - a, 9))\n"
        "n = 0\nwhile time.time() < b + 5:\n    n += 1\nprint(n)\n"
        "before = time.perf_counter()\ntime.sleep(0.01)\nprint(round(time.perf_counter() - before, 9))\n"
    )
    determinism = Determinism(clock=START, tick_s=0.5)
    assert printed(sandbox, code, determinism).split() == ["1.0", "8", "0.51"]


DRAWN = """
import os, random, secrets, tempfile, uuid
print(random.random(), random.Random().random(), random.SystemRandom().random(), secrets.token_hex(4), uuid.uuid4())
print(os.urandom(5), os.urandom(100)[-3:], random.sample(range(99), 5), os.path.basename(tempfile.mktemp()))
random.seed(5); print(random.random()); random.seed(); print(random.random()); print(random.Random(7).random())
"""


def test_random_numbers_follow_from_the_seed(sandbox: Sandbox) -> None:
    """Two runs of one seed draw the same everywhere, another seed draws others; explicit seeds mean what they mean."""
    one, again, other = (printed(sandbox, DRAWN, Determinism(random_seed=seed)) for seed in (1, 1, -2))
    assert one == again
    assert all(a != b for a, b in zip(one.split()[:5], other.split()[:5], strict=True))
    for shown in (one, other):
        assert shown.splitlines()[2] == "0.6229016948897019"
        assert shown.splitlines()[4] == "0.32383276483316237"
    free = [printed(sandbox, DRAWN, Determinism()) for _ in range(2)]
    assert free[0] != free[1]


@pytest.mark.skipif(
    importlib.util.find_spec("numpy") is None,
    reason="no numpy: would show that its generators follow the seed",
)
@pytest.mark.parametrize("modules", [(), ("numpy",)], ids=["imported by the program", "imported before"])
def test_numpy_follows_the_seed(modules: tuple[str, ...]) -> None:
    """The old and the new generators of numpy draw the same in two runs, whoever imported it."""
    code = "import numpy as np\nprint(np.random.rand(), np.random.default_rng().random(), np.random.RandomState().rand())"
    with Sandbox(workers=1, provided=Provided(modules=modules), limits=LIMITS) as sandbox:
        one, again, other = (printed(sandbox, code, Determinism(random_seed=seed)) for seed in (1, 1, 2))
    assert one == again
    assert not set(one.split()) & set(other.split())


THREADS = """
import threading
n = 0
def add():
    global n
    for _ in range(2000):
        m = n
        m += 1
        n = m
threads = [threading.Thread(target=add) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(n)
"""


def test_threads_that_take_turns_only_where_they_wait() -> None:
    """A race is won the same way each time, though every event is handed over meanwhile."""
    for _ in range(3):
        blocks: list[bytes] = []
        with Sandbox(workers=1, limits=LIMITS, determinism=Determinism(turns=True)) as sandbox:
            run_result = sandbox.run_one(Program(id="p", code=THREADS), tracing=Tracing(blocks.append))
        assert run_result.stdout == "6000\n"
        assert blocks


CAUSES: list[tuple[str, set[Cause]]] = [
    ("import random\nx = random.random()", {Cause.RANDOMNESS}),
    ("import uuid\nx = str(uuid.uuid4())", {Cause.RANDOMNESS}),
    ("import time\nx = time.time()", {Cause.TIME}),
    ("import datetime\nx = str(datetime.date.today())", {Cause.TIME}),
    ("x = list({'a', 'b', 'c', 'd', 'e', 'f', 'g'})", {Cause.UNORDERED}),
    ("x = hash('a')", {Cause.UNORDERED}),
    ("x = repr(object())", {Cause.ADDRESSES}),
    ("import os\nx = os.getpid()", {Cause.ENVIRONMENT}),
    ("import os\nx = os.stat('.').st_mtime_ns", {Cause.UNKNOWN}),
    (THREADS, {Cause.CONCURRENCY}),
    ("import random, time\nx = random.random()\ny = time.time()", {Cause.RANDOMNESS, Cause.TIME}),
    ("import random\nrandom.seed(hash('a'))\nx = random.random()", {Cause.UNORDERED}),
    ("import random, time\nrandom.seed(time.time())\nx = random.random()", {Cause.TIME}),
    ("import random\nrandom.seed(3)\nx = {random.random(), 'a', 'b'}\nclass A: pass\ny = A()", set()),
]
WHEN: dict[str, Any] = {THREADS: pytest.mark.exhaustive, "import os\nx = os.getpid()": ()}


@pytest.mark.parametrize(
    ("code", "found"),
    [pytest.param(*each, marks=WHEN.get(each[0], pytest.mark.slow)) for each in CAUSES],
)
def test_the_cause_is_found_by_experiment(code: str, found: set[Cause]) -> None:
    """Of programs that differ, what makes them so; of one whose randomness is seeded by time, time."""
    experiments = causes(Program(id="p", code=code), limits=LIMITS)
    assert set(experiments) == (found or {Cause.UNKNOWN})
    assert ("in no experiment" in experiments.get(Cause.UNKNOWN, "")) == (not found)


def test_what_was_fixed_is_no_cause() -> None:
    """With the clock fixed, only randomness is left of two causes."""
    program = Program(id="p", code="import random, time\nx = random.random()\ny = time.time()")
    found = causes(program, determinism=Determinism(clock=START), limits=LIMITS)
    assert set(found) == {Cause.RANDOMNESS}
    assert "x is" in found[Cause.RANDOMNESS]


def test_recordings_say_why_and_what_was_fixed(tmp_path: Path) -> None:
    """A recording that differs names its cause; with that fixed it is repeatable, and says what was fixed."""
    program = Program(id="dice", code="import random\nx = random.random()\n")
    summary = record_programs([program], tmp_path / "free", RecordSettings(limits=LIMITS))
    assert summary.causes == {"randomness": 1}
    assert summary.not_repeatable["dice"].endswith("(cause: randomness)")
    summary = record_programs(
        [program],
        tmp_path / "fixed",
        RecordSettings(limits=LIMITS, determinism=Determinism(random_seed=4), runs=3),
    )
    (recording,) = Recordings(tmp_path / "fixed")
    assert recording.repeatable is True
    assert recording.environment.fixed == {"random_seed": 4}


def test_a_session_has_a_fixed_clock_too() -> None:
    """Time goes on from piece to piece, and is taken back with the session."""
    with (
        Sandbox(workers=1, limits=LIMITS, determinism=Determinism(clock=START, random_seed=1)) as sandbox,
        sandbox.session() as session,
    ):
        session.run("import random, time")
        assert session.run("time.time()").run_result.result == repr(START)
        point = session.snapshot()
        after = session.run("time.time(), random.random()").run_result.result
        session.restore(point)
        assert session.run("time.time(), random.random()").run_result.result == after


@pytest.mark.parametrize("wrong", [{"clock": -1.0}, {"clock": 0.0, "tick_s": -1.0}])
def test_a_clock_that_cannot_be(wrong: dict[str, float]) -> None:
    """A negative clock or tick is refused with its value."""
    with pytest.raises(ValueError, match="-1"):
        Determinism(**wrong)  # type: ignore[arg-type]
