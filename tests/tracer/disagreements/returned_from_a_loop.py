"""A value is returned from within a loop, whose iterator is freed before the event, by a line after which
anything may have changed: the native tracer looked at the freed iterator again, and crashed."""

import asyncio

numbers = [1]
options = {}


async def first(values):
    for value in values[:3]:
        return {**options}


asyncio.run(first(numbers))
