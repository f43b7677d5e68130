"""Two threads that hand over to each other with locks, events, a condition, a queue: the order is forced."""

import queue
import threading

log = []
ping, pong = threading.Event(), threading.Event()


def player(name, mine, other, turns):
    for n in range(turns):
        mine.wait()
        mine.clear()
        log.append(f"{name}{n}")
        other.set()


players = [threading.Thread(target=player, args=a) for a in (("ping", ping, pong, 3), ("pong", pong, ping, 3))]
for p in players:
    p.start()
ping.set()
for p in players:
    p.join()
print(log)
jobs, results = queue.Queue(), queue.Queue()


def worker():
    while (n := jobs.get()) is not None:
        results.put(n * n)
        jobs.task_done()


t = threading.Thread(target=worker)
t.start()
for n in range(4):
    jobs.put(n)
jobs.join()
jobs.put(None)
t.join()
print([results.get() for _ in range(4)], jobs.empty())
with threading.Lock() as got:
    print(got)
