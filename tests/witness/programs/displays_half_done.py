# Functions called from within a display see, on the caller's value stack, what there is of it by then.
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

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
y = [
    n,
    *x,
    look(),  # half: [3, 1, 2]
]

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
y = [*x,
     look(),  # half: [1, 2]
     *two(), look()]

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
y = {
    *x,
    look(),  # half: {1, 2}
}

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
y = {
    'k': n,
    **d,
    'c': look(),  # half: {'k': 3, 'a': 1, 'b': [2]}
}

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
y = {**d, 'a': look(), **d,  # half: {'a': 1, 'b': [2]}
     look(): look()}  # half: {'a': 1, 'b': [2]} {'a': 1, 'b': [2]}

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
y = (*x,
     look(),  # half: [1, 2]
     n)

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
y = [[*x,
      look()],  # half: [1, 2]
     [n, *x,
      look()]]  # half: [1, 2, 7] [3, 1, 2]

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
y = everything(
    *x,
    look(),  # half: [1, 2]
    **d)

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
y = [look(k)  # half: [] [7]
     for k in iter(x)]

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
y = {k: look(k)  # half: {} {1: 7}
     for k in iter(x)}

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
y = {look(k)  # half: set() {7}
     for k in iter(x)}

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
y = [*x,
     *[look()]]  # half: [1, 2]

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
def f(n, x):
    y = [
        *x,
        look(),  # half: [1, 2]
        n,
    ]
    return y
f(n, x)

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
def f(v=[*x,
         look()]):  # half: [1, 2]
    return v
f()

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
class C:
    y = {**d,
         'c': look()}  # half: {'a': 1, 'b': [2]}

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
def g():
    yield [
        *x,
        look(),  # half: [1, 2]
    ]
y = list(g())

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
async def g():
    return [*x,
            await same(look())]  # half: [1, 2]
with contextlib.suppress(StopIteration):
    g().send(None)

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
def grow(item):
    x.append(item)
    return look()
y = [*x,
     grow(5),
     *x,
     look(),  # half: [1, 2, 7, 1, 2, 5]
     ]

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
def grow(item):
    d['b'].append(item)
    return look()
y = {**d,
     'c': grow(5),
     'e': look(),  # half: {'a': 1, 'b': [2, 5]}
     }

n, x, d = 3, [1, 2], {'a': 1, 'b': [2]}
y = [n] and [
    *x,
    {
        **d,
        'c': look(),  # half: [1, 2] {'a': 1, 'b': [2]}
    },
]
