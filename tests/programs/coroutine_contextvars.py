"""contextvars: each task has its own copy, and a reset puts the old value back."""

import asyncio
import contextvars

var = contextvars.ContextVar("var", default="default")


async def child(value):
    token = var.set(value)
    await asyncio.sleep(0)
    inside = var.get()
    var.reset(token)
    return inside, var.get()


async def main():
    var.set("main")
    print(await asyncio.gather(*(child(n) for n in range(3))), var.get())
    print(await child("awaited in place"), var.get())


asyncio.run(main())
print(var.get(), len(contextvars.copy_context()))
context = contextvars.copy_context()
print(context.run(lambda: (var.set("inside"), var.get())[1]), var.get(), context[var])
