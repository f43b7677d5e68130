def josephus(n, k):
    people = list(range(1, n + 1))
    while len(people) > 1:
        for _ in range(k - 1):
            people.append(people.pop(0))
        people.pop(0)
    return people[0]


# ----
def survivor(count, step):
    circle = []
    for number in range(count):
        circle.append(number + 1)
    at = 0
    while len(circle) > 1:
        at = (at + step - 1) % len(circle)
        del circle[at]
    return circle[0]


# ----
def last_one(size, skip):
    ring = [i + 1 for i in range(size)]
    left = skip
    while len(ring) != 1:
        first = ring[0]
        ring = ring[1:]
        left -= 1
        if left == 0:
            left = skip
        else:
            ring = ring + [first]
    return ring[0]


# ----
def winner(n, k):
    place = 0
    size = 1
    while size < n:
        size += 1
        place = (place + k) % size
    return place + 1
