"""Programs from a seed, of what a line can change without an instruction for it.

    program_of_seed("7-0")     the same text for the same seed

Classes whose methods C code calls back (`__eq__`, `__hash__`, `__lt__`, `__index__`, `__iter__`, ...), generators as arguments, views
and other objects that show another's content, attributes set through every hook, generators that exceptions are thrown into. Statements
are drawn without a look at what they need: one that fails is caught. Programs end: loops are counted, functions call those before
them only, containers are cut.
"""

import random
import re

from tests.tracer.layouts import drawn

MODULES = (
    "abc", "argparse", "array", "collections", "contextlib", "copy", "dataclasses", "datetime", "decimal", "fractions", "functools",
    "itertools", "pathlib", "string", "types", "typing", "weakref",
)  # fmt: skip
GLOBALS = {"calls": "calls = []", "total": "total = 0", "shared": "shared = [1]"}
GLOBALS |= {
    name: f"try:\n    import {name}\nexcept ImportError:\n    {name} = None" for name in ("numpy", "pandas")
}

METHODS = {
    "__eq__": "other",
    "__lt__": "other",
    "__hash__": "",
    "__index__": "",
    "__len__": "",
    "__bool__": "",
    "__iter__": "",
    "__contains__": "item",
    "__getitem__": "at",
    "__setitem__": "at, item",
    "__delitem__": "at",
    "__call__": "*args",
    "__add__": "other",
    "__iadd__": "other",
    "__enter__": "",
    "__exit__": "*problem",
    "__getattr__": "name",
    "__setattr__": "name, item",
    "__delattr__": "name",
    "__missing__": "key",
    "__reversed__": "",
    "__copy__": "",
    "__del__": "",
}
RETURNS = {
    "__eq__": ["self.n == getattr(other, 'n', other)", "True", "False"],
    "__lt__": ["self.n < getattr(other, 'n', 0)", "False"],
    "__hash__": ["self.n % 3", "1"],
    "__index__": ["self.n % 4"],
    "__len__": ["len(self.kept)", "self.n % 4"],
    "__bool__": ["self.n > 1"],
    "__iter__": ["iter(self.kept[:3])", "(i + 1 for i in range(self.n % 4))"],
    "__contains__": ["item == self.n"],
    "__getitem__": ["self.kept[at]"],
    "__setitem__": [],
    "__delitem__": [],
    "__call__": ["self.n + len(args)", "-self.n", "args[:1]"],
    "__add__": ["type(self)(self.n + 1)"],
    "__iadd__": ["self"],
    "__enter__": ["self", "self.kept"],
    "__exit__": ["True", "False", "problem[0] is ValueError"],
    "__getattr__": ["7"],
    "__setattr__": [],
    "__delattr__": [],
    "__missing__": ["[key]", "key"],
    "__reversed__": ["iter(self.kept[::-1])"],
    "__copy__": ["type(self)(self.n)"],
    "__del__": [],
}
NEEDED = {
    "__setitem__": ["self.kept[at] = item"],
    "__delitem__": ["del self.kept[at]"],
    "__iadd__": ["self.n += 1"],
    "__setattr__": ["object.__setattr__(self, name, item)", "self.__dict__[name] = item"],
    "__delattr__": ["object.__delattr__(self, name)"],
    "__getattr__": ["if name[:2] == '__': raise AttributeError(name)"],
}
"""What a method has to do to be of any use: one of these."""

ASIDE = [
    "calls.append(len(calls))", "del calls[3:]", "found = len(calls)", "shared.append(len(shared))", "del shared[4:]",
    "global total; total += 1", "kind = type(self).__name__", "type(self).count += 1", "type(self).log.append(1); del type(self).log[3:]",
]  # fmt: skip
"""What a method may do besides."""

