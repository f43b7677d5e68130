import asyncio


async def bad():
    raise ValueError("x")


async def main():
    t = asyncio.create_task(bad(), name="b")
    await asyncio.sleep(0)
    print(
        t.done(), t.exception(), t.get_name(), [f.f_code.co_name for f in asyncio.current_task().get_stack()]
    )
    try:
        async with asyncio.TaskGroup() as g:
            g.create_task(bad())
    except* ValueError as e:
        print(e.exceptions)


asyncio.run(main(), debug=False)
