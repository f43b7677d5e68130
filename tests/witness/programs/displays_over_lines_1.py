# Displays over several lines.
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
y = [n,
 *x,
 n]
y = [n, *
x]
y = [
*[],
*x,
*()]
y = [
*(k * n
for k in x),
n]
y = [
[n,
*x],
[
*x,
n],
*[
[*x,
]]]
y = [
[
n
]
]
y = {
n,
*x
}
y = {
n
}
y = [
{n,
*x},
{*x,
}]
y = {**d,
'k': n}
y = {
**d,
**d,
**{}}
y = {
n + 0: n, n + 1: n, n + 2: n, n + 3: n,
n + 4: n, n + 5: n, n + 6: n, n + 7: n,
n + 8: n, n + 9: n, n + 10: n, n + 11: n,
n + 12: n, n + 13: n, n + 14: n, n + 15: n,
}
y = {
look(): 1,
**{look(): 2,
'e': 3},
}
y = (
n,
)
y = everything(
n,
*x,
*x,
k=n,
**d)
y = everything(*x,
**d,
**{'c': n})
y = [
[k,
*x]
for k in x]
y = {
k: {**d,
'k': k}
for k in x}
y = [
n
] * n
y = [
*x,
n,
][
1
:
]
y = [
look(0), look(1), look(2), look(3), look(4),
look(5), look(6), look(7), look(8), look(9),
look(10), look(11), look(12), look(13), look(14),
look(15), look(16), look(17), look(18), look(19),
look(20), look(21), look(22), look(23), look(24),
look(25), look(26), look(27), look(28), look(29),
look(30), look(31), look(32), look(33), look(34),
look(35), look(36), look(37), look(38), look(39),
]
y = [
n + 0, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6,
n + 7, n + 8, n + 9, n + 10, n + 11, n + 12, n + 13,
n + 14, n + 15, n + 16, n + 17, n + 18, n + 19, n + 20,
n + 21, n + 22, n + 23, n + 24, n + 25, n + 26, n + 27,
n + 28, n + 29, n + 30, n + 31, n + 32, n + 33, n + 34,
*x,
n, n, n, n, n, n, n, n, n,
n, n, n, n, n, n, n, n, n,
n, n, n, n, n, n, n, n, n,
n, n, n, n, n, n, n,
]
