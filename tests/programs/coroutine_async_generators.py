"""Async generators: asend, athrow, aclose, an abandoned one, async for with else, async comprehensions."""

import asyncio


async def numbers(n):
    try:
        for i in range(n):
            await asyncio.sleep(0)
            got = yield i
            if got:
                print("got", got)
    except ValueError:
        yield "handled"
    finally:
        print("finally", n)


async def main():
    async for i in numbers(2):
        print(i)
    else:
        print("else")
    print([i async for i in numbers(3) if i], {i: 2 * i async for i in numbers(2)})
    print([await asyncio.sleep(0, i) for i in range(2)], [j for i in range(2) async for j in numbers(i)])
    g = numbers(5)
    print(await anext(g), await g.asend("sent"), await g.athrow(ValueError))
    await g.aclose()
    print(await anext(g, "finished"))
    h = (i * 10 async for i in numbers(6))
    print(await h.__anext__())
    async for i in numbers(7):
        break
    print("broke out")


asyncio.run(main())
print("all closed")
