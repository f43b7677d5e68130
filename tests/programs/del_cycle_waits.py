"""A dead cycle stays until the collector's turn comes: a tracer's own objects must not bring that turn forward."""

import gc


class Loud:
    def __del__(self):
        print("del")


gc.collect()
a = Loud()
a.me = a
a = None
total = 0
for i in range(300):
    total += i
    if i % 2:
        total -= 1
print("still waiting", total)
gc.collect()
print("end")
