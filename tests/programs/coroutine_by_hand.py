"""Coroutines driven by hand with send, throw and close: no event loop."""


class Pause:
    def __init__(self, name):
        self.name = name

    def __await__(self):
        got = yield self.name
        return f"{self.name} got {got}"


async def at_once(x):
    return x + 1


async def main():
    print(await at_once(1))
    print(await Pause("first"))
    try:
        await Pause("second")
    except ValueError as error:
        print("caught", error)
    finally:
        print("finally")
    return await at_once(20)


c = main()
print(c.send(None))
print(c.send("hello"))
try:
    c.throw(ValueError("thrown"))
except StopIteration as stop:
    print("returned", stop.value)
try:
    c.send(None)
except RuntimeError as error:
    print(error)
d = main()
d.send(None)
d.close()
print("closed")
