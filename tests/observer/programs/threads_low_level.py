import _thread, time, sys

lock = _thread.allocate_lock()
lock.acquire()


def f(a):
    f = sys._getframe()
    n = 0
    while f:
        n, f = n + 1, f.f_back
    print("in", a, n)
    lock.release()


_thread.start_new_thread(f, (1,))
lock.acquire()
print("threading" in sys.modules)
