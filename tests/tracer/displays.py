"""Small programs with displays over several lines, and what plain Python says that they are.

`programs()` puts each display into each place where a program may have one. In all of them a variable `y` has the value in question
where the line `done = 1` begins. `HALF` are programs that call a function from within a display, with what the display is by then.
"""

import textwrap
from collections.abc import Iterator
from itertools import product

from deskcheck.recording import Program

PRELUDE = """\
import contextlib, types

n = 3
x = [1, 2]
d = {'a': 1, 'b': [2]}


def look(*items):
    return 7


def two():
    return 8, 9


def first(item, *rest, **more):
    return item


def everything(*items, **named):
    return items, named


async def same(item):
    return item
"""


def _many(count: int, item: str, per_line: int) -> str:
    items = [item.format(k) for k in range(count)]
    lines = [", ".join(items[at : at + per_line]) for at in range(0, count, per_line)]
    return ",\n".join(lines) + ",\n"


DISPLAYS = {
    "star last": "[\n'a',\n*x\n]",
    "star first": "[\n*x,\nn,\n]",
    "star between": "[n,\n *x,\n n]",
    "two stars": "[\n*x,\n*x,\n]",
    "star apart": "[n, *\nx]",
    "three stars of several": "[*x, n,\n*two(), *x,\nn, n,\n*d]",
    "star of nothing": "[\n*[],\n*x,\n*()]",
    "star of a call": "[\nlook(),\n*two(),\nlook(\n1)\n]",
    "star of a generator": "[\n*(k * n\nfor k in x),\nn]",
    "star of a display": "[\n*[\nn,\n*x],\n*(\nn,\n)]",
    "nested": "[\n[n,\n*x],\n[\n*x,\nn],\n*[\n[*x,\n]]]",
    "one item": "[\nn\n]",
    "one list in one list": "[\n[\nn\n]\n]",
    "31 items": "[\n" + _many(31, "n", 8) + "]",
    "40 calls": "[\n" + _many(40, "look({})", 5) + "]",
    "70 items, a star among them": "[\n" + _many(35, "n + {}", 7) + "*x,\n" + _many(34, "n", 9) + "]",
    "set star": "{\nn,\n*x\n}",
    "set stars": "{*x,\n*two(),\nn,\n*x}",
    "set of one": "{\nn\n}",
    "set of 33": "{\n" + _many(33, "n + {}", 6) + "}",
    "set in a list": "[\n{n,\n*x},\n{*x,\n}]",
    "dict star last": "{\n'k': n,\n**d,\n}",
    "dict star first": "{**d,\n'k': n}",
    "dict star between": "{'a': 0,\n**d,\n'a': 9,\n**{'z': n}}",
    "dict stars": "{\n**d,\n**d,\n**{}}",
    "dict of one": "{\nn:\nn\n}",
    "dict of 16": "{\n" + _many(16, "n + {}: n", 4) + "}",
    "dict of 18 lists": "{\n" + _many(18, "'k{}': [n]", 5) + "}",
    "dict of 40 calls": "{\n" + _many(40, "{}: look()", 3) + "}",
    "dict of 20 and stars": "{\n**d,\n" + _many(20, "'k{}': n", 6) + "**d,\n'end': n}",
    "dict in a dict": "{\n'p': {\n**d,\n'q': [*x,\nn]},\n**d,\n'r': {\n*x,\nn}}",
    "keys that are called": "{\nlook(): 1,\n**{look(): 2,\n'e': 3},\n}",
    "tuple star": "(\nn,\n*x,\nn)",
    "tuple of one": "(\nn,\n)",
    "tuple of stars": "(\n*x,\n*two(),\n)",
    "call with stars": "everything(\nn,\n*x,\n*x,\nk=n,\n**d)",
    "call with one star": "everything(\n*x)",
    "call with two stars of names": "everything(*x,\n**d,\n**{'c': n})",
    "list comprehension": "[\nk + n\nfor k in x\nif k]",
    "comprehension of displays": "[\n[k,\n*x]\nfor k in x]",
    "set comprehension": "{\nk\nfor k in [*x,\nn]}",
    "dict comprehension": "{\nk: {**d,\n'k': k}\nfor k in x}",
    "sum of displays": "[\n*x,\n] + [\nn,\n]",
    "repeated": "[\nn\n] * n",
    "negative": "[\n-\nn,\nnot\nn,\n~\nn]",
    "sliced": "[\n*x,\nn,\n][\n1\n:\n]",
    "condition within": "[\n*x,\nn if x else\n0,\n*(x if n else\nd),\n]",
}
"""Name -> an expression. It has no comment and no double quotes, so that it may stand in an f-string in triple quotes."""

