"""threading.local, and locals of the same function in two threads at once: they stay apart."""

import threading

local = threading.local()
local.x = "main"
both = threading.Barrier(2)
results = {}


def work(name):
    x = [name]
    local.x = name
    both.wait()
    x.append(local.x)
    both.wait()
    results[name] = x, sorted(vars(local))


a = threading.Thread(target=work, args=("a",))
b = threading.Thread(target=work, args=("b",))
a.start()
b.start()
a.join()
b.join()
print(sorted(results.items()), local.x)


class Counted(threading.local):
    made = []

    def __init__(self):
        self.made.append(threading.current_thread().name)


c = Counted()
t = threading.Thread(target=lambda: c.__dict__, name="t")
t.start()
t.join()
print(Counted.made)
