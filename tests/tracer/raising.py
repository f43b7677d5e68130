"""Programs in which exceptions leave blocks inside of blocks, and what goes with them runs code: destructors, and
generators that close. Nobody wrote them: each seed is one.
"""

import random
import textwrap

TOOLS = textwrap.dedent("""
    class D:
        def __del__(self): look(1)
    class H:
        def __init__(self, answer=False): self.answer, self.d = answer, D()
        def __enter__(self): return [D()]
        def __exit__(self, *a): return self.answer
        async def __aenter__(self): return [D()]
        async def __aexit__(self, *a): return self.answer
    def look(n): return [n, "text%d" % n]
    def careful(n):
        d = D()
        try:
            for i in range(n): yield [i, D()]
        finally:
            look(2)
    def through(n):
        yield from careful(n)
    async def slow(n):
        try:
            for i in range(n): yield [i, D()]
        finally:
            look(3)
    async def pause(): look(4)
    def boom(*a): raise KeyError(a)
    def drive(c):
        try:
            while True: c.send(None)
        except StopIteration: pass
""")
_RAISE = (
    "boom(D(), [1])",
    "missing",
    "D() + 1",
    "[D(), boom(2)]",
    "raise KeyError(D())",
    "1 // 0",
    "x = [D(), careful(2)]; next(x[1]); boom(D())",
    "print(next(careful(2)), boom(D()))",
    "f'{boom(D())}'",
    "{**missing}",
    "look(5)",
)
_ITERABLES = (
    "careful(2)",
    "through(2)",
    "[D(), D()]",
    "iter([1, 2])",
    "zip(careful(2), through(2))",
    "map(look, careful(2))",
)
_CAUGHT = ("KeyError", "ValueError", "(NameError, TypeError)")


def program(seed: int) -> str:
    """Twelve functions, of which some are generators and coroutines, each called twice."""
    choose = random.Random(seed)
    lines, acts = [TOOLS], []
    for number in range(12):
        form = choose.choice(("plain", "plain", "generator", "coroutine"))
        body = _block(choose, choose.randint(2, 5), waits=form == "coroutine")
        if form == "generator":
            body = ["yield D()", *body, "yield 2"]
        elif form == "coroutine":
            body = ["await pause()", *body]
        lines += ["async " * (form == "coroutine") + f"def f{number}():", *_inside(body)]
        acts.append(
            {"plain": "f{}", "generator": "lambda: list(f{}())", "coroutine": "lambda: drive(f{}())"}[
                form
            ].format(number)
        )
    lines += [
        f"for act in ({', '.join(acts)}):",
        "  for _ in range(2):",
        "    try: act()",
        "    except Exception: pass",
    ]
    return "\n".join(lines)


def _inside(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _block(choose: random.Random, depth: int, *, waits: bool) -> list[str]:
    if depth == 0:
        return [choose.choice(_RAISE)]

    def inner() -> list[str]:
        return _inside(_block(choose, depth - 1, waits=waits))

    forms = (
        "for",
        "for",
        "with",
        "two",
        "line",
        "try",
        "as",
        "finally",
        "while",
        "if",
        "comprehension",
        "match",
    )
    match choose.choice(forms + ("async with", "async for") * waits):
        case "for":
            after = [choose.choice(("look(6)", "break", "continue"))] * (choose.random() < 0.3)
            return [f"for x{depth} in {choose.choice(_ITERABLES)}:", *inner(), *_inside(after)]
        case "with":
            return [f"with H({choose.choice(('', 'True'))}):", *inner()]
        case "two":
            return [f"with H(), H({choose.choice(('', 'True'))}) as h{depth}:", *inner()]
        case "line":
            return ["with H(): " + choose.choice(("boom(D())", "missing", "look(7); boom(D())"))]
        case "try":
            return ["try:", *inner(), f"except {choose.choice(_CAUGHT)}:", *inner()]
        case "as":
            last = choose.choice((["raise"], ["raise ValueError(D()) from error"]))
            return ["try:", *inner(), "except Exception as error:", *_inside(last)]
        case "finally":
            last = choose.choice((["look(8)"], ["with H(True): boom(D())"]))
            return ["try:", *inner(), "finally:", *_inside(last)]
        case "while":
            return [f"n{depth} = 0", f"while n{depth} < 2:", f"  n{depth} += 1", *inner()]
        case "if":
            return ["if D():", *inner()]
        case "comprehension":
            return [f"[{choose.choice(('boom(D())', 'y', 'missing'))} for y in careful(2)]"]
        case "match":
            return ["match [D(), 1]:", "  case [a, 1]:", *_inside(inner())]
        case "async with":
            return ["async with H(), H():", *inner()]
        case _:
            return [f"async for z{depth} in slow(2):", *inner()]
