import asyncio, threading


def block(n):
    return n, threading.current_thread() is threading.main_thread()


async def main():
    print(await asyncio.to_thread(block, 3))
    q = asyncio.Queue()

    async def put():
        for i in range(3):
            await q.put(i)

    t = asyncio.create_task(put())
    print([await q.get() for _ in range(3)])
    await t


asyncio.run(main())
