"""asyncio: producer and consumer over a queue, an event, a lock, a semaphore; the order is the loop's."""

import asyncio


async def producer(queue, log):
    for n in range(3):
        await queue.put(n)
        log.append(f"put {n}")
    await queue.put(None)


async def consumer(queue, log):
    while (item := await queue.get()) is not None:
        log.append(f"got {item}")


async def locked(lock, name, log):
    async with lock:
        log.append(f"{name} in")
        await asyncio.sleep(0)
        log.append(f"{name} out")


async def main():
    log = []
    queue = asyncio.Queue(maxsize=1)
    await asyncio.gather(consumer(queue, log), producer(queue, log))
    lock = asyncio.Lock()
    await asyncio.gather(*(locked(lock, name, log) for name in "xy"))
    event = asyncio.Event()
    asyncio.get_running_loop().call_soon(event.set)
    print(await event.wait(), queue.empty(), lock.locked())
    return log


print(asyncio.run(main()))
