import random
import threading
import time

drawn = [random.randrange(1000) for _ in range(3)]
began = time.time()
totals = []


def add(n):
    total = 0
    for i in range(n):
        total += i
    totals.append(total)


workers = [threading.Thread(target=add, args=(n,)) for n in (3, 4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print(drawn, time.time() - began, sorted(totals))
