"""A binary counter: hundreds of short steps over one list."""


def increment(bits):
    i = 0
    while i < len(bits) and bits[i] == 1:
        bits[i] = 0
        i += 1
    if i < len(bits):
        bits[i] = 1
    else:
        bits.append(1)
    return bits


counter = [0]
flips = 0
for n in range(1, 41):
    before = list(counter)
    increment(counter)
    flips += sum(a != b for a, b in zip(before, counter)) + len(counter) - len(before)
    assert sum(b << i for i, b in enumerate(counter)) == n
print(counter, flips)
