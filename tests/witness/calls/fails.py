class Odd(Exception):
    def __str__(self):
        return f"odd: {self.args[0]}"
class Plain(ValueError):
    pass
def own(n):
    values = [1, 2]
    if n > 1:
        raise Odd(
            n,
        )
    return values[n + 5]
def index(n):
    values = {
        "a": n,
    }
    return (
        values["a"]
        + values["b"]
    )
def note(n):
    error = Plain("first\nsecond", n)
    error.add_note("a note")
    raise error
def chain(n):
    try:
        own(n)
    except (
        Odd,
        IndexError,
    ) as error:
        raise Plain(f"{error}: {n}") from error
def syntax(n):
    return eval("1 +" * n)
def deep(n):
    def inner(k):
        assert k < 3, (
            "too big",
            k,
        )
        return inner(
            k + 1,
        )
    return inner(n)
def unpack(n):
    a, b = [
        n
    ] * 3
    return a
