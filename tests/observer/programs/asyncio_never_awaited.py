import asyncio, gc


async def f():
    return 1


f()
gc.collect()


async def main():
    loop = asyncio.get_running_loop()
    loop.call_soon(lambda: 1 / 0)
    await asyncio.sleep(0)


loop = asyncio.new_event_loop()
loop.set_exception_handler(lambda l, c: print("handler", type(c["exception"]).__name__))
loop.run_until_complete(main())
loop.close()
