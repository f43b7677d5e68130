"""Cells tried out in forks of a notebook's states: real sessions of the sandbox, real IPython."""

import contextlib
import io
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskcheck.errors import InputError, MissingExtra
from deskcheck.notebook.kernel.replayer import replay
from deskcheck.notebook.trajectory.trajectory import Restart, Status, shown_outputs
from deskcheck.notebook.trial.compare import Agreement, _message, _stream, agreement
from deskcheck.notebook.trial.trial import TrialLimits, TrialPlace, Trials
from deskcheck.sandbox.confinement import Confinement
from tests.notebook.trying import notebook, tried
from tests.sample import examples, spread

pytest.importorskip("IPython", reason="would have proved how cells are tried out and scored")


def kinds(scored: Agreement) -> set[str]:
    return {each.kind for each in scored.why}


def test_a_trial_leaves_the_state_as_it_was() -> None:
    """Values, modules, random numbers and files are those of before, for each cell that is tried."""
    before = "import os, random\nx = [1]\nopen('f', 'w').write('1')\nos.mkdir('d')\nos.chdir('d')"
    look = "x, random.random(), open('../f').read(), os.listdir(), 'wave' in sys.modules"
    with tried("import sys", before, "x.append(2)", at=2) as place:
        seen = [place.run(look).outputs[0].data]
        place.run("import wave\nx.append(3)\nopen('../f', 'w').write('2')\nopen('g', 'w')\nrandom.seed(1)")
        seen.append(place.run(look).outputs[0].data)
        assert seen[0] == seen[1]
        assert seen[0]["text/plain"].startswith("([1], 0.")
        assert seen[0]["text/plain"].endswith("'1', [], False)")
        assert place.score("x += [2]").score == 1


HOSTILE = {
    "ends its process": ("import os; os._exit(0)", Status.DIED),
    "kills it": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", Status.DIED),
    "kills its parent": ("import os, signal; os.kill(os.getppid(), signal.SIGKILL)", None),
    "never ends": ("while True: pass", Status.TIMED_OUT),
    "asks": ("input('?')", Status.ERROR),
    "does not obey": (
        "while True:\n    try:\n        while True: pass\n    except KeyboardInterrupt: pass",
        Status.TIMED_OUT,
    ),
    "obeys late": (
        "try:\n    while True: pass\nexcept KeyboardInterrupt: x.append(2)\nprint(x)",
        Status.TIMED_OUT,
    ),
    "sleeps": ("import time; time.sleep(1000)", Status.TIMED_OUT),
    "fills memory": ("x = [bytearray(1 << 28) for _ in range(100)]", None),
    "floods": ("for _ in range(50_000): print('x' * 30)", Status.OK),
    "floods the descriptor": (
        "import os\nfor _ in range(100_000): os.write(1, b'x' * 4096)",
        Status.DIED,
    ),
    "forks": ("import os\nif os.fork() == 0:\n    while True: pass", Status.OK),
    "exits": ("import sys; sys.exit(0)", Status.ERROR),
    "leaves": ("exit()", Status.DIED),
    "leaves a thread": ("import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()", Status.OK),
    "breaks builtins": ("import builtins\nbuiltins.len = builtins.isinstance = None", None),
    "breaks json": ("import json\njson.dumps = lambda *a, **k: '{}'", Status.DIED),
    "removes its folder": ("import os, shutil\nshutil.rmtree(os.getcwd())", None),
    "is no Python": ("def", Status.ERROR),
    "has a null in it": ("x = '\0'", None),
    "has a lone surrogate": ("x = '\udc80'", None),
}  # fmt: skip


@pytest.fixture(scope="module")
def hostile_place() -> Iterator[TrialPlace]:
    limits = TrialLimits(trial_s=4, memory_bytes=2 << 30)
    with tried("x = [1]", "x.append(2)\nprint(x)", "x", at=1, limits=limits) as place:
        yield place


