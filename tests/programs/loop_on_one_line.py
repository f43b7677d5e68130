"""Loops whose body stands on the header's line: every turn is an event of the same line."""

n = 3
while n: n -= 1
print(n)
total = 0
for i in range(6): total += i
print(total)
for i in range(3): print(i); total -= i
if total: total = 10
else: total = 11
print(total)
for i in (1, 2, 3): pass
while True: break
k = 5; k += 1; print(k)
def double(x): return 2 * x
class Empty: pass
print(double(k), Empty.__name__, sum(i for i in range(4)) if k else None)
