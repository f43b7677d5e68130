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
*x,
n,
]
y = [
*x,
*x,
]
y = [*x, n,
*two(), *x,
n, n,
*d]
y = [
look(),
*two(),
look(
1)
]
y = [
*[
n,
*x],
*(
n,
)]
y = [
n
]
y = [
n, n, n, n, n, n, n, n,
n, n, n, n, n, n, n, n,
n, n, n, n, n, n, n, n,
n, n, n, n, n, n, n,
]
y = {*x,
*two(),
n,
*x}
y = {
n + 0, n + 1, n + 2, n + 3, n + 4, n + 5,
n + 6, n + 7, n + 8, n + 9, n + 10, n + 11,
n + 12, n + 13, n + 14, n + 15, n + 16, n + 17,
n + 18, n + 19, n + 20, n + 21, n + 22, n + 23,
n + 24, n + 25, n + 26, n + 27, n + 28, n + 29,
n + 30, n + 31, n + 32,
}
y = {
'k': n,
**d,
}
y = {'a': 0,
**d,
'a': 9,
**{'z': n}}
y = {
n:
n
}
y = {
'p': {
**d,
'q': [*x,
n]},
**d,
'r': {
*x,
n}}
y = (
n,
*x,
n)
y = (
*x,
*two(),
)
y = everything(
*x)
y = [
k + n
for k in x
if k]
y = {
k
for k in [*x,
n]}
y = [
*x,
] + [
n,
]
y = [
-
n,
not
n,
~
n]
y = [
*x,
n if x else
0,
*(x if n else
d),
]
y = {
'k0': [n], 'k1': [n], 'k2': [n], 'k3': [n], 'k4': [n],
'k5': [n], 'k6': [n], 'k7': [n], 'k8': [n], 'k9': [n],
'k10': [n], 'k11': [n], 'k12': [n], 'k13': [n], 'k14': [n],
'k15': [n], 'k16': [n], 'k17': [n],
}
y = {
0: look(), 1: look(), 2: look(),
3: look(), 4: look(), 5: look(),
6: look(), 7: look(), 8: look(),
9: look(), 10: look(), 11: look(),
12: look(), 13: look(), 14: look(),
15: look(), 16: look(), 17: look(),
18: look(), 19: look(), 20: look(),
21: look(), 22: look(), 23: look(),
24: look(), 25: look(), 26: look(),
27: look(), 28: look(), 29: look(),
30: look(), 31: look(), 32: look(),
33: look(), 34: look(), 35: look(),
36: look(), 37: look(), 38: look(),
39: look(),
}
y = {
**d,
'k0': n, 'k1': n, 'k2': n, 'k3': n, 'k4': n, 'k5': n,
'k6': n, 'k7': n, 'k8': n, 'k9': n, 'k10': n, 'k11': n,
'k12': n, 'k13': n, 'k14': n, 'k15': n, 'k16': n, 'k17': n,
'k18': n, 'k19': n,
**d,
'end': n}
