"""The tracer reads frames and stack slots where they lie: programs that free, move and overwrite what it reads while it
reads it, under an allocator that fills freed memory with a pattern.

Each runs in a process of its own. A crash, an error of the tracer or the pattern in an event is a failure. Not: whether
the events are right (test_events, test_instructions).
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import deskcheck
from deskcheck.tracer import Granularity
from tests.sample import spread
from tests.tracer.raising import TOOLS, program

DRIVER = """
import io, sys, types
sys.path.insert(0, sys.argv[1])
from deskcheck.tracer import Granularity, ReferenceTracer
blocks = []
module = sys.modules["__main__"] = types.ModuleType("__main__")
tracer = ReferenceTracer({"program.py": "program.py"}, blocks.append, granularity=Granularity(sys.argv[2]))
code = compile(sys.stdin.read(), "program.py", "exec", dont_inherit=True)
stdout, sys.stdout = sys.stdout, io.StringIO()
tracer.start()
try:
    exec(code, module.__dict__)
finally:
    tracer.stop()
    sys.stdout = stdout
assert tracer.failure is None, repr(tracer.failure)
assert tracer.cut is None, tracer.cut
assert not [block for block in blocks if b"\\xc3\\x9d\\xc3\\x9d" in block]
module.__dict__.clear()
import gc
gc.collect()
print(len(blocks))
"""

WEAKREF_CALLBACK = """
    # A call lets go of its operands one after another; the callback runs when the first has been unmapped.
    import weakref
    class D: pass
    def callback(reference):
        x = 1
    kept = []
    def made():
        d = D()
        kept.append(weakref.ref(d, callback))
        return d
    def go():
        for i in range(5):
            print("x" * (1 << 21), made(), [i] * 3)
            str.format("{}{}", "y" * (1 << 21), made())
            isinstance(made(), D)
            dict(a="z" * 400000 + str(i), b=made())
            len(("q" * 3000000 + str(i), made()))
    go()
"""

DESTRUCTORS_OF_OTHER_NAMES = """
    # What runs while the operands go is no function called __del__.
    class D:
        def cleanup(self):
            helper(2)
        __del__ = cleanup
    class E:
        __del__ = lambda self: helper(3)
    def helper(n):
        return n + 1
    def go():
        for i in range(10):
            print(iter([i, 2]), "a%d" % i, D(), E())
            print("b" * 2000000, D(), iter("abc"), E(), float(i) + .5)
            zip(iter([1]), [D()], (E(),))
            list(zip(map(str, [1, 2]), [D(), E()]))
            isinstance(D(), (E, D)), isinstance(E(), int)
    go()
"""

LIBRARY_GENERATOR = """
    # A generator that is not recorded closes because it is freed, and calls a function that is.
    import textwrap
    names = {}
    exec(compile(textwrap.dedent('''
    def lib(f, n):
        try:
            for i in range(n):
                yield f(i)
        finally:
            f(-1)
    import io
    class Raw(io.RawIOBase):
        def __init__(self, f): self.f = f
        def close(self):
            self.f(-3)
            super().close()
    '''), "library.py", "exec"), names)
    lib, Raw = names["lib"], names["Raw"]
    def f(i):
        return [i]
    def started(n):
        g = lib(f, n)
        next(g)
        return g
    def go():
        for i in range(5):
            print("x" * (1 << 20), started(3))
            len([started(3), "x" * 3000]), isinstance(started(3), int), next(started(3))
            list(zip(started(3), started(2)))
            print(Raw(f), "x" * 400000, float(i), Raw(f))
            sum(map(len, lib(f, 4)))
            for x in started(3):
                break
            for x in started(3):
                pass
    go()
"""

GENERATORS_END = """
    # What a generator holds is freed while somebody looks at it, and frames outlive their generators.
    import weakref
    class D:
        def __del__(self): look()
    kept, current = [], [None]
    def look():
        return type(current[0])
    def w():
        o = type("W", (), {})()
        kept.append(weakref.ref(o, lambda r: look()))
        return o
    def gen():
        a, b, c, d = D(), "text%d" % len(kept), w(), [D()]
        yield 1
        for i in [D(), w()]:
            yield i
        return D()
    class Awaited:
        def __await__(self):
            x = D()
            yield w()
            return w()
        def __del__(self): look()
    async def sub():
        z = w()
        await Awaited()
        return D()
    async def coro():
        a, d = D(), w()
        await sub()
        return D()
    async def agen():
        a = D()
        try:
            yield w()
            yield D()
        finally:
            look()
    async def use():
        async for x in agen(): x = None
        async for x in agen(): break
        return [x async for x in agen() if x]
    def drive(c):
        current[0] = c
        try:
            while True: c.send(None)
        except StopIteration: pass
    def go():
        for k in range(1):
            current[0] = g = gen()
            for v in g: v = None
            current[0] = g = gen(); next(g); g.close()
            current[0] = g = gen(); next(g)
            try: g.throw(ValueError("x%d" % k))
            except ValueError as e: traceback = e.__traceback__
            current[0] = g = gen(); next(g); frame = g.gi_frame
            g = current[0] = None
            frame.clear()
            frame = traceback = None
            current[0] = g = gen(); frame = g.gi_frame; list(g); frame.f_locals; frame.clear(); frame = None
            drive(coro()); drive(use())
            current[0] = c = coro(); c.send(None); c.close()
            current[0] = c = coro(); c.send(None)
            try: c.throw(KeyError("k%d" % k))
            except KeyError: pass
            c = coro(); c.send(None); current[0] = c = None
    go()
