"""A check in another process: what asserts beside the program would let pass is found wrong."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.sandbox import Checked, Confinement, Limits, Sandbox
from deskcheck.sandbox.inside import codec as _codec
from tests.sample import spread

CHECK = (
    "def check(candidate):\n    assert candidate(1) == [1, 2]\n    assert candidate(5) == [5, 6]\ncheck(f)\n"
)
LIMITS = Limits(cpu_s=1, wall_s=60, memory_bytes=1 << 30)


@pytest.fixture(scope="module", params=spread([Confinement.STRICT, Confinement.STANDARD], 2))
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox(request.param, limits=LIMITS) as opened:
        yield opened


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("def f(x):\n    return [x, x + 1]\n", Outcome.RETURNED),
        ("class L(list): pass\ndef f(x):\n    return L([x, x + 1])\n", Outcome.RETURNED),
        ("def f(x):\n    return [x, x + 2]\n", Outcome.WRONG),
        ("class E:\n    def __eq__(self, other): return True\ndef f(x): return E()\n", Outcome.WRONG),
        ("class E(list):\n    def __eq__(self, other): return True\ndef f(x): return E()\n", Outcome.WRONG),
        ("def f(x):\n    raise KeyError(x)\n", Outcome.WRONG),
        ("import os\ndef f(x): os._exit(0)\n", Outcome.EXITED),
        ("import sys\nsys.exit(0)\n", Outcome.EXITED),
        ("def f(x):\n    while True: pass\n", Outcome.TIMED_OUT),
        ("1 / 0\n", Outcome.RAISED),
        ("def f(x):\n    return [0] * (1 << 34)\n", Outcome.OUT_OF_MEMORY),
        ("import json\njson.dumps = lambda value: 'x'\ndef f(x):\n    return [x, x + 1]\n", Outcome.WRONG),
        ("x = [0] * (1 << 34)\n", Outcome.OUT_OF_MEMORY),
        (  # it finds the function that reports, through the frames, and has it say that all is well
            (
                "import os, sys\ndef f(x):\n    frame = sys._getframe()\n    while frame:\n"
                "        run = frame.f_locals.get('run') or frame.f_locals.get('self')\n"
                "        if hasattr(run, 'report'):\n            run.report('returned')\n            os._exit(0)\n"
                "        frame = frame.f_back\n"
            ),
            Outcome.WRONG,
        ),
    ],
)
def test_a_check_cannot_be_forged(sandbox: Sandbox, code: str, outcome: Outcome) -> None:
    """Only right values pass; what else a program does keeps its own outcome."""
    run_result = sandbox.check_one(Checked(Program(id="p", code=code), CHECK, ("f",)))
    assert run_result.outcome is outcome, run_result.detail


@pytest.mark.parametrize("ordered", spread([True, False], 2))
def test_many_are_checked_as_workers_get_free(sandbox: Sandbox, ordered: bool) -> None:
    """Each result goes with its program; no more are taken than a few ahead; nothing runs on after the last."""
    taken = 0

    def answers() -> Iterator[Checked]:
        nonlocal taken
        for number in range(60):
            taken += 1
            code = f"def f(x):\n    return [x, x + {1 + number % 2}]\n"
            yield Checked(Program(id=str(number), code=code), CHECK, ("f",))

    results = sandbox.check(answers(), ordered=ordered)
    seen = [next(results) for _ in range(20)]
    assert taken < 60
    seen += results
    assert sorted(int(result.program.id) for result in seen) == list(range(60))
    assert not ordered or [int(result.program.id) for result in seen] == list(range(60))
    wanted = {0: Outcome.RETURNED, 1: Outcome.WRONG}
    assert all(result.run_result.outcome is wanted[int(result.program.id) % 2] for result in seen)


def test_checking_can_be_left(sandbox: Sandbox) -> None:
    """To close the iterator kills what still runs, and the sandbox goes on."""
    endless = Checked(Program(id="endless", code="def f(x):\n    while True: pass\n"), CHECK, ("f",))
    right = Checked(Program(id="right", code="def f(x):\n    return [x, x + 1]\n"), CHECK, ("f",))
    results = sandbox.check([right, endless, endless])
    assert next(results).run_result.outcome is Outcome.RETURNED
    results.close()  # type: ignore[attr-defined]
    assert sandbox.check_one(right).outcome is Outcome.RETURNED


def test_an_argument_is_changed_in_place(sandbox: Sandbox) -> None:
    """A check sees what a function did to the list that it was given."""
    check = "items = [3, 1, 2]\nassert f(items) is None\nassert items == [1, 2, 3]\n"
    run_result = sandbox.check_one(Checked(Program(id="p", code="def f(x): x.sort()\n"), check, ("f",)))
    assert run_result.outcome is Outcome.RETURNED, run_result.detail


RIGHT = {
    "an exception's text": (
        "def f(x): raise ValueError(f'no {x}')",
        (
            "try:\n    f(3)\nexcept ValueError as error:\n    assert str(error) == 'no 3' and error.args == ('no 3',)\n"
            "else:\n    assert False"
        ),
    ),
    "an exception class of its own": (
        (
            "class Odd(ValueError):\n    def __init__(self, x): self.x = x\n    def __str__(self): return f'<{self.x}>'\n"
            "def f(x): raise Odd(x)"
        ),
        (
            "try:\n    f([3])\nexcept ValueError as error:\n    found = error\n"
            "assert (type(found).__name__, str(found), found.x) == ('Odd', '<[3]>', [3])"
        ),
    ),
    "an exception that is returned": (
        "def f(): return [KeyError('a'), ExceptionGroup('two', [ValueError(1), OSError(2, 'no')])]",
        (
            "a, b = f()\nassert type(a) is KeyError and a.args == ('a',)\n"
            "assert [type(e) for e in b.exceptions] == [ValueError, FileNotFoundError]"
        ),
    ),
    "Decimal and Fraction": (
        (
            "from decimal import Decimal\nfrom fractions import Fraction\n"
            "def f(x): return [Decimal('1.10'), Fraction(x.numerator, 6), x]"
        ),
        (
            "from decimal import Decimal\nfrom fractions import Fraction\n"
            "a, b, c = f(Fraction(3, 7))\nassert str(a) == '1.10' and b == Fraction(1, 2) and c == Fraction(3, 7)"
        ),
    ),
    "dates and times": (
        (
            "import datetime as d, zoneinfo, uuid\n"
            "def f(x): return [x, d.date(2020, 1, 2), d.time(3, fold=1), d.timedelta(1, 2, 3),\n"
            "    d.datetime(2020, 1, 2, tzinfo=d.timezone(d.timedelta(hours=2))), uuid.UUID(int=7)]"
        ),
        (
            "import datetime as d, uuid\nnow = d.datetime(2021, 2, 3, 4, 5, 6, 7, tzinfo=d.timezone.utc)\n"
            "assert f(now) == [now, d.date(2020, 1, 2), d.time(3), d.timedelta(1, 2, 3),\n"
            "    d.datetime(2020, 1, 2, tzinfo=d.timezone(d.timedelta(hours=2))), uuid.UUID(int=7)]"
        ),
    ),
    "arrays": (
        "import numpy as np\ndef f(x):\n    x[0] = 9\n    return x * 2, np.float32(1.5), np.int64(4), x",
        (
            "import numpy as np\ngiven = np.arange(3)\ntwice, small, four, same = f(given)\n"
            "assert same is given and (given == [9, 1, 2]).all() and (twice == [18, 2, 4]).all()\n"
            "assert twice.dtype == given.dtype and small == 1.5 and small.dtype == 'float32' and four == 4"
        ),
    ),
    "a generator": (
        "def f(n):\n    for i in range(n): yield i\n",
        (
            "import types\nit = f(3)\nassert isinstance(it, types.GeneratorType)\nassert next(it) == 0\n"
            "assert list(it) == [1, 2] and list(it) == []"
        ),
    ),
    "a generator without end": (
        "import itertools\ndef f(): return map(str, itertools.count())",
        "import itertools\nassert list(itertools.islice(f(), 3)) == ['0', '1', '2']",
    ),
    "a generator that fails": (
        "def f():\n    yield 1\n    raise KeyError('k')",
        (
            "it = f()\nassert next(it) == 1\ntry:\n    next(it)\nexcept KeyError as e:\n    assert e.args == ('k',)\n"
            "else:\n    assert False"
        ),
    ),
    "a list inside a list, changed": (
        "def f(grid, *, more): grid[1].append(5); more['k'].add(1); grid.append(grid[0])",
        (
            "row, kept = [1], set()\ngrid, more = [[0], row], {'k': kept}\nassert f(grid, more=more) is None\n"
            "assert row == [1, 5] and grid[1] is row and grid[2] is grid[0] and kept == {1}"
        ),
    ),
    "the same list given back": (
        "def f(xs, ys):\n    xs.append(1)\n    return [xs, ys, xs]",
        "xs = []\na, b, c = f(xs, xs)\nassert a is xs and b is xs and c is xs and xs == [1]",
    ),
    "a list inside itself": (
        "def f():\n    xs = [1]\n    xs.append(xs)\n    return xs",
        "xs = f()\nassert xs[1] is xs and xs[0] == 1",
    ),
    "functions": (
        "def f(g, xs): return lambda n: [g(x) + n for x in xs]",
        (
            "def square(x): return x * x\nassert f(square, [1, 2])(1) == [2, 5]\n"
            "assert f(len, ['ab'])(0) == [2] and f(lambda x: x, iter([7]))(0) == [7]"
        ),
    ),
    "a function that comes home": (
        "def f(g, it): return g, [g], it",
        "def g(): return 1\nit = iter([1])\na, b, c = f(g, it)\nassert a is g and b == [g] and c is it",
    ),
    "a function that fails": (
        "def f(g):\n    try: g()\n    except LookupError as e: return repr(e)",
        "def g(): raise KeyError('k')\nassert f(g) == \"KeyError('k')\"",
    ),
    "calls inside of calls": (
        "def f(n, g): return 1 if n == 0 else n * g(n - 1)",
        "def g(n): return f(n, g)\nassert f(5, g) == 120",
    ),
    "collections": (
        (
            "from collections import *\ndef f(c, d):\n    d['x'].append(c.most_common(1))\n"
            "    return deque([1, 2], 2), OrderedDict(a=1), {1: 2}.keys(), {1: 2}.values(), {1: 2}.items(), int"
        ),
        (
            "from collections import *\nd = defaultdict(list)\na, b, c, e, g, h = f(Counter('aab'), d)\n"
            "assert d == {'x': [[('a', 2)]]} and a == deque([1, 2]) and a.maxlen == 2 and b == OrderedDict(a=1)\n"
            "assert c == {1} and list(e) == [2] and g == {(1, 2)} and h is int"
        ),
    ),
    "StopIteration, as in a generator": (
        "def f(): raise StopIteration(3)",
        "try:\n    f()\nexcept RuntimeError as error:\n    assert 'StopIteration' in str(error)\nelse:\n    assert False",
    ),
}
LYING = "class E(Exception):\n    def __eq__(self, other): return True\n    __hash__ = None\n"
WRONG = {
    "StopIteration in map": ("def f(x): raise StopIteration", "assert all(map(f, [1, 2]))"),
    "StopIteration in iter": ("def f(): raise StopIteration", "assert list(iter(f, 0)) == []"),
    "StopIteration of a class": (
        "class S(StopIteration): pass\ndef f(x): raise S",
        "assert all(map(f, [1, 2]))",
    ),
    "StopIteration of what is returned": (
        "def g(x): raise StopIteration\ndef f(): return g",
        "assert all(map(f(), [1, 2]))",
    ),
    "an exception of the harness's name": (
        "class NotCompared(Exception): pass\ndef f(x): raise NotCompared",
        "f(1)",
    ),
    "a lying exception": (LYING + "def f(x): return E()", "assert f(1) == [1]"),
    "a lying function": (
        "class E:\n    def __eq__(self, other): return True\n    def __call__(self): pass\ndef f(x): return E()",
        "assert f(1) == [1]",
    ),
    "a lying number": (
        (
            "import decimal\nclass D(decimal.Decimal):\n    def __eq__(self, other): return True\n"
            "    def __str__(self): return '7'\ndef f(x): return D(1)"
        ),
        "import decimal\nassert f(1) == decimal.Decimal(7)",
    ),
    "a lying array": (
        (
            "import numpy as np\nclass A(np.ndarray):\n    def __eq__(self, other): return np.True_\n"
            "def f(x): return np.zeros(1).view(A)"
        ),
        "import numpy as np\nassert (f(1) == np.ones(1)).all()",
    ),
    "a lying item": (
        LYING + "def f(x): return {'a': [E()]}",
        "assert f(1) == {'a': [1]}",
    ),
    "another text": (
        "def f(): raise ValueError('no')",
        "try:\n    f()\nexcept ValueError as error:\n    assert str(error) == 'yes'",
    ),
    "another Decimal": (
        "from decimal import Decimal\ndef f(): return Decimal(1)",
        "from decimal import Decimal\nassert f() == Decimal(2)",
    ),
}


@pytest.fixture(scope="module")
def strict() -> Iterator[Sandbox]:
    with Sandbox(Confinement.STRICT, limits=LIMITS) as opened:
        yield opened


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_found_right(strict: Sandbox, name: str) -> None:
    """Values of every type that can be told, what a call did to its arguments, functions and iterators."""
    code, check = RIGHT[name]
    compile(check, "check", "exec")
    run_result = strict.check_one(Checked(Program(id="p", code=code), check, ("f",)))
    assert run_result.outcome is Outcome.RETURNED, run_result.detail


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found_wrong(strict: Sandbox, name: str) -> None:
    """Also where in one process it would pass: objects that lie, exceptions that end the check's loops."""
    code, check = WRONG[name]
    run_result = strict.check_one(Checked(Program(id="p", code=code), check, ("f",)))
    assert run_result.outcome is Outcome.WRONG, run_result.detail


