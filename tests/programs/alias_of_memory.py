"""Objects that show memory of another one."""

import array
import collections
import ctypes
import functools


def buffers():
    memory = bytearray(4)
    view = memoryview(memory)
    view[0] = 1
    x = 1
    memory[1] = 2
    x = 2
    part = view[1:3]
    part[0] = 9
    x = 3
    view.release()
    part.release()
    memory.extend(i for i in range(2))
    x = 4
    return memory, x


def arrays():
    numbers = array.array("i", [1, 2])
    view = memoryview(numbers)
    view[0] = 5
    x = numbers[0]
    view.release()
    numbers.extend(i for i in range(2))
    x = 2
    memory = bytearray(8)
    raw = (ctypes.c_char * 8).from_buffer(memory)
    raw[0] = b"a"
    x = 3
    return numbers, x


def deques():
    queue = collections.deque([1, 2], maxlen=3)
    alias = [queue]
    queue.extend(i for i in range(3))
    x = 1
    queue.rotate(1)
    x = 2
    queue[0] = 7
    x = 3
    return alias, x


def layers():
    first, second = {"a": 1}, {"b": 2}
    both = collections.ChainMap(first, second)
    both["c"] = 3
    x = 1
    first["d"] = 4
    x = 2
    counted = collections.Counter()
    counted.update(c for c in "abca")
    x = 3
    counted.subtract("a")
    x = 4
    groups = collections.defaultdict(list)
    groups["a"].append(1)
    x = 5
    groups["b"]
    x = 6
    ordered = collections.OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    x = 7
    add = functools.partial(sorted, [3, 1], key=None)
    add.keywords["reverse"] = True
    x = 8
    return both, x


print(buffers(), arrays(), deques(), layers())
