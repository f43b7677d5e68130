"""contextlib: @contextmanager with and without an exception, ExitStack, closing, redirect_stdout, as a decorator."""

import contextlib
import io


@contextlib.contextmanager
def tag(name):
    print(f"<{name}>")
    try:
        yield name
    except ValueError as error:
        print("inside", name, error)
    else:
        print("no exception in", name)
    finally:
        print(f"</{name}>")


with tag("a") as a:
    print(a)
with tag("b"):
    raise ValueError("swallowed")
with contextlib.ExitStack() as stack:
    names = [stack.enter_context(tag(n)) for n in "cd"]
    stack.callback(print, "callback", names)
    stack.push(lambda *details: print("push", details))


@tag("decorated")
def f():
    return "f"


print(f(), f())
with contextlib.redirect_stdout(io.StringIO()) as out:
    print("captured")
    with tag("e"):
        pass
print(out.getvalue().split("\n"))
with contextlib.closing(tag("g").gen) as gen:
    next(gen)
with contextlib.nullcontext(5) as five:
    print(five)