@pytest.mark.parametrize("what", spread(HOSTILE, 12, 6))
def test_whatever_a_candidate_does_it_is_scored(hostile_place: TrialPlace, what: str) -> None:
    """It gets a status and scores 0, and the true cell scores 1 after it."""
    source, status = HOSTILE[what]
    trial = hostile_place.run(source)
    assert status is None or trial.status is status
    assert hostile_place.score(source).score == 0
    assert hostile_place.score("x += [2]\nprint([1, 2])").score == 1


RULE = [
    # true cell, candidate, kinds of difference: an earlier cell has x = [3, 1], n = 5, f = max; a later one reads y
    ("y = n + 1", "y = 6", set()),
    ("y = n + 1", "y = 6.0", {"variable"}),
    ("y = n + 1", "z = 6", {"variable"}),
    ("t = n + 1\ny = t * 2", "u = n + 1\ny = u * 2", set()),
    ("t = n + 1\ny = t * 2", "y = 12", set()),
    ("y = 12", "t = n + 1\ny = t * 2", set()),
    ("z = n + 1", "w = 6", set()),
    ("z = n + 1", "w = 7", {"variable"}),
    ("z = n + 1", "pass", {"variable"}),
    ("z = 1\nw = 2", "v = 2\nu = 1", set()),
    ("z = 1\nw = 1", "z = 1", {"variable"}),
    ("for n in range(3): y = n", "y = 2", set()),
    ("y = 1", "y = 1\nn = 2", set()),
    ("y = 1", "y = 1\nx.sort()", {"variable"}),
    ("x.sort()", "x[:] = [1, 3]", set()),
    ("x.sort()", "x.reverse(); x.append(1)", {"variable"}),
    ("x.sort()", "sorted(x)", {"result", "variable"}),
    ("del x", "del x", set()),
    ("del x", "x = None", {"removed", "variable"}),
    ("y = 1\ndel n", "y = 1", {"removed"}),
    ("print(n)", "print(5)", set()),
    ("print(n)", "print('5 ')", {"stdout"}),
    ("print(n)", "n", {"stdout", "result"}),
    ("print(1); print(2)", "print('1\\n2')", set()),
    ("import sys; print(n, file=sys.stderr)", "import sys; sys.stderr.write('5\\n');", set()),
    ("import sys; print(n, file=sys.stderr)", "print(n)", {"stdout", "stderr"}),
    ("import warnings\nwarnings.warn('w')", "import warnings\n\n\nwarnings.warn('w');", set()),
    ("import warnings\nwarnings.warn('w')", "import warnings\nwarnings.warn('v')", {"stderr"}),
    ("n", "5", set()),
    ("n", "n;", {"result"}),
    ("n", "6", {"result"}),
    ("object()", "object( )", set()),
    ("1/0", "5/0", set()),
    ("1/0", "n/(n - 5)", set()),
    ("1/0", "1%0", {"error"}),
    ("1/0", "{}[0]", {"error"}),
    ("1/0", "pass", {"status"}),
    ("n", "1/0", {"status"}),
    ("y = 1\n1/0", "1/0", {"variable"}),
    ("x = (", "\n\nx = (", set()),
    ("display(n)", "display(5)", set()),
    ("display(n)", "n", {"display", "result"}),
    ("display({'text/html': '<b>'}, raw=True)", "display({'text/html': '<i>'}, raw=True)", {"display"}),
    ("print('gone'); get_ipython().display_pub.clear_output(); print(1)", "print(1)", set()),
    ("h = display(1, display_id='k'); h.update(2)", "display(2, display_id='k');", set()),
    ("open('f', 'w').write('a');", "with open('f', 'w') as s: s.write('a')", set()),
    ("print(1, file=open('f', 'w'))", "print(2, file=open('f', 'w'))", {"file"}),
    ("print(1, file=open('f', 'w'))", "print(1, file=open('g', 'w'))", {"file"}),
    ("display(n, display_id='k');", "display(n, display_id='j');", {"display"}),
    ("display(n, display_id=True);", "display(n, display_id=True);", set()),
    ("y = display(n, display_id='k')", "y = display(n, display_id='j')", {"display", "variable"}),
    ("from string import Template\ny = Template('a')", "import string\ny = string.Template('a')", set()),
    ("from string import Template\ny = Template('a')", "import string\ny = string.Template('b')", {"variable"}),
    ("import string\ny = [string.Template('a')]", "import string\ny = [string.Template('a')]", set()),
    ("y = get_ipython()\nimport wave", "import wave\ny = get_ipython()", set()),
    ("!echo hi", "print('hi')", {"stdout"}),  # which ends its lines as a terminal does
    ("!echo hi", "!echo ho", {"stdout"}),
    ("def y(a):\n    'doc'\n    b = a  # why\n    return b", "def y(a) -> int:\n    c = a\n    return c", set()),
    ("def y(a):\n    return a + 1", "def y(a):\n    return a + 2", {"variable"}),
    ("def y(a):\n    return a + 1", "def y(b):\n    return b + 1", {"variable"}),
    ("def y(a=1): pass", "def y(a=2): pass", {"variable"}),
    ("y = lambda a: a", "y = lambda a: -a", {"variable"}),
    ("class y:\n    def m(self): return 1", "class y:\n    def m(self): return 1  # one", set()),
    ("class y:\n    def m(self): return 1", "class y:\n    def m(self): return 2", {"variable"}),
    ("y = (lambda k: lambda: k)(1)", "y = (lambda k: lambda: k)(2)", {"variable"}),
    ("y = [lambda: 1]", "y = [lambda: 2]", {"variable"}),
    ("y = x", "y = x[:]", {"alias"}),
    ("y = list(x)", "y = x[:]", set()),
    ("y = {1: 'a', 2: 'b'}", "y = {2: 'b', 1: 'a'}", {"variable"}),
    ("import math\ny = math.pi", "from math import pi\ny = pi", set()),
    ("y = {1, 2}", "y = {2, 1}", set()),
    ("y = dict.fromkeys(range(200), 0)", "y = {n: 0 for n in range(200)}", set()),
    ("y = dict.fromkeys(range(200), 0)", "y = {n: n == 199 for n in range(200)}", {"variable"}),
    ("import random\nrandom.seed(n)", "import random\nrandom.seed(5)", set()),
    ("import random\nrandom.seed(n)", "import random\nrandom.seed(6)", {"setting"}),
    ("import random\nrandom.seed(n)", "import random", {"setting"}),
    ("import random\ny = 1", "import random\nrandom.seed(n)\ny = 1", set()),
    ("import random\ny = random.Random(n)", "import random\ny = random.Random(5)", set()),
    ("import random\ny = random.Random(n)", "import random\ny = random.Random(6)", {"variable"}),
    ("import sys\nsys.setrecursionlimit(3000)", "import sys\nsys.setrecursionlimit(n * 600)", set()),
    ("import sys\nsys.setrecursionlimit(3000)", "import sys\nsys.setrecursionlimit(3001)", {"setting"}),
    ("import sys\nsys.setrecursionlimit(3000)", "import sys", {"setting"}),
    ("y = 1", "import sys\nsys.setrecursionlimit(3000)\ny = 1", {"setting"}),
    ("import warnings\nwarnings.simplefilter('ignore')", "import warnings\nwarnings.filterwarnings('ignore')", set()),
    ("import warnings\nwarnings.simplefilter('ignore')", "import warnings\nwarnings.simplefilter('once')", {"setting"}),
    ("import warnings\nwarnings.filterwarnings('ignore', 'a')", "import warnings\nwarnings.filterwarnings('ignore', 'b')", {"setting"}),
    ("get_ipython().ast_node_interactivity = 'all'", "get_ipython().ast_node_interactivity = 'last'", {"setting"}),
    ("y = {n: [n] for n in range(200)}", "y = {n: [n - (n == 199)] for n in range(200)}", {"variable"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def rule_trials() -> Iterator[Trials]:
    """The earlier cell, every true cell in its turn after a restart, and what is later."""
    given = notebook("x = [3, 1]\nn = 5\nf = max", *(true for true, _, _ in RULE), "print(y, x)")
    first, *trues, last = given.executions
    steps = [step for true in trues for step in (first, true, last, Restart(order=first.order))]
    with Trials(replace(given, steps=tuple(steps))) as trials:
        yield trials


@pytest.mark.parametrize("number", spread(range(len(RULE)), 30, 4))
@pytest.mark.slow
def test_the_rule(rule_trials: Trials, number: int) -> None:
    """Each line of `RULE`: nothing differs and the score is 1, or just what is said does and it is 0."""
    true, candidate, differences = RULE[number]
    place = rule_trials.at(4 * number + 1)
    assert place.refusal is None
    assert place.score(true).score == 1
    scored = place.score(candidate)
    assert (kinds(scored), scored.score) == (differences, int(not differences))


REFUSED = {
    "time": ("import time", "print(time.time())", "two runs of the true cell differ: stdout"),
    "randomness": ("import secrets", "k = secrets.token_hex()", "two runs of the true cell differ: variable"),
    "nothing": ("x = 1", "x", None),
    "no visible effect": ("import threading\nl = threading.Lock()", "l.acquire();", "has no visible effect"),
    "its end": ("x = 1", "import os; os._exit(3)", "died"),
    "a thread": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        "1 + 1",
        "no fork: the session runs 1 threads",
    ),
    "a file": ("import tempfile\nf = open('f', 'w')", "1 + 1", "no fork"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_scored(what: str) -> None:
    """It is said why, and the score is None, not a number."""
    before, true, why = REFUSED[what]
    with tried(before, true, "k = 0", at=1) as place:
        scored = place.score(true)
        if why is None:
            assert (place.refusal, scored.score) == (None, 1)
        else:
            assert why in (place.refusal or "")
            assert (scored.score, kinds(scored)) == (None, {"unscored"})


@pytest.mark.slow
def test_earlier_cells_are_run_as_in_a_replay() -> None:
    """One that dies or does not end leaves a fresh or an interrupted state; a restart clears it."""
    endless = "y = 2\nwhile True: pass"
    given = notebook("x = 1", "import os; os._exit(1)", "y = 1", endless, "print(sorted(globals()), y)", "")
    *steps, last = given.executions
    trajectory = replace(given, steps=(*steps, Restart(order=last.order), steps[4]))
    with Trials(trajectory, limits=TrialLimits(cell_s=5)) as trials:
        run = trials.at(4).run("print('x' in globals(), y)")
        assert run.outputs[0].text == "False 2\n"
        assert trials.at(6).run("print('y' in globals())").outputs[0].text == "False\n"


def test_places_in_any_order() -> None:
    """Going back is a new beginning; a place that was left cannot be used; other steps are none."""
    given = notebook("x = 1", "x += 1", "x += 1", "x")
    with Trials(given) as trials:
        for step in (3, 1, 2, 2, 0):
            assert trials.at(step).run("globals().get('x')").outputs == () if step == 0 else True
            if step:
                assert trials.at(step).run("x").outputs[0].data == {"text/plain": str(step)}
        left = trials.at(1)
        trials.at(2)
        with pytest.raises(InputError, match=r"before step 1 is gone: Trials.at has moved to step 2"):
            left.run("x")
        for wrong in (-1, 4):
            with pytest.raises(InputError, match=f"step {wrong} is not the execution"):
                trials.at(wrong)


def test_a_cell_that_ended_otherwise_in_the_record(tmp_path: Path) -> None:
    """Then the state is not the recorded one: nothing after it is scored."""
    recorded = replay(
        notebook("x = 1", "import os\nprint('KERNEL_ID' in os.environ)", "y = x"),
        tmp_path / "n.trajectory.parquet",
    )
    with Trials(recorded) as trials:
        assert trials.at(2).refusal is None
    first, *others = recorded.executions
    other = replace(recorded, steps=(replace(first, status=Status.ERROR), *others))
    with Trials(other) as trials:
        assert trials.at(2).refusal == "step 0 ended as ok, but as error in the trajectory"


def test_what_is_refused_at_the_door(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another language, no folder, no IPython: with the way out."""
    with pytest.raises(InputError, match="'/nowhere' is not a folder"):
        Trials(notebook("1"), folder="/nowhere")
    with pytest.raises(InputError, match=r"for R \(kernel 'ir'\)"):
        Trials(replace(notebook("1"), kernel="ir", language="R"))
    monkeypatch.setitem(sys.modules, "IPython", None)
    with pytest.raises(MissingExtra, match=r"trying cells out needs .* pip install 'deskcheck\[notebook\]'"):
        Trials(notebook("1"))


SHOWN = (
    "print('a'); print('b')\n1",
    "import sys\nsys.stderr.write('e')\nfrom IPython.display import display, clear_output, HTML, SVG",
    "print('gone'); clear_output(); display(HTML('<b>x</b>'))",
    "d = display('old', display_id='k'); d.update('new')\n[1] * 3",
    "clear_output(wait=True); print('left')",
    "{}['key']",
    "def f(:",
    "display({'image/png': b'\\x89PNG', 'application/json': {'a': [1]}}, raw=True)",
    "%whos\n%pwd",
    "!echo out; echo err >&2",
    "import sys; sys.exit('now')",
    "_ , In[0]",
    "input('?')",
    "raise KeyboardInterrupt",
)


def test_outputs_are_those_of_a_kernel(tmp_path: Path) -> None:
    """What a trial shows and how it ends is what a reader of the kernel's record sees."""
    given = notebook(*SHOWN)
    recorded = replay(given, tmp_path / "n.trajectory.parquet")
    with Trials(given) as trials:
        for number, execution in enumerate(recorded.executions):
            found = trials.at(number).true
            ours, theirs = (
                {
                    "status": each.status,
                    "streams": {
                        name: _stream(shown_outputs(each.outputs), name) for name in ("stdout", "stderr")
                    },
                    "others": [
                        (o.type, o.name, _message(o.value or ""), o.data)
                        for o in shown_outputs(each.outputs)
                        if o.type != "stream"
                    ],
                }
                for each in (found, execution)
            )
            assert ours == theirs, execution.source


NAMES = st.sampled_from("abc")
EXPRESSIONS = st.one_of(st.integers(0, 3).map(str), NAMES, st.tuples(NAMES, NAMES).map(" + ".join))
STATEMENTS = st.one_of(
    st.tuples(NAMES, EXPRESSIONS).map(" = ".join), EXPRESSIONS.map(lambda text: f"print({text})")
)
CELLS = st.lists(STATEMENTS, min_size=1, max_size=4)


@pytest.fixture(scope="module")
def plain_place() -> Iterator[Trials]:
    with Trials(notebook("a, b, c = 0, 1, 2", "pass", "print(a, b, c)")) as trials:
        yield trials


@pytest.mark.slow
@settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(true=CELLS, candidate=CELLS)
def test_scores_are_those_of_plain_runs(plain_place: Trials, true: list[str], candidate: list[str]) -> None:
    """Where all variables are read later, two cells agree if they print the same and leave the same values,
    which a plain `exec` tells; a value that is assigned as it was is no change."""
    place = plain_place.at(1)
    sources = ["\n".join(lines) for lines in (true, candidate)]
    runs = place.run(sources[0]), place.run(sources[1])
    expected = [_plain(source) for source in sources]
    assert agreement(*runs, place.later).score == int(expected[0] == expected[1])


def _plain(source: str) -> tuple[str, dict[str, int]]:
    names = {"a": 0, "b": 1, "c": 2}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(source, {}, names)
    return printed.getvalue(), names


@pytest.mark.parametrize("level", spread([Confinement.STRICT, Confinement.STANDARD, Confinement.TRUSTED], 3))
def test_every_level(level: Confinement) -> None:
    """Forks, files and limits are there at each."""
    sources = ("open('f', 'w').write('1');", "y = open('f').read()", "y")
    with tried(*sources, at=1, confinement=level, limits=TrialLimits(trial_s=4)) as place:
        assert place.run("while True: pass").status is Status.TIMED_OUT
        assert place.score("y = '1'").score == 1
        assert place.score("y = '2'").score == 0
        assert place.score("open('f', 'w').write('2')\ny = '1'").score == 0
