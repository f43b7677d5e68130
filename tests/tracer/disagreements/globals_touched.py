CACHE = {}
LOG = []
COUNT = 0
STATE = [0, [1]]
class G: n = 0; l = []
def add(x):
    global COUNT
    COUNT += 1
    CACHE[x] = x * x
    LOG.append(x)
    STATE[0] += x
    STATE[1].append(x)
    G.n += 1
    G.l.append(x)
    setattr(G, "m", x)
    return CACHE
def main():
    for i in range(3): add(i)
    d = add(9)
    d.pop(0)
    LOG.clear()
    return d
main()
