class C: pass
def main():
    o = C()
    o.n = 1
    v = vars(o)
    w = o.__dict__
    v['n'] = 2
    x = 1
    o.n = 3
    x = 2
    w['m'] = [1]
    x = 3
    o.m.append(2)
    x = 4
    del o.n
    x = 5
    v.update(k=1)
    x = 6
    v.clear()
    x = 7
    return x
main()
end = 1
