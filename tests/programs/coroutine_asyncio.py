"""asyncio.run with gather, sleep(0), create_task, wait_for: tasks take turns at each sleep(0)."""

import asyncio

log = []


async def worker(name, turns):
    for n in range(turns):
        log.append(f"{name}{n}")
        await asyncio.sleep(0)
    return name.upper()


async def main():
    print(await asyncio.gather(worker("a", 3), worker("b", 2)))
    task = asyncio.create_task(worker("c", 2), name="named")
    log.append("before the task starts")
    await asyncio.sleep(0)
    log.append("after its first turn")
    print(await task, task.done(), task.get_name())
    print(await asyncio.wait_for(worker("d", 1), timeout=300))
    return len(asyncio.all_tasks())


print(asyncio.run(main()))
print(log)
