"""Class bodies as scopes: names read from globals, closures and the body itself; nested classes; del in a body."""

x = 3


def make(y):
    class Inner:
        x = x + y
        z = [x]

        class Nested:
            w = x

            def method(self):
                return x, y, __class__.__name__

        def method(self, default=z):
            return default, x

        temporary = 20
        del temporary
        if y > 20:
            branch = "then"
        else:
            branch = "else"
        for i in range(2):
            z.append(i)

    return Inner


C = make(21)
print(C.x, C.z, C.Nested.w, C.Nested().method(), C().method(), C.branch, C.i, hasattr(C, "temporary"))
print(C.__qualname__, C.Nested.__qualname__, make(1).branch, [k for k in vars(C) if not k.startswith("__")])
