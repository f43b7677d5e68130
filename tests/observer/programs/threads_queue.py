import threading, queue

q, out = queue.Queue(), []


def worker():
    while (x := q.get()) is not None:
        out.append(x * x)
        q.task_done()


t = threading.Thread(target=worker, daemon=True)
t.start()
for i in range(5):
    q.put(i)
q.join()
q.put(None)
t.join()
print(out, q.empty())
