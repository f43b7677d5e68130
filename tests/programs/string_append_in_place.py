"""`s += x` in a loop: CPython grows the string in place only while nobody else holds it."""

import sys


def build(n):
    s = "".join(["start", "ing"])
    held = sys.getrefcount(s)
    counts = set()
    for i in range(n):
        s += f"-{i}"
        counts.add(sys.getrefcount(s) - held)
    return s, counts


text, counts = build(12)
print(text, len(text), sorted(counts))
before = text
text += "!"
print(before == text[:-1], before is text, before[-2:], text[-2:])
