"""Context managers as classes: order of enter and exit, several in one with, the value bound by `as`."""


class Manager:
    def __init__(self, name):
        self.name = name
        print("init", name)

    def __enter__(self):
        print("enter", self.name)
        return self.name.upper()

    def __exit__(self, kind, error, traceback):
        print("exit", self.name, kind and kind.__name__, traceback and traceback.tb_lineno)


with Manager("a") as a, Manager("b"):
    print("body", a)
with (
    Manager("c") as c,
    Manager(c + "d") as d,
):
    print("body", d)
for i in range(3):
    with Manager(f"loop{i}"):
        if i == 0:
            continue
        break


def leave():
    with Manager("f"):
        return print("returning") or "returned"


print(leave())
try:
    with Manager("g"), Manager("h"):
        raise ValueError("out")
except ValueError as error:
    print("caught", error)