PLACES = {
    "module": "y = {}\ndone = 1",
    "function": "def f(n, x, d):\n    y = {}\n    done = 1\n    return done\nf(n, x, d)",
    "class body": "class C:\n    y = {}\n    done = 1",
    "nested display": "y = [0,\n{},\n1]\ndone = 1",
    "star in a display": "y = [0, *[\n{}\n], 1]\ndone = 1",
    "value of a dict": "y = {'before': 0,\n'it': {},\n**d}\ndone = 1",
    "argument": "y = first(\n{},\n1)\ndone = 1",
    "argument of a method": "z = []\nz.append({})\nz.append(n)\ny = z\ndone = 1",
    "named argument": "y = first(n,\n*x) and dict(it={})\ndone = 1",
    "default argument": "def g(v={}):\n    y = v\n    done = 1\ng()",
    "named default": "def g(*, v={}, w=1):\n    y = v\n    done = 1\ng(w=2)",
    "decorator": "def marked(item):\n    def mark(function):\n        function.item = item\n        return function\n    return mark\n"
    "@marked({})\ndef g(): pass\ny = g.item\ndone = 1",
    "comprehension": "y = [{} for each in x]\ndone = 1",
    "comprehended": "y = [each for each in\n[{}]]\ndone = 1",
    "condition of a comprehension": "y = [each for each in x\nif {}]\ndone = 1",
    "generator": "def g():\n    y = {}\n    done = 1\n    yield y\nlist(g())",
    "yielded": "def g():\n    yield {}\ny = next(g())\ndone = 1",
    "sent": "def g():\n    y = yield n\n    done = 1\n    yield\nz = g(); next(z); z.send({})",
    "async function": "async def g():\n    y = await same({})\n    done = 1\nwith contextlib.suppress(StopIteration):\n    g().send(None)",
    "f-string": "y = f'''{ {} !r:>3}'''\ndone = 1",
    "lambda": "y = (lambda k: {})(1)\ndone = 1",
    "returned": "def g():\n    return {}\ny = g()\ndone = 1",
    "conditional": "y = {} if n else None\ndone = 1",
    "or": "y = 0 or {}\ndone = 1",
    "with": "with contextlib.nullcontext({}) as y:\n    done = 1",
    "for": "for y in [{}]:\n    done = 1",
    "try": "try:\n    y = {}\nfinally:\n    done = 1",
    "except": "try:\n    raise ValueError({})\nexcept ValueError as error:\n    y = error.args[0]\n    done = 1",
    "walrus": "if [(y := {})]:\n    done = 1",
    "attribute": "o = types.SimpleNamespace()\no.item = {}\ny = o.item\ndone = 1",
    "item": "z = dict()\nz[\n'it'\n] = {}\ny = z['it']\ndone = 1",
    "unpacked": "y, z = {}, n\ndone = 1",
    "global": "def g():\n    global y\n    y = {}\n    return 1\ndone = g()\ndone = 1",
    "closure": "def g():\n    y = {}\n    def inner():\n        return y\n    done = 1\n    return inner\ng()",
    "match": "match {}:\n    case y:\n        done = 1",
    "compared": "y = ({},\n{}) if {} == {} else None\ndone = 1",
    "annotated": "y: object = {}\ndone = 1",
}
"""Name -> statements with a place for the expression."""

