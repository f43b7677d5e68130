"""A dict, a set or a deque modified while it is iterated raises RuntimeError; after that the loop is over."""

import collections

d = {"a": 1, "b": 2}
try:
    for key in d:
        d[key + key] = 0
except RuntimeError as error:
    print(error)
print(d)

s = {1, 2}
try:
    for x in s:
        s.add(x + 10)
except RuntimeError as error:
    print(error)
print(len(s))

q = collections.deque([1, 2])
try:
    for x in q:
        q.append(x)
except RuntimeError as error:
    print(error)
print(q)

for key in d:
    d[key] = "values may change"
print(d)
