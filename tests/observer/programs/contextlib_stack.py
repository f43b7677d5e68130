import contextlib


@contextlib.contextmanager
def tag(n):
    print("enter", n)
    try:
        yield n
    except ValueError as e:
        print("saw", e)
        raise
    finally:
        print("exit", n)


with contextlib.ExitStack() as s:
    for n in "ab":
        s.enter_context(tag(n))
    s.callback(print, "callback")
with contextlib.suppress(ValueError), tag("c"):
    raise ValueError("v")
