from concurrent.futures import ThreadPoolExecutor, as_completed


def work(n):
    if n == 3:
        raise ValueError(n)
    return n * n


with ThreadPoolExecutor(2) as ex:
    fs = [ex.submit(work, n) for n in range(5)]
    print(sorted(f.result() for f in as_completed(fs) if not f.exception()), fs[3].exception())
    print(list(ex.map(work, [1, 2])))
