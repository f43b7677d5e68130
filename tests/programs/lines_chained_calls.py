"""Chained method calls, a lambda over several lines, a dict literal whose values are calls."""

log = []


def note(value):
    log.append(value)
    return value


text = (
    " Hello World "
    .strip()
    .lower()
    .replace("o", note("0"))
    .split()
)
table = {
    note("k1"): note("v1"),
    note("k2"):
        note("v2"),
    **{"k3": note("v3")},
}
pick = (lambda x:
        note(x)
        or note("default"))
print(text, table, pick(""), pick("given"))
print(log)
print(note(1) if note(0) else
      note(2))
