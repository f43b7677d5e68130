# A display over several lines, in every place that a display may have.
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

y = [
'a',
*x
]
done = 1
def place1(n, x, d):
    def f(n, x, d):
        y = [
    look(),
    *two(),
    look(
    1)
    ]
        done = 1
        return done
    f(n, x, d)

place1(n, x, d)
class C:
    y = {
n
}
    done = 1
def place3(n, x, d):
    y = [0,
    {
    look(): 1,
    **{look(): 2,
    'e': 3},
    },
    1]
    done = 1

place3(n, x, d)
y = [0, *[
[
k + n
for k in x
if k]
], 1]
done = 1
def place5(n, x, d):
    y = {'before': 0,
    'it': [
    *x,
    n,
    ][
    1
    :
    ],
    **d}
    done = 1

place5(n, x, d)
y = first(
[*x, n,
*two(), *x,
n, n,
*d],
1)
done = 1
def place7(n, x, d):
    z = []
    z.append({
    n,
    *x
    })
    z.append(n)
    y = z
    done = 1

place7(n, x, d)
y = first(n,
*x) and dict(it={
**d,
**d,
**{}})
done = 1
def place9(n, x, d):
    def g(v=everything(
    *x)):
        y = v
        done = 1
    g()

place9(n, x, d)
def g(*, v=[
n
] * n, w=1):
    y = v
    done = 1
g(w=2)
def place11(n, x, d):
    def marked(item):
        def mark(function):
            function.item = item
            return function
        return mark
    @marked([
    *x,
    *x,
    ])
    def g(): pass
    y = g.item
    done = 1

place11(n, x, d)
y = [[
n
] for each in x]
done = 1
def place13(n, x, d):
    y = [each for each in
    [{**d,
    'k': n}]]
    done = 1

place13(n, x, d)
y = [each for each in x
if (
*x,
*two(),
)]
done = 1
def place15(n, x, d):
    def g():
        y = {
    k: {**d,
    'k': k}
    for k in x}
        done = 1
        yield y
    list(g())

place15(n, x, d)
def g():
    yield [
*x,
n,
]
y = next(g())
done = 1
def place17(n, x, d):
    def g():
        y = yield n
        done = 1
        yield
    z = g(); next(z); z.send([
    *(k * n
    for k in x),
    n])

place17(n, x, d)
async def g():
    y = await same([
{n,
*x},
{*x,
}])
    done = 1
with contextlib.suppress(StopIteration):
    g().send(None)
def place19(n, x, d):
    y = f'''{ (
    n,
    *x,
    n) !r:>3}'''
    done = 1

place19(n, x, d)
y = (lambda k: [
[k,
*x]
for k in x])(1)
done = 1
def place21(n, x, d):
    def g():
        return [
    *x,
    n if x else
    0,
    *(x if n else
    d),
    ]
    y = g()
    done = 1

place21(n, x, d)
y = [
*[],
*x,
*()] if n else None
done = 1
def place23(n, x, d):
    y = 0 or {*x,
    *two(),
    n,
    *x}
    done = 1

place23(n, x, d)
with contextlib.nullcontext({
n:
n
}) as y:
    done = 1
def place25(n, x, d):
    for y in [everything(*x,
    **d,
    **{'c': n})]:
        done = 1

place25(n, x, d)
try:
    y = [
-
n,
not
n,
~
n]
finally:
    done = 1
def place27(n, x, d):
    try:
        raise ValueError([n, *
    x])
    except ValueError as error:
        y = error.args[0]
        done = 1

place27(n, x, d)
if [(y := [
[
n
]
])]:
    done = 1
def place29(n, x, d):
    o = types.SimpleNamespace()
    o.item = {'a': 0,
    **d,
    'a': 9,
    **{'z': n}}
    y = o.item
    done = 1

place29(n, x, d)
z = dict()
z[
'it'
] = everything(
n,
*x,
*x,
k=n,
**d)
y = z['it']
done = 1
def place31(n, x, d):
    y, z = [
    *x,
    ] + [
    n,
    ], n
    done = 1

place31(n, x, d)
def g():
    global y
    y = [n,
 *x,
 n]
    return 1
done = g()
done = 1
def place33(n, x, d):
    def g():
        y = [
    *[
    n,
    *x],
    *(
    n,
    )]
        def inner():
            return y
        done = 1
        return inner
    g()

place33(n, x, d)
match {
'k': n,
**d,
}:
    case y:
        done = 1
def place35(n, x, d):
    y = ((
    n,
    ),
    (
    n,
    )) if (
    n,
    ) == (
    n,
    ) else None
    done = 1

place35(n, x, d)
y: object = {
k
for k in [*x,
n]}
done = 1