BASES = ["", "", "", "(list)", "(dict)", "(collections.UserDict)", "(collections.UserList)", "(collections.deque)", "(set)",
         "(collections.OrderedDict)", "(collections.defaultdict)", "(collections.Counter)", "(int)", "(types.SimpleNamespace)",
         "(Exception)", "(bytearray)"]  # fmt: skip
LIBRARY_BASES = ["(abc.ABC)", "(argparse.Namespace)", "(collections.abc.MutableMapping)", "(collections.abc.MutableSequence)",
                 "(contextlib.ExitStack)", "(contextlib.ContextDecorator)", "(datetime.date)", "(decimal.Decimal)", "(float)",
                 "(fractions.Fraction)", "(frozenset)", "(pathlib.PurePosixPath)", "(str)", "(string.Formatter)",
                 "(tuple)", "(typing.Generic[T])", "(typing.NamedTuple('Pair', [('a', int)]))", "(Plain)"]  # fmt: skip
MADE_BY = {
    "(int)": "n", "(float)": "2", "(str)": "'ab'", "(tuple)": "(n, [n])", "(frozenset)": "(1, 2)", "(fractions.Fraction)": "1, 3",
    "(decimal.Decimal)": "'1.5'", "(pathlib.PurePosixPath)": "'a', 'b'", "(datetime.date)": "2000, 1, 2",
    "(typing.NamedTuple('Pair', [('a', int)]))": "n",
}  # fmt: skip
"""Bases whose instances are made by `__new__`, and its arguments."""

EXTRAS = """\
    @property
    def size(self):
        calls.append('size')
        return self.n
    @size.setter
    def size(self, item):
        self.n = item
===
    @functools.cached_property
    def once(self):
        found = [self.n]
        return found
===
    @classmethod
    def made(cls, n=1):
        cls.count += 1
        return cls(n)
===
    def add(self, item):
        self.kept.append(item)
        return self
===
    def each(self):
        for item in self.kept:
            yield item
===
    def name_of(self):
        return __class__.__name__
===
    def again(self):
        held = super()
        found = held.__init__
        return len(self.kept)
===
    field = Field()
===
    def swap(self):
        self.kept, self.n = [self.n], len(self.kept)
        self.__dict__['extra'] = self.kept
        return self.kept"""

DEFINITIONS = """\
class Field:
    def __get__(self, obj, kind=None):
        if obj is None:
            return self
        calls.append('get')
        return obj.__dict__.get('field', 0)
    def __set__(self, obj, item):
        obj.__dict__['field'] = item
        shared.append(item)
    def __delete__(self, obj):
        obj.__dict__.pop('field', None)
===
def gen(n):
    for i in range(n):
        total_now = i
        yield i
===
def changing(xs, n):
    for i in range(n):
        xs.append(i)
        yield i
===
def careful(n):
    got = []
    try:
        for i in range(n):
            got.append((yield i))
    except ValueError as error:
        got.append(error.args)
        yield 'caught'
    finally:
        shared.append(len(got))
    return got
===
def through(inner):
    kept = []
    try:
        kept.append((yield from inner))
    except KeyError:
        kept.append('key')
        yield kept
    return kept
===
def key(item):
    seen = len(calls)
    return seen
===
def small(item):
    return getattr(item, 'n', item if isinstance(item, int) else 0)
===
def counter(xs):
    n = 0
    def step(k=1):
        nonlocal n
        n += k
        xs.append(n)
        return n
    def look():
        return n
    return step, look
===
@contextlib.contextmanager
def held(xs):
    xs.append('in')
    try:
        yield xs
    finally:
        xs.append('out')
===
def noted(error, text):
    error.add_note(text)
    return error
===
T = typing.TypeVar('T')
===
@dataclasses.dataclass
class Plain:
    first: int = 0
    second: list = dataclasses.field(default_factory=list)
===
class Waits:
    def __init__(self, xs, answer=False):
        self.xs, self.answer = xs, answer
    async def __aenter__(self):
        self.xs.append('in')
        return self.xs
    async def __aexit__(self, *problem):
        self.xs.append('out')
        return self.answer
===
async def slow(n):
    try:
        for i in range(n):
            yield i
    finally:
        shared.append(n)
===
def drive(waiting):
    try:
        while True:
            waiting.send(None)
    except StopIteration as ended:
        return ended.value
===
def global_append(item):
    global shared
    shared = [*shared[:2], item]
===
def call_with(*args):
    first = args[0]
    if isinstance(first, list):
        first.append(len(args))
        del first[6:]
    elif isinstance(first, dict):
        first['called'] = args[1:]
    return args""".split("\n===\n")

