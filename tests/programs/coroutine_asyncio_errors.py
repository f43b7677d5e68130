"""asyncio: cancellation, exceptions in gather, TaskGroup with except*, shielded finally."""

import asyncio


async def sleeper(name):
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        print("cancelled", name)
        raise
    finally:
        print("finally", name)


async def failing(n):
    await asyncio.sleep(0)
    raise ValueError(n)


async def main():
    task = asyncio.create_task(sleeper("task"))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print(task.cancelled())
    print([repr(r) for r in await asyncio.gather(failing(1), failing(2), return_exceptions=True)])
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(sleeper("in group"))
            group.create_task(failing(3))
    except* ValueError as errors:
        print(errors.exceptions)
    raise KeyError("out of main")


try:
    asyncio.run(main())
except KeyError as error:
    print("out of run", error)
