class Log:
    def __init__(self): self.seen = []
def main():
    log = Log()
    other = [log]
    def key(x):
        log.seen.append(x)
        return -x
    a = sorted([3, 1, 2], key=key)
    b = [5, 4]
    b.sort(key=key)
    c = max([1, 2], key=lambda v: log.seen.append(v) or v)
    d = sorted([1, 2], key=log.seen.append)
    e = list(filter(log.seen.append, [1, 2]))
    return other, a, b, c, d, e
try: main()
except TypeError as error: print(error)
