"""Fifty small programs, and the answer to `why` that a person reads off each.

The answers were written from the programs, before the first run of `why` on them. A line of an answer is
``EXPRESSION: LINE``, indented below the line that read it; ``LINE?`` means that something cannot be known there,
because C code (or code that is not recorded) ran. A value that occurs twice is listed once.
"""

from typing import NamedTuple


class Slice(NamedTuple):
    name: str
    program: str
    expression: str
    answer: str


def _slices(text: str) -> list[Slice]:
    slices = []
    for part in text.split("\n=== ")[1:]:
        head, _, body = part.partition("\n")
        program, _, answer = body.partition("\n--- ")
        expression, _, answer = answer.partition("\n")
        slices.append(Slice(head.strip(), program.strip("\n") + "\n", expression.strip(), answer.strip("\n")))
    return slices


SLICES = _slices("""
=== assignment
price = 10
n = 7
total = price * n
--- total
total: 3
  price: 1
  n: 2
=== the last of two assignments
x = 1
y = x
x = 2
z = x + y
--- z
z: 4
  x: 3
  y: 2
    x: 1
=== augmented assignment
total = 1
step = 4
total += step
--- total
total: 3
  total: 1
  step: 2
=== a loop over a list
items = [5, 6]
total = 0
for item in items:
    total += item
--- total
total: 4
  total: 4
    total: 2
    item: 3
      items[0]: 1
  item: 3
    items[1]: 1
=== a loop over a range
n = 2
last = 0
for i in range(n):
    last = i
--- last
last: 4
  i: 3?
    n: 1
=== swap
a = 1
b = 2
a, b = b, a
--- a
a: 3
  b: 2
=== unpacking a tuple
pair = (1, 2)
a, b = pair
--- b
b: 2
  pair: 1
=== starred unpacking
values = [1, 2, 3]
first, *rest = values
--- rest
rest: 2
  values: 1
=== nested unpacking
x = 1
y = 2
z = 3
(a, b), c = (x, y), z
--- b
b: 4
  y: 2
=== chained assignment
x = 3
a = b = x
--- b
b: 2
  x: 1
=== a call
def double(n):
    return n * 2
x = 4
y = double(x)
--- y
y: 4
  double(x): 2
    n: 4
      x: 3
=== a keyword argument
def scale(n, factor):
    return n * factor
a = 2
b = 3
y = scale(factor=b, n=a)
--- y
y: 5
  scale(factor=b, n=a): 2
    n: 5
      a: 3
    factor: 5
      b: 4
=== a default argument
BASE = 10
def scale(n, factor=BASE):
    return n * factor
y = scale(2)
--- y
y: 4
  scale(2): 3
    n: 4
    factor: 2
      BASE: 1
=== more arguments
def add(*numbers):
    return numbers[0]
a = 1
b = 2
y = add(a, b)
--- y
y: 5
  add(a, b): 2
    numbers: 5
      a: 3
      b: 4
=== recursion
def fact(n):
    if n < 2:
        return 1
    return n * fact(n - 1)
y = fact(2)
--- y
y: 5
  fact(2): 4
    n: 5
    fact(n - 1): 3
=== two calls on a line
def one(n):
    return n + 1
def two(n):
    return n + 2
y = one(1) * two(2)
--- y
y: 5
  one(1): 2
    n: 5
  two(2): 4
    n: 5
=== a call in an argument
def inner(n):
    return n + 1
def outer(n):
    return n * 2
y = outer(inner(3))
--- y
y: 5
  outer(inner(3)): 4
    n: 5
      inner(3): 2
        n: 5
=== an attribute
class Item:
    pass
item = Item()
item.price = 3
y = item.price
--- y
y: 5
  item.price: 4
=== an attribute that __init__ sets
class Item:
    def __init__(self, price):
        self.price = price
cost = 8
item = Item(cost)
y = item.price
--- y
y: 6
  item.price: 3
    price: 5
      cost: 4
=== a method
class Cart:
    def __init__(self):
        self.total = 0
    def add(self, n):
        self.total += n
cart = Cart()
cart.add(5)
y = cart.total
--- y
y: 8
  cart.total: 5
    self.total: 3
    n: 7
=== an attribute of the class
class Item:
    tax = 2
item = Item()
y = item.tax
--- y
y: 4
  item.tax: 2
=== a property
class Item:
    def __init__(self, n):
        self.n = n
    @property
    def double(self):
        return self.n * 2
item = Item(4)
y = item.double
--- y
y: 8
  item.double: 6
    self.n: 3
      n: 7
=== an item of a list
items = [1, 2, 3]
items[1] = 7
i = 1
y = items[i]
--- y
y: 4
  i: 3
  items[i]: 2
=== an item that was appended
value = 4
items = []
items.append(value)
items.append(9)
y = items[0]
--- y
y: 5
  items[0]: 3?
    value: 1
=== an item of a dict
stock = {}
count = 3
stock["apple"] = count
stock["pear"] = 1
y = stock["apple"]
--- y
y: 5
  stock['apple']: 3
    count: 2
=== the whole list
items = [1]
x = 2
items.append(x)
y = items
--- items
items: 3?
  items: 1
  x: 2
=== aliases
a = [1]
b = a
b.append(2)
y = len(a)
--- y
y: 4?
  a: 3?
    b: 2
      a: 1
=== an alias in a function
def fill(target, value):
    target[0] = value
row = [0]
fill(row, 5)
y = row[0]
--- y
y: 5
  row[0]: 2
    value: 4
=== a mutable default
def add(x, into=[]):
    into.append(x)
    return into
add(1)
y = add(2)
--- y
y: 5
  add(2): 3
    into: 2?
      into: 1
        default of into: 2?
          into: 1
          x: 4
      x: 5
=== a closure
def make(n):
    def get():
        return n + 1
    return get
get = make(4)
y = get()
--- y
y: 6
  get(): 3
    n: 5
=== nonlocal
def make():
    count = 0
    def up(by):
        nonlocal count
        count += by
        return count
    return up
up = make()
up(2)
y = up(3)
--- y
y: 10
  up(3): 6
    count: 5
      count: 5
        count: 2
        by: 9
      by: 10
=== two closures of one function
def make(n):
    def get():
        return n
    return get
one = make(1)
two = make(2)
y = one()
--- y
y: 7
  one(): 3
    n: 5
=== a global variable
count = 0
def up(by):
    global count
    count = count + by
up(3)
y = count
--- y
y: 6
  count: 4
    count: 1
    by: 5
=== a list comprehension
n = 3
xs = [1, 2]
ys = [x * n for x in xs]
--- ys
ys: 3
  xs: 2
  n: 1
=== a call in a comprehension
def double(n):
    return n * 2
xs = [4]
ys = [double(x) for x in xs]
--- ys
ys: 4
  xs: 3
  double(x): 2
    n: 4
=== a generator expression
xs = [1, 2]
y = sum(x * 2 for x in xs)
--- y
y: 2?
  xs: 1
=== a dict comprehension
names = ["a"]
value = 1
table = {name: value for name in names}
--- table
table: 3
  names: 1
  value: 2
=== a generator
def numbers(n):
    yield n
    yield n + 1
last = 0
for x in numbers(5):
    last = x
--- last
last: 6
  x: 5
    next(numbers(5)): 3
      n: 5
=== next
def numbers(n):
    yield n * 2
g = numbers(4)
y = next(g)
--- y
y: 4?
  g: 3
=== send
def echo():
    got = 0
    while True:
        got = yield got
g = echo()
next(g)
v = 7
y = g.send(v)
--- y
y: 8?
  g: 5
  v: 7
=== an exception
def check(n):
    raise ValueError(n)
limit = 4
try:
    check(limit)
except ValueError as error:
    y = error.args
--- y
y: 7
  error: 6
    exception error: 2?
      n: 5
        limit: 3
=== C code
text = "12"
n = int(text)
y = n + 1
--- y
y: 3
  n: 2?
    text: 1
=== a conditional expression
flag = False
a = 1
b = 2
y = a if flag else b
--- y
y: 4
  flag: 1
  b: 3
=== or
a = 0
b = 5
c = 6
y = a or b or c
--- y
y: 4
  a: 1
  b: 2
=== the walrus
data = 5
if (n := data * 2) > 3:
    y = n
--- y
y: 3
  n: 2
    data: 1
=== with
class Lock:
    def __enter__(self):
        return 7
    def __exit__(self, *error):
        pass
with Lock() as got:
    y = got
--- y
y: 7
  got: 6
    Lock().__enter__(): 3
=== an operator of a class
class Money:
    def __init__(self, n):
        self.n = n
    def __add__(self, other):
        return self.n + other.n
a = Money(1)
b = Money(2)
y = a + b
--- y
y: 8
  a + b: 5
    self.n: 3
      n: 6
    other.n: 3
      n: 7
=== a lambda
k = 3
f = lambda x: x + k
v = 4
y = f(v)
--- y
y: 4
  f(v): 2
    x: 4
      v: 3
    k: 1
=== an f-string
name = "x"
count = 2
y = f"{name}: {count + 1}"
--- y
y: 3
  name: 1
  count: 2
=== several lines
a = 1
b = 2
y = (
    a +
    b
)
--- y
y: 3
  a: 1
  b: 2
=== two statements on a line
a = 1; b = a + 1
y = b
--- y
y: 2
  b: 1
    a: 1
=== inheritance
class Base:
    def __init__(self, n):
        self.n = n
class Child(Base):
    def __init__(self, n):
        super().__init__(n + 1)
child = Child(3)
y = child.n
--- y
y: 8
  child.n: 3
    n: 6
      n: 7
=== a static method
class Tool:
    @staticmethod
    def half(n):
        return n / 2
v = 8
y = Tool.half(v)
--- y
y: 6
  Tool.half(v): 4
    n: 6
      v: 5
=== an attribute of an attribute
class Node:
    pass
a = Node()
b = Node()
a.next = b
b.value = 3
y = a.next.value
--- y
y: 7
  a.next.value: 6
=== a callback of C code
def key(n):
    return -n
xs = [1, 2]
ys = sorted(xs, key=key)
y = ys[0]
--- y
y: 5
  ys[0]: 4?
    xs: 3
""")