@pytest.mark.parametrize(
    ("code", "check", "reason"),
    [
        ("class Own: pass\ndef f(): return [Own()]", "f()", "the result: 'Own' is not a plain type"),
        ("class Own: pass\ndef f(): return Own()", "try:\n    f()\nexcept Exception:\n    pass", "'Own'"),
        ("class Own: pass\ndef f(): return Own()", "try:\n    f()\nexcept:\n    pass", "'Own'"),
        ("async def f(): return 1", "import asyncio\nassert asyncio.run(f()) == 1", "'coroutine'"),
        ("def f(x): return 1", "class Own: pass\nf(Own())", "an argument: 'Own' is not a plain type"),
        (
            "import numpy as np\ndef f(): return np.array([object()])",
            "f()",
            "an array of object",
        ),
    ],
)
def test_what_cannot_be_compared_is_said_so(strict: Sandbox, code: str, check: str, reason: str) -> None:
    """Neither passed nor wrong, nor a failure of ours; with the reason, and whatever the check catches."""
    run_result = strict.check_one(Checked(Program(id="p", code=code), check, ("f",)))
    assert run_result.outcome is Outcome.NOT_COMPARED, run_result.detail
    assert run_result.detail.startswith("cannot be compared: ")
    assert reason in run_result.detail


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
KEYS = st.recursive(
    LEAVES, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=4
)
VALUES = st.recursive(
    LEAVES
    | st.complex_numbers(allow_nan=False)
    | st.builds(bytearray, st.binary())
    | st.builds(range, st.integers()),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.sets(KEYS) | st.dictionaries(KEYS, inner),
    max_leaves=12,
)


