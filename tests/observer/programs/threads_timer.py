import threading

done = threading.Event()
t = threading.Timer(0.02, done.set)
t.start()
print(done.wait(5), threading.Barrier(1).wait(), threading.Semaphore(2).acquire(blocking=False))
c = threading.Condition()
with c:
    print(c.wait(0.01))