"""

UNWINDING = """
    # An exception or the end of a loop empties the stack, and what is freed by that runs code.
    import weakref
    def probe(n): return n
    class D:
        def __init__(self, n=0): self.n, self.t = n, "t" + type(n).__name__
        def __del__(self): probe(self.n)
    class It:
        def __init__(self, n): self.n = n
        def __iter__(self): return self
        def __next__(self):
            if self.n <= 0: raise StopIteration
            self.n -= 1
            return D(self.n)
        def __del__(self): probe(self.n)
    kept = []
    def w():
        o = type("W", (), {})()
        kept.append(weakref.ref(o, lambda r: probe(0)))
        return o
    def deep(n, *a):
        for x in It(2):
            for y in [D(1), w(), "s%d" % n]:
                for z in zip([w(), D(3)], It(3)):
                    if n == 0: raise ValueError("e%d" % len(kept))
                    deep(n - 1, D(n), w(), [D(4)] * 2)
    class Desc:
        def __set__(self, o, v): raise KeyError("k%d" % len(kept))
        def __get__(self, o, t=None): return D(11)
    class Base:
        @property
        def p(self): return D(probe(1))
    class C(Base):
        d = Desc()
        def __getitem__(self, k): return D(12)
        def __setitem__(self, k, v): probe(6)
        def __delitem__(self, k): probe(7)
        def __add__(self, o): return D(13)
        def __enter__(self): return D(14)
        def __exit__(self, *a): probe(10)
        def __hash__(self): return probe(13)
        def __call__(self, *a, **k): return D(15)
        def __iter__(self): return It(2)
        @property
        def p(self): return super().p, [super().p]
    class Holder:
        def __iter__(self): return self
        def __next__(self): raise StopIteration
        def __del__(self): probe(4)
    def rec(n, o): return rec(n - 1, [o, w()]) if n else D(1)
    def go():
        for n in (2, 1):
            try: deep(n)
            except ValueError as e: kept.append(None)
        for act in (lambda: setattr(C(), "d", D(20)), lambda: D(1)(D(2), w()), lambda: len(D(3), w(), "y" * 1000000),
                    lambda: [1 // i.n for i in It(2)]):
            try: act()
            except (KeyError, TypeError, ZeroDivisionError): pass
        C().d, C()[D(1)], C() + D(4), {C(): D(6), C(): w()}, C().p
        C()[w()] = D(2)
        del C()[D(3)]
        C()(D(7), *[w(), D(8)], **{"k": D(9)}), [*C()]
        try:
            with C() as q, C():
                1 // 0
        except ZeroDivisionError: pass
        a, b = C()
        try: a, b, z = C()
        except ValueError: pass
        class B:
            x = [D(i) for i in It(2)]
            y = w()
            del y, x
        while True:
            try:
                for x in It(3):
                    try: continue
                    finally: probe(1)
                break
            finally:
                w()
        rec(5, D(1))
        held, nested = Holder(), w()
        for _ in range(120): nested = [nested, D(2)]
        held.q, nested = nested, None
        its, held = [held], None
        for x in its.pop(): pass
    go()
"""

RAISED_AGAIN = """
    # The end of `with`, and what stands behind a handler, raise an exception again where it came from. Then the stack
    # is emptied further, and what goes runs code: generators that close, one after another, and destructors.
    def nested():
        for x in through(3):
            for y in careful(3):
                with H(), H() as h:
                    boom(D(), [x, y])
    def lines():
        for x in through(3):
            for y in careful(3):
                with H():
                    with H() as h:
                        look(4)
                        D() + missing
    def one_line():
        for x in careful(3):
            for y in through(3):
                with H(): boom([D()], look(x))
    def handler():
        for x in through(3):
            for y in careful(3):
                try: missing
                except NameError as error: boom(D(), error)
    def other_handler():
        for x in through(3):
            for y in careful(3):
                try: boom(D())
                except ValueError: pass
    def last():
        for x in through(3):
            for y in careful(3):
                try: boom(D())
                finally:
                    with H(True): boom(D())
                    look(5)
    def swallowed():
        for x in through(2):
            for y in careful(2):
                with H(True):
                    boom(D(), [x])
                look(6)
                with H(True): boom(D())
        return [D()]
    def at_the_top():
        exec("for x in through(3):\\n for y in careful(3):\\n  with H():\\n   boom(D())", globals())
    async def waiting():
        async for x in slow(3):
            for y in careful(3):
                async with H(), H():
                    boom(D())
    async def inside():
        for y in careful(3):
            async for x in slow(3):
                boom(D(), y)
    async def failing():
        for y in careful(3):
            async for x in fails():
                look(7)
    async def fails():
        yield D()
        boom(D())
    def thrown():
        g = through(3)
        next(g)
        for x in careful(3):
            g.throw(KeyError(1))
    def go():
        for act in (nested, lines, one_line, handler, other_handler, last, swallowed, at_the_top, thrown,
                    lambda: drive(waiting()), lambda: drive(inside()), lambda: drive(failing())):
            for _ in range(2):
                try: act()
                except KeyError: pass
                except (NameError, TypeError): pass
    go()
"""

COLLECTOR = """
    # The collector runs while the tracer does, and with it destructors that change what is being read.
    import gc
    gc.set_threshold(5, 2, 2)
    live, names, gens = [], {}, []
    def kill(n):
        if live: live.pop()
        names.clear()
        globals().pop("v%d" % (n % 7), None)
        for g in gens[:1]: g.close()
        del gens[:]
    def gen(o):
        try:
            a = [o, [1, 2]]
            yield a
            yield {"x": a}
        finally:
            kill(3)
    class Node:
        def __init__(self, n):
            self.n, self.me, self.g = n, self, gen(self)
            next(self.g)
        def __del__(self): kill(self.n)
    def go():
        for i in range(40):
            live.append([i, [i, (i, "t%d" % i)]])
            names["k%d" % i] = [i]
            globals()["v%d" % (i % 7)] = Node(i)
            g = gen([i])
            next(g)
            gens.append(g)
    go()
"""

THREADS = """
    # Other threads run on the generators and iterators, and change the dicts, that this one's events show.
    import sys, threading
    sys.setswitchinterval(1e-6)
    class D:
        def __init__(self, n): self.n, self.me = n, self
    def gen(n):
        for i in range(n):
            x = D(i)
            yield [x, "s%d" % i]
    def values(): return iter({j: D(j) for j in range(5)}.values())
    shared, gens, its = [], [gen(5) for _ in range(4)], [values() for _ in range(4)]
    def work(k):
        for i in range(8):
            shared.append(D(i))
            globals()["g%d_%d" % (k, i)] = i
            try: next(gens[k])
            except StopIteration: gens[k] = gen(5)
            try: next(its[k])
            except StopIteration: its[k] = values()
            if len(shared) > 5: shared.clear()
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
"""

PROGRAMS = {
    "weakref_callback": WEAKREF_CALLBACK,
    "destructors_of_other_names": DESTRUCTORS_OF_OTHER_NAMES,
    "library_generator": LIBRARY_GENERATOR,
    "raised_again": TOOLS + textwrap.dedent(RAISED_AGAIN),
    "generators_end": GENERATORS_END,
    "unwinding": UNWINDING,
    "collector": COLLECTOR,
    "threads": THREADS,
}


@pytest.mark.parametrize("granularity", list(Granularity))
@pytest.mark.parametrize("name", spread(PROGRAMS, 8, 14))
def test_nothing_freed_is_read(name: str, granularity: Granularity, tmp_path: Path) -> None:
    """The program runs to its end under the tracer, and no event shows freed memory."""
    watch(textwrap.dedent(PROGRAMS[name]), granularity, tmp_path)


@pytest.mark.parametrize("granularity", list(Granularity))
@pytest.mark.parametrize("seed", spread(range(300), 300, 100))
def test_nothing_freed_is_read_where_exceptions_pass(
    seed: int, granularity: Granularity, tmp_path: Path
) -> None:
    """The same of programs that nobody wrote."""
    watch(program(seed), granularity, tmp_path)


def watch(text: str, granularity: Granularity, folder: Path) -> None:
    root = str(Path(deskcheck.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", DRIVER, root, granularity],
        input=text,
        env={**os.environ, "PYTHONMALLOC": "debug"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:3000]
    assert int(done.stdout) > 50
