import gc

seen = []


def note(phase, info):
    if phase == "start":
        seen.append((info["generation"], i))


class Node:
    pass


def pair(n):
    a, b = Node(), Node()
    a.other, b.other = b, a
    return {"n": [n]}


i = -1
gc.collect()
gc.set_threshold(500)
gc.callbacks.append(note)
keep = [pair(i) for i in range(2000)]
gc.callbacks.clear()
print(len(seen) in (18, 19, 20), {g for g, _ in seen[:5]}, seen[0][1] < 110)
