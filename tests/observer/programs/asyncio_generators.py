import asyncio, contextlib


async def gen():
    try:
        for i in range(3):
            yield i
    finally:
        print("closed")


@contextlib.asynccontextmanager
async def cm():
    print("in")
    yield 5
    print("out")


async def main():
    async for x in gen():
        if x == 1:
            break
    async with cm() as v:
        print(v)
    print([x async for x in gen()])


asyncio.run(main())