VARIABLES = {
    "L": ["xs", "ys", "zs"],
    "D": ["d", "e"],
    "S": ["s", "t"],
    "B": ["buf", "buf2"],
    "Q": ["q", "q2"],
    "O": ["o", "p"],
    "N": ["n", "m", "k"],
    "G": ["g", "h"],
    "A": ["any1", "any2", "any3"],
    "F": ["step", "look"],
}
START = {
    "L": ["[3, 1, 2]", "[]", "[$O, $O]", "[[1], 2]", "list(gen(3))"],
    "D": ["{}", "{'a': 1}", "{$O: 1, 2: [3]}", "collections.defaultdict(list)", "collections.OrderedDict(a=1, b=2)",
          "collections.Counter('aab')", "collections.ChainMap({'a': 1}, {'b': 2})", "collections.UserDict(a=1)", "dict(x=[1])"],
    "S": ["set()", "{1, 2}", "{$O}"],
    "B": ["bytearray(b'abc')", "bytearray(4)", "array.array('b', [1, 2])"],
    "Q": ["collections.deque([1, 2])", "collections.deque(maxlen=3)"],
    "O": ["C0(1)", "C1(2)", "C0(3)"],
    "N": ["0", "1", "5"],
    "G": ["gen(3)", "careful(3)", "through(careful(2))", "changing(xs, 3)"],
    "A": ["None", "()"],
    "F": ["counter(xs)[0]", "len"],
}  # fmt: skip

