def gen(l):
    for i in range(3):
        l.append(i)
        got = yield l
        if got: l.append(got)
class H: pass
def main():
    l = []; h = H(); h.g = gen(l); d = {"g": h.g}
    a = next(h.g)
    b = h.g.send("s")
    for x in d["g"]: c = x
    e = gen(l); f = e
    for q in e:
        r = 1
        if len(l) > 8: break
    e.close()
    t = (l.append(n) for n in range(2)); u = list(t)
    w = (n for n in l); v = [next(w), next(w)]; k = 5 in w
    s, *rest = gen(l)
    return l, h, v, w
main()
