import collections, dataclasses, functools, itertools, json, operator, copy
@dataclasses.dataclass
class P:
    x: int
    l: list = dataclasses.field(default_factory=list)
def main():
    dq = collections.deque([1]); dd = collections.defaultdict(list); c = collections.Counter("aab")
    p = P(1); q = [p]; r = dataclasses.replace(p, x=2)
    dd["k"].append(1); dq.append(2); c["z"] += 1; p.l.append(dq)
    add = functools.partial(operator.iadd, p.l); add([5])
    it = itertools.chain(p.l, [1]); a = next(it); b = list(it)
    cyc = itertools.count(); e = next(cyc); f = next(cyc)
    g = json.loads("[1, [2]]"); g[1].append(3); h = copy.deepcopy(g); h[0] = 9
    operator.setitem(g, 0, 5); list.append(g, 6); operator.methodcaller("append", 7)(g)
    for _ in itertools.starmap(g.append, [(1,), (2,)]): pass
    app = g.append; app(8); [*map(app, [1])]
    functools.reduce(lambda acc, v: acc.append(v) or acc, [1, 2], g)
    @functools.lru_cache
    def fib(n): g.append(n); return n if n < 2 else fib(n - 1) + fib(n - 2)
    fib(4); vars(p)["x"] = 44; p.__dict__["y"] = g; setattr(p, "z", 1); delattr(p, "z")
    return q, r, dd, c
main()