STATEMENTS = """\
$L.append($V)
$L.extend(i for i in range(2))
$L.extend($O)
$L.extend(changing($L, 2))
$L.extend(map(small, $L[:2]))
$L += gen(2)
$L += (small(i) for i in $L[:2])
$L.insert($I, $V)
$L.remove($V)
$L.sort(key=small)
$L.sort(key=lambda i: key(i))
$L.sort()
$L[$I:$I] = gen(2)
$L[:] = (i for i in $L[:3])
$L[::2] = [$V]
$L[$I] = $V
$L[$I] += $V
del $L[$I]
del $L[5:]
$L *= 2; del $L[6:]
$A = $L.pop($I)
$A = $L.index($V)
$A = $V in $L
$A = $L.count($O)
$L.reverse()
$L = sorted($L, key=small)
$A = max($L, key=key)
$A = sum(gen(3))
$A = list(zip(gen(2), $L))
$A = [*$L, *gen(2)]
$N, *$L = gen(3)
$A, *_ = $L
$L = $L[1:]
$L = $L
$A = ($L, $D)
$D[$K] = $V
$D[$K] += 1
$D[$K] = $D
del $D[$K]
$A = $D.pop($K, None)
$D.setdefault($K, []).append($V)
$D.update({$K: $V})
$D.update((i, i) for i in gen(2))
$D.update(zip('ab', gen(2)))
$D.update($O.__dict__)
$D |= {$K: $L}
$D |= dict(a=$L)
$A = $D.keys()
$A = $D.values()
$A = $D.items()
$A = $D.get($K)
$A = $D[$K]
$A = $K in $D
$A = $D.popitem()
$D.clear()
$A = {**$D}
$A = $D | {$K: 1}
$A = types.MappingProxyType($D)
for $A in $D: $N += 1
for $D['a'] in gen(2): pass
for $L[0] in gen(2): $N += 1
$S.add($V2)
$S.discard($V2)
$S.update(gen(3))
$S.update($O)
$S |= set(gen(2))
$S -= {$V2}
$S ^= {$V2, 9}
$A = $S.pop() if len($S) == 1 else None
$B.append($N)
[b.append($O) for b in [$B] if type(b) is bytearray]
$B.extend(gen(2))
[b.extend($L) for b in [$B] if type(b) is bytearray]
$B[$I] = $I
$B[0:1] = bytes(2)
$B += bytes(1)
del $B[4:]
$B.insert(0, $N)
$A = memoryview($B)
$A[0] = 7
$A[:2] = b'zz'
$A.release()
$A = bytes($B)
$Q.append($V)
$Q.appendleft($V)
$Q.extend(gen(2))
$Q.extendleft($L[:2])
$Q.rotate($I)
$Q[0] = $V
del $Q[0]
$A = $Q.pop()
$Q.clear()
$Q += gen(2)
$O.n = $N
$O.n += 1
$O.kept = $L
$O.kept.append($V)
$O.kept += gen(2)
$O.other = $V
del $O.other
del $O.n
setattr($O, 'n', $N)
setattr($O, 'late', $L)
delattr($O, 'late')
$A = getattr($O, 'n', 0)
$A = $O.__dict__
$A = vars($O)
$A['n'] = 5
$A['more'] = [1]
$A.update(n=2)
vars($O)['n'] = $N
$O.__dict__.update(late=$L)
$O.__dict__ = {'n': 4, 'kept': $L}
type($O).count += 1
type($O).log = [$N]
C0.count = $N
$O.count += 1
$O.log.append($N)
del $O.log[2:]
$A = $O.add
$A = $O.add($V)
$A($V)
$A = $L.append
$A = $D.setdefault
$A = functools.partial($L.append, $V)
$A = functools.partial(small, $O)
$A()
$A = $O.size
$O.size = $N
$O.size += 1
$A = $O.once
$O.once.append(1)
$A = $O.made($N)
$A = $O.swap()
$A = $O.again()
$O.field = $V
$O.field += 1
del $O.field
$A = $O.name_of()
$A = copy.copy($O)
$A = copy.deepcopy($L)
$A = copy.copy($D)
$A = weakref.proxy($O)
$A.n = 8
$A.kept.append(3)
$O.__class__ = C0
$O = $O + $N
$O += 1
$A = -len($O)
$A = list($O)
$A = $N in $O
$A = $O[0]
$O[0] = $V
del $O[0]
$A = $O == $O
$A = $O < $O
$A = bool($O)
$A = range(9)[$O]
$A = $L[$O]
$A = $O($N)
$L[$O] = $V
$A = hash($O)
$A = {$O: $V, $N: 1}
$A = {$V2, $V2}
$A = [i for i in $O]
$A = {small(i): i for i in $L[:3]}
$A = next($G, None)
$A = $G.send($V)
$A = $G.throw(ValueError(1))
$A = $G.throw(KeyError('k'))
$G.close()
$G = $GEN
$A = list(itertools.islice($G, 2))
$A, any3 = itertools.tee($G)
$A = list(itertools.chain(gen(2), $L[:2]))
$A = itertools.chain(gen(1), $G)
$A = next($A, 0)
$A = iter($L)
$A = iter($D)
$A = reversed($L)
$A = enumerate($L)
$A = map(small, $L)
$A = filter(small, $L)
$A = zip($L, gen(2))
$A = any(small(i) > 1 for i in $L)
$A = functools.reduce(lambda a, b: a, gen(3))
$F, look = counter($L)
$A = $F(2)
$A = look()
$A = step.__closure__[0]
$A = step.__closure__[0].cell_contents
step.__closure__[0].cell_contents = $N
step.tag = $L
$A = step.__dict__
step.__dict__['tag'] = $N
step.__defaults__ = ($N,)
small.seen = $L
$N = $N + 1
$N += small($O)
$N -= 1
$N = (m := $N) + 1
if (k := len($L)) > 2: $L.clear()
del $N
$N = 3
$A = types.SimpleNamespace(a=$L, n=$N)
$A.a = $V
$A.a.append(1)
$A.__dict__['z'] = 1
$A = collections.ChainMap($D, {'q': 1})
$A['a'] = $V
$A.maps.append({})
$A = collections.UserList($L)
$A.data.append($V)
$A = collections.namedtuple('Pair', 'a b')($L, $N)
$A = array.array('i', gen(2))
$A.extend(gen(2))
$A = print($N, len($L))
print($O.n, end=' ')
$A = f'{$N} {len($L)}'
raise ValueError($N)
raise noted(KeyError($N), 'here')
assert $N
$A = 1 // ($N - 1)
exec('$L.append(1)', globals(), {'$L': $L})
$A = eval('$L', {'$L': $L})
globals()['total'] = $N
shared.extend(gen(2))
del shared[3:]
global_append($V)
$A = call_with($L)
$A = call_with($D, $N)
$A, $N = $N, 2
$A = $L.copy()
$A = $L[$I:]
$A = lambda: $L
$A = [*$L, $V, *gen(2)]
$A = [small($O), *$L[:2], key($V)]
$A = [$O, *$O, $N]
$A = {$V2, *$S, *gen(2)}
$A = {**$D, $K: $V, **$D}
$A = {'k': small($O), **$D, 'z': [*$L[:2], $N]}
$A = (*$L[:2], $V, *gen(1))
$A = call_with(*$L[:2], $V)
$A = call_with($L, *gen(2), *$L[:1])
$A = dict(**{'a': $V, 'b': $L}, c=$N)
$A = $O.add($V).add($N)
$A = $L.copy().copy().index($V)
$A = $N < 2 <= len($L) and $V or $L
$A = $V if $N > 1 and $L else $D
$A = not $O and -$N or ~$N
$A = [$L, $N] * 2
$A: list = [*$L[:3], $V]
$N: int = small($O)
$A = numpy.arange(4)
$A = numpy.array([[1, $N], [2, 3]])
$A[1:] = $N
$A += 1
$A = $A * 2
$A = $A.sum()
$A = numpy.zeros(3); $A[$I] = 5
$A = pandas.DataFrame({'a': [1, 2], 'b': [$N, 3]})
$A = pandas.Series([1, $N])
$A['a'] = 7
$A = [$N, $N + 1, $N + 2, 3, 4, 5, 6, 7, 8, 9, 10, $N, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, $N, 31, $L]
$A = {0: $V, 1: $N, 2: 2, 3: 3, 4: 4, 5: $N, 6: 6, 7: 7, 8: 8, 9: 9, 10: 10, 11: 11, 12: 12, 13: 13, 14: 14, 15: 15, 16: $L, 17: $N, 18: small($O)}
$A = {$N, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, $N + 40}
$A = call_with""".split("\n")

