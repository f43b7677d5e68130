import asyncio


async def f(n):
    await asyncio.sleep(0.1 * (3 - n))
    print("f", n)
    return n


async def main():
    print(await asyncio.gather(*(f(n) for n in range(3))))
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(1)
    except TimeoutError:
        print("timeout")


asyncio.run(main())
