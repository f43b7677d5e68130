"""await of coroutines that finish at once: in C they end with a StopIteration that no Python code sees."""

seen = []


async def leaf(n):
    seen.append(n)
    return n * 2


async def branch(n):
    if n == 0:
        return await leaf(n)
    return await branch(n - 1) + await leaf(n)


async def failing():
    raise LookupError("from below")


async def main():
    total = 0
    for n in range(3):
        total += await branch(n)
    try:
        await failing()
    except LookupError as error:
        seen.append(str(error))
    return total


coroutine = main()
try:
    coroutine.send(None)
except StopIteration as stop:
    print(stop.value, seen)