BLOCKS = """\
for $W in gen(2):
    $:
===
for $W in $L[:3]:
    $:
===
for $W in list($D)[:3]:
    $:
===
for $W, v in zip(gen(2), $L[:2]):
    $:
===
while $C < 2:
    $C += 1
    $:
===
if $L:
    $:
else:
    $:
===
with held($L) as w:
    $:
===
with $O as w:
    $:
===
with contextlib.suppress(Exception):
    $:
===
with held($L), contextlib.suppress(ValueError):
    $:
===
try:
    $:
except ValueError as error:
    error.add_note('note')
    $A = error
    $:
except KeyError as error:
    $A = error.args
else:
    $:
===
try:
    $:
finally:
    $:
===
try:
    try:
        $:
    except Exception as error:
        raise noted(RuntimeError('again'), 'twice') from error
except RuntimeError as error:
    $A = error.__notes__
    $:
===
match $V:
    case [first, *rest]:
        $:
    case {'a': found, **others}:
        $:
    case C0(n=number):
        $:
    case int() | str() as plain:
        $:
    case _:
        $:
===
match ($N, $L):
    case (1, [_, *rest]) if small(rest):
        $:
    case (number, items):
        $:
===
def inner($W=$L):
    nonlocal $N
    $:
    $N = 4
    return $L
$A = inner()
===
def inner():
    $:
    $A = yield $L
    $:
$G = inner()
$A = next($G, None)
===
class Inner(C0):
    items = $L
    def method(self):
        $:
        return __class__
$A = Inner(1)
$A.method()
===
call = lambda i: $L.append(i)
call($V)
===
for $W in through(careful(2)):
    $:
===
try:
    for $W in through(careful(2)):
        with held($L):
            $:
            missing
except NameError as problem:
    $A = problem.args
===
try:
    for $W in changing($L, 2):
        with held($L), $O:
            $:
            raise KeyError($W)
except Exception as problem:
    $A = problem
===
try:
    with contextlib.ExitStack() as stack:
        stack.callback($L.append, $V)
        stack.enter_context(held($L))
        $:
        raise ValueError($N)
except ValueError as error:
    $A = error
===
for $W in careful(2):
    try:
        try:
            $:
            raise KeyError($W)
        except KeyError as error:
            $:
            raise
        finally:
            $:
    except KeyError as error:
        $A = error.args
===
try:
    for $W in gen(2):
        try:
            missing
        finally:
            with $O:
                $:
except Exception as problem:
    $A = type(problem).__name__
===
for $W in gen(3):
    try:
        $:
        if $W: break
    finally:
        $:
        continue
===
async def inner():
    async with Waits($L, True) as $W:
        $:
        async for v in slow(2):
            $:
            missing
    return $L
$A = drive(inner())
===
async def inner():
    async with Waits($L), Waits($L):
        $:
    async for v in slow(3):
        with held($L):
            $:
            if v: return v
$A = drive(inner())
===
try:
    $A = [small(missing) for i in gen(2) if i]
except NameError as problem:
    $A = problem.name
===
try:
    $A = {i: key(1 // i) for i in careful(2)}
except ZeroDivisionError as problem:
    $:""".split("\n===\n")