ENDS = "done = 1"


def programs() -> Iterator[Program]:
    """Every display in every place: of four programs three are in a function, where nothing but what they do touches their values."""
    for number, ((place, statements), (display, expression)) in enumerate(
        product(PLACES.items(), DISPLAYS.items())
    ):
        body = statements.replace("{}", expression)
        if number % 4:
            body = f"def main(n, x, d):\n{textwrap.indent(body, '    ')}\n\n\nmain(n, x, d)"
            body = body.replace("global y", "nonlocal y").replace(
                "def g():\n        nonlocal", "y = None\n    def g():\n        nonlocal"
            )
        yield Program(id=f"{display}, {place}", code=f"{PRELUDE}\n{body}\n")


def value_of(program: Program) -> str:
    """What plain Python shows of `y` where `done = 1` stands, first."""
    shown: list[str] = []
    code = program.code.replace(ENDS, "done = _shown(repr(y))", 1)
    exec(compile(code, "plain.py", "exec", dont_inherit=True), {"_shown": shown.append, "__name__": "plain"})
    return shown[0]


_HALF = """
y = [
    n,
    *x,
    look(),  # half: [3, 1, 2]
]
===
y = [*x,
     look(),  # half: [1, 2]
     *two(), look()]
===
y = {
    *x,
    look(),  # half: {1, 2}
}
===
y = {
    'k': n,
    **d,
    'c': look(),  # half: {'k': 3, 'a': 1, 'b': [2]}
}
===
y = {**d, 'a': look(), **d,  # half: {'a': 1, 'b': [2]}
     look(): look()}  # half: {'a': 1, 'b': [2]} {'a': 1, 'b': [2]}
===
y = (*x,
     look(),  # half: [1, 2]
     n)
===
y = [[*x,
      look()],  # half: [1, 2]
     [n, *x,
      look()]]  # half: [1, 2, 7] [3, 1, 2]
===
y = everything(
    *x,
    look(),  # half: [1, 2]
    **d)
===
y = [look(k)  # half: [] [7]
     for k in iter(x)]
===
y = {k: look(k)  # half: {} {1: 7}
     for k in iter(x)}
===
y = {look(k)  # half: set() {7}
     for k in iter(x)}
===
y = [*x,
     *[look()]]  # half: [1, 2]
===
def f(n, x):
    y = [
        *x,
        look(),  # half: [1, 2]
        n,
    ]
    return y
f(n, x)
===
def f(v=[*x,
         look()]):  # half: [1, 2]
    return v
f()
===
class C:
    y = {**d,
         'c': look()}  # half: {'a': 1, 'b': [2]}
===
def g():
    yield [
        *x,
        look(),  # half: [1, 2]
    ]
y = list(g())
===
async def g():
    return [*x,
            await same(look())]  # half: [1, 2]
with contextlib.suppress(StopIteration):
    g().send(None)
===
def grow(item):
    x.append(item)
    return look()
y = [*x,
     grow(5),
     *x,
     look(),  # half: [1, 2, 7, 1, 2, 5]
     ]
===
def grow(item):
    d['b'].append(item)
    return look()
y = {**d,
     'c': grow(5),
     'e': look(),  # half: {'a': 1, 'b': [2, 5]}
     }
===
y = [n] and [
    *x,
    {
        **d,
        'c': look(),  # half: [1, 2] {'a': 1, 'b': [2]}
    },
]
"""
HALF = [
    Program(id=f"half {number}", code=f"{PRELUDE}\n{textwrap.dedent(text)}\ndone = 1\n")
    for number, text in enumerate(_HALF.strip().split("===\n"), 1)
]
"""After `# half:` stand, of each call of `look` from this line, the displays that have begun by then, outermost first."""
