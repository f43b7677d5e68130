"""Threads started and joined one by one: each has frames of its own, the shared list shows their order."""

import threading

log = []


def work(name, n):
    total = 0
    for i in range(n):
        total += i
    log.append((name, total, threading.current_thread().name))


print(threading.active_count(), threading.current_thread() is threading.main_thread())
for i in range(3):
    thread = threading.Thread(target=work, args=(f"t{i}", i + 2), name=f"worker-{i}")
    thread.start()
    thread.join()
print(log, threading.active_count())


class Own(threading.Thread):
    def run(self):
        log.append("run")
        self.result = [n * n for n in range(3)]


t = Own(daemon=True)
t.start()
t.join()
print(t.result, t.is_alive(), log[-1], [x.name for x in threading.enumerate()])