_TOKEN = re.compile(r"\$(V2|GEN|[A-Z])")


class _Maker:
    """Makes one program. lean: of few kinds of statement, on few variables: a tracer that takes anything for changed as soon as
    one odd thing is about must not be spared what comes without it."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.counters = 0
        self.lean = self.random.randrange(4) > 0
        self.variables = VARIABLES
        if self.lean:
            self.variables = {
                kind: names[: 1 + self.random.randrange(2)] for kind, names in VARIABLES.items()
            }
        self.plain = self.lean and self.random.randrange(3) > 0
        """Whether methods do nothing besides."""

    def pick(self, items: list[str]) -> str:
        return items[self.random.randrange(len(items))]

    def filled(self, template: str, known: dict[str, str] | None = None) -> str:
        """A template with its tokens replaced. known: what `$C` and `$W` stand for."""

        def token(match: re.Match[str]) -> str:
            kind = match[1]
            if known and kind in known:
                return known[kind]
            if kind == "V":
                return self.filled(self.pick(["$N", "1", "'a'", "$O", "$L", "$A", "2", "(1, $N)", "[$N]"]))
            if kind == "V2":
                return self.filled(self.pick(["$N", "1", "'a'", "$O", "2", "C0(1)"]))
            if kind == "K":
                return self.filled(self.pick(["'a'", "'b'", "$N", "$O", "C0(1)", "C1(1)", "(1, 2)", "1"]))
            if kind == "I":
                return self.filled(self.pick(["0", "1", "-1", "$O", "$N"]))
            if kind == "GEN":
                return self.filled(self.pick(START["G"]))
            return self.pick(self.variables[kind])

        return _TOKEN.sub(token, template)

    def block(self, indent: str, depth: int) -> None:
        for _ in range(1 + self.random.randrange(4)):
            if depth and self.random.randrange(12 if self.lean else 5) == 0:
                self.compound(indent, depth - 1)
            else:
                self.statement(indent)

    def story(self, indent: str) -> None:
        """One object is made, held in some ways, and changed in others, with a line after each."""
        kind = self.pick([kind for kind in VARIABLES if kind not in "NA"])
        about = [text for text in STATEMENTS if f"${kind}" in text]
        held = [text for text in about if text.startswith("$A = ")]
        known = {kind: VARIABLES[kind][0]}
        for name in VARIABLES["A"][: self.random.randrange(4)] if held else ():
            self.lines.append(indent + self.filled(self.pick(held), {**known, "A": name}))
        for _ in range(3 + self.random.randrange(5)):
            text = self.pick(about) if self.random.randrange(6) else self.pick(STATEMENTS)
            if self.random.randrange(8) == 0:
                self.compound(indent, 1)
            elif self.random.randrange(10) == 0:
                number = len(self.lines)
                self.lines += [f"{indent}def change{number}():", f"{indent}    {self.filled(text, known)}"]
                self.lines += [f"{indent}    changed = 1", f"{indent}change{number}()"]
            else:
                self.statement(indent, self.filled(text, known))
            if self.random.randrange(2):
                self.lines.append(f"{indent}after = {len(self.lines)}")

    def statement(self, indent: str, text: str | None = None) -> None:
        text = self.filled(self.pick(STATEMENTS)) if text is None else text
        if self.random.randrange(3) or text.startswith(("raise", "assert")):
            self.lines += [f"{indent}try:", f"{indent}    {text}", f"{indent}except Exception as problem:"]
            self.lines.append(f"{indent}    caught = type(problem).__name__")
        else:
            self.lines.append(indent + text)

    def compound(self, indent: str, depth: int) -> None:
        self.counters += 1
        known = {"C": f"c{self.counters}", "W": f"w{self.counters}"}
        template = self.pick(BLOCKS)
        if "$C" in template:
            self.lines.append(f"{indent}c{self.counters} = 0")
        start = len(self.lines)
        for line in template.split("\n"):
            content = line.lstrip(" ")
            inner = indent + " " * (len(line) - len(content))
            if content == "$:":
                self.block(inner, depth)
            else:
                self.lines.append(inner + self.filled(content, known))
        if "nonlocal" in template:  # what it assigns there would be its own
            self._declare(start)

    def _declare(self, start: int) -> None:
        at = next(n for n in range(start, len(self.lines)) if "nonlocal" in self.lines[n])
        name = self.lines[at].split()[-1]
        after = next(n for n in range(at, len(self.lines)) if self.lines[n].strip().startswith("return "))
        self.lines[after - 1] = re.sub(r"\w+ = 4", f"{name} = 4", self.lines[after - 1])

    def a_class(self, name: str) -> list[str]:
        base = "" if self.lean and self.random.randrange(3) else self.pick(BASES)
        if base and not self.random.randrange(3):
            base = self.pick(LIBRARY_BASES)
        lines = [f"class {name}{base}:", "    count = 0", "    log = []"]
        if base in MADE_BY:
            lines += [
                "    def __new__(cls, n=0, *more):",
                f"        return super().__new__(cls, {MADE_BY[base]})",
            ]
        lines += ["    def __init__(self, n=0, *more):", "        self.n = n", "        self.kept = [n]"]
        lines += ["        super().__init__()"] if base and base not in MADE_BY else []
        names = [name for name in METHODS if name != "__del__" or not self.random.randrange(10)]
        chosen = {self.pick(names) for _ in range(1 + self.random.randrange(4 if self.lean else 8))}
        chosen.add("__hash__")  # or the order of a set would be that of addresses
        for method in sorted(chosen):
            lines += self.method(method)
        for extra in EXTRAS.split("\n===\n"):
            if self.random.randrange(8 if self.lean else 3) == 0:
                lines += extra.split("\n")
        return lines

    def method(self, name: str) -> list[str]:
        parameters = METHODS[name]
        lines = [f"    def {name}(self{', ' + parameters if parameters else ''}):"]
        if name in NEEDED:
            lines.append(f"        {self.pick(NEEDED[name])}")
        for _ in range(0 if self.plain else self.random.randrange(3)):
            aside = self.pick(ASIDE)
            if name not in ("__setattr__", "__getattr__", "__hash__") or "self" not in aside:
                lines += [f"        {part}" for part in aside.split("; ")]
        if RETURNS[name]:
            lines.append(f"        return {self.pick(RETURNS[name])}")
        elif name not in NEEDED:
            lines.append("        shared.append(0)")
        return lines

    def function(self, number: int) -> None:
        self.lines += [f"def f{number}(xs, o, n=1, *rest, **named):"]
        start = len(self.lines)
        for _ in range(1 + self.random.randrange(2) if self.lean else 4 + self.random.randrange(8)):
            if self.lean:
                self.story("    ")
            else:
                self.block("    ", 2)
        if number and self.random.randrange(2):
            self.lines.append(f"    f{self.random.randrange(number)}(xs, o)")
        self.lines += ["    return xs, n", "", ""]
        used = set(re.findall(r"\w+", "\n".join(self.lines[start:])))
        made = []
        for kind, names in reversed(VARIABLES.items()):
            for name in names:
                if name in used and name not in ("xs", "o", "n"):
                    value = self.pick(START[kind]).replace("$O", "o")
                    used |= set(re.findall(r"\w+", value))
                    made.append(f"    {name} = {value}")
        self.lines[start:start] = reversed(made)

    def make(self) -> str:
        count = 1 + self.random.randrange(2 if self.lean else 3)
        for number in range(count):
            self.function(number)
        for number in range(count):
            self.lines += ["try:", f"    result = f{number}([1, 2], C{number % 2}(1))"]
            self.lines += ["except Exception as error:", "    print(type(error).__name__)"]
        self.lines += ["end = 1"]
        return self.with_definitions("\n".join(self.lines) + "\n")

    def with_definitions(self, text: str) -> str:
        """The text after what it names."""
        classes = [self.a_class(name) for name in ("C0", "C1")]
        definitions = [*DEFINITIONS, *("\n".join(lines) for lines in classes)]
        named = {_defined(part): part for part in definitions}
        named |= GLOBALS | {name: f"import {name}" for name in MODULES}
        needed: list[str] = []
        todo = [text]
        while todo:
            words = set(re.findall(r"\w+", todo.pop()))
            for name, part in named.items():
                if name in words and name not in needed:
                    needed.append(name)
                    todo.append(part)
        parts = [named[name] for name in [*MODULES, *GLOBALS] if name in needed]
        parts += [f"\n\n{part}" for name, part in named.items() if name in needed and part in definitions]
        return "\n".join([*parts, "\n", text])


def _defined(part: str) -> str:
    """The name that a definition gives."""
    found = re.search(r"^(?:(?:async )?def|class) (\w+)|^(\w+) =", part, re.MULTILINE)
    assert found, part
    return found[1] or found[2]


def program_of_seed(seed: str) -> str:
    """The program of a seed, in a layout of its own. What the compiler refuses (a name that is nonlocal too late) is drawn again."""
    for attempt in range(100):
        text = _Maker(f"{seed}/{attempt}").make()
        try:
            compile(text, "program.py", "exec", dont_inherit=True)
        except SyntaxError:
            continue
        return drawn(text, random.Random(seed))
    raise AssertionError(f"no program of seed {seed!r} in 100 attempts")
