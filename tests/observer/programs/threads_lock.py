import threading

lock, total = threading.Lock(), 0


def add(n):
    global total
    for _ in range(n):
        with lock:
            total += 1


ts = [threading.Thread(target=add, args=(200,), name=f"t{i}") for i in range(4)]
for t in ts:
    t.start()
for t in ts:
    t.join()
print(total, threading.active_count(), [t.name for t in ts], threading.main_thread().name)