@given(VALUES)
@settings(deadline=None)
def test_plain_values_come_back(value: object) -> None:
    """What crosses is equal to what was sent, and of the same types."""
    back = _codec.loads(_codec.dumps(value))
    assert back == value
    assert type(back) is type(value)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5), lambda i: st.lists(i, max_size=4), max_leaves=9
    )
)
@settings(deadline=None)
def test_whatever_comes_is_plain_or_refused(form: object) -> None:
    """Any JSON is a plain value or one clear error."""
    try:
        value = _codec.loads(json.dumps(form).encode())
    except _codec.CannotCross:
        return
    assert _codec.loads(_codec.dumps(value)) == value


TAGS = st.sampled_from(
    "list dict set tuple frozenset bytearray deque defaultdict Counter OrderedDict ndarray again number int bytes "
    "complex range slice constant dict_keys dict_values dict_items error class function iterator decimal.Decimal "
    "fractions.Fraction datetime.datetime datetime.timezone zoneinfo.ZoneInfo uuid.UUID ValueError eval type <i4 "
    "|O 00 ../../x call returned raised".split()
)
FORMS = st.recursive(
    st.none() | st.integers(-3, 4) | TAGS,
    lambda inner: st.builds(lambda tag, parts: [tag, *parts], TAGS, st.lists(inner, max_size=5)),
    max_leaves=12,
)


@given(FORMS)
@settings(deadline=None)
def test_no_message_makes_anything_else(form: object) -> None:
    """Made of the right words in any order: a value of a known type, or one clear error; what was known stays
    what it is."""
    known: list[object] = [[1], {"a": 1}, {2}, bytearray(b"c"), (4,)]
    kinds = [type(each) for each in known]
    stood: list[object] = []

    def stands_in(kind: str, number: int, name: str) -> object:
        stood.append((kind, number, name))
        return len

    decoder = _codec.PlainDecoder(known, stands_in)
    try:
        value = decoder.loads(json.dumps(form).encode())
    except _codec.CannotCross:
        return
    assert [type(each) for each in known] == kinds
    todo, seen = [value], set()
    while todo:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        base = type(each).__mro__[1] if isinstance(each, BaseException) else type(each)
        assert base.__module__.split(".")[0] in (
            *("builtins", "collections", "decimal", "fractions", "datetime", "zoneinfo", "uuid", "numpy"),
            "deskcheck",
        )
        if isinstance(each, dict):
            todo += each.values()
        elif isinstance(each, (list, tuple, set, frozenset)):
            todo += each
