"""json hooks, re.sub with a function, string formatting with objects: C code and library code calling back."""

import json
import re
import string

calls = []


class Money:
    def __init__(self, n):
        self.n = n

    def __format__(self, spec):
        calls.append(spec)
        return f"{self.n:{spec or 'd'}}EUR"


def default(obj):
    calls.append("default")
    return {"money": obj.n}


def hook(pairs):
    calls.append([k for k, _ in pairs])
    return Money(pairs[0][1]) if pairs[:1] and pairs[0][0] == "money" else dict(pairs)


text = json.dumps({"a": [Money(5), None, True, 1.5], "b": {}}, default=default, sort_keys=True)
print(text, json.loads(text, object_pairs_hook=hook)["a"][0].n)
print(f"{Money(7):>4} {Money(8)}", "{0:03} {0.n}".format(Money(9)))
print(re.sub(r"(\w)(\d)", lambda m: m[2] * 2 + m[1], "a1 b2"), re.split(r"\s*,\s*", "x , y,z"))
print(string.Template("$x-${y}").substitute(x=1, y=2))
print(calls)
