import contextvars

v = contextvars.ContextVar("v", default=0)


def f():
    v.set(v.get() + 1)
    return v.get()


c = contextvars.copy_context()
print(c.run(f), c.run(f), v.get(), f())
