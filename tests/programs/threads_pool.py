"""ThreadPoolExecutor: map, submit, an exception carried by its future, callbacks."""

from concurrent.futures import ThreadPoolExecutor

log = []


def work(n):
    if n == 3:
        raise ValueError(n)
    return n * n


with ThreadPoolExecutor(max_workers=2, initializer=log.append, initargs=("init",)) as pool:
    print(list(pool.map(work, [1, 2, 4])))
    future = pool.submit(work, 3)
    print(repr(future.exception()), future.done())
    future.add_done_callback(lambda f: log.append("callback"))
    try:
        future.result()
    except ValueError as error:
        print("raised here", error)
print(log[-1], "init" in log)
