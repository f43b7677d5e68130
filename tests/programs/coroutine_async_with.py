"""async with: several managers, one that suppresses, one that raises on the way out, asynccontextmanager."""

import asyncio
import contextlib


class Manager:
    def __init__(self, name, suppress=False):
        self.name, self.suppress = name, suppress

    async def __aenter__(self):
        await asyncio.sleep(0)
        print("enter", self.name)
        return self

    async def __aexit__(self, kind, error, traceback):
        print("exit", self.name, kind and kind.__name__)
        return self.suppress


@contextlib.asynccontextmanager
async def managed(name):
    print("open", name)
    try:
        yield name
    finally:
        await asyncio.sleep(0)
        print("close", name)


async def main():
    async with Manager("a") as a, Manager("b", suppress=True), managed("c") as c:
        print("body", a.name, c)
        raise ValueError
    async with contextlib.AsyncExitStack() as stack:
        print(await stack.enter_async_context(managed("d")))
        stack.push_async_callback(asyncio.sleep, 0)
    return "end"


print(asyncio.run(main()))
