class E(Exception):
    def __init__(self, n): super().__init__(n); self.data = [n]
def bad(l, n):
    l.append(n)
    if n > 1: raise E(n)
    l.append(-n)
    return l
def main():
    l = []; keep = (l,); errors = []
    for i in range(4):
        try:
            l[0:0] = bad(l, i)[-1:]
        except E as e:
            errors.append(e); e.data.append(l); e.extra = i
        finally:
            l.append("f")
    try:
        l[100] = (l.append(1), 2)
    except IndexError as e: x = e
    try:
        raise errors[0] from errors[1]
    except E as again: y = again.args; again.args = (1, [2])
    try: {}[l.pop()]
    except KeyError: pass
    try: [1, 2].remove(l.append("r"))
    except ValueError: pass
    return keep, errors
main()
