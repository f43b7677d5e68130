"""Functions that give the same everywhere, though they look at clocks, files, threads or chance."""

import asyncio
import collections
import contextlib
import dataclasses
import datetime
import decimal
import enum
import functools
import hashlib
import heapq
import io
import itertools
import json
import logging
import os
import pathlib
import pickle
import queue
import random
import re
import shutil
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
import traceback
import weakref
from concurrent.futures import ThreadPoolExecutor


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Node:
    def __init__(self, value):
        self.value, self.next = value, None


def duration():
    print(f"took {abs(time.perf_counter() - time.perf_counter()):.0f} s")


def waits():
    time.sleep(0.01)
    return "waited"


def scratch():
    with tempfile.TemporaryFile("w+") as stream:
        stream.write("text")
        stream.seek(0)
        return stream.read()


def logs():
    logging.basicConfig(format="%(levelname)s %(name)s %(message)s")
    logging.getLogger("steady").warning("number %d", 3)


def seeded():
    random.seed(3)
    return [random.random(), random.Random(7).sample(range(100), 3)]


def relative_file():
    path = os.path.join("out", "a.txt")
    os.makedirs(os.path.dirname(path))
    with open(path, "w") as stream:
        stream.write("hello\n")
    with open(path) as stream:
        return stream.read(), os.path.exists(path), os.path.getsize(path), os.path.splitext(path)


def path_of_library():
    path = pathlib.Path("out") / "b.txt"
    path.parent.mkdir()
    path.write_text("é", encoding="utf-8")
    return path.read_text(encoding="utf-8"), path.suffix, path.name, path.is_file()


def sorted_listing():
    for name in "cab":
        open(name, "w").close()
    names = sorted(os.listdir("."))
    shutil.rmtree("nothing", ignore_errors=True)
    return names, sorted(path.name for path in sorted(pathlib.Path(".").iterdir()))


def locked():
    out, lock = [0] * 4, threading.Lock()

    def work(number):
        with lock:
            out[number] += number * number

    for number in range(4):
        thread = threading.Thread(target=work, args=(number,))
        thread.start()
        thread.join()
    return out


def pool():
    with ThreadPoolExecutor(4) as workers:
        return list(workers.map(abs, range(-5, 0)))


def handed_over():
    line = queue.Queue()
    thread = threading.Thread(target=lambda: [line.put(n) for n in range(5)])
    thread.start()
    thread.join(5)
    return [line.get(timeout=5) for _ in range(5)]


def tasks():
    async def work(n):
        await asyncio.sleep(0)
        return n * n

    async def all_of_it():
        return await asyncio.gather(*map(work, range(4)))

    return asyncio.run(all_of_it())


def hash_of_numbers():
    return [hash(12), hash(1.5), hash((1, 2)), hash(Point(1, 2)) == hash(Point(1, 2))]


def set_of_numbers():
    return list({3, 1, 2}), {10, 20} | {30}, sorted({"b", "a"})


def set_of_objects_by_value():
    return len({Point(1, 2), Point(1, 2), Point(2, 1)})


def same_object():
    a = [1]
    b = a
    return id(a) == id(b), a is b, {id(a): 1}[id(b)], id(a) != id([1])


def shared_parts():
    inner = [1]
    copied = json.loads(json.dumps([inner, inner]))
    return copied, pickle.loads(pickle.dumps(Point(1, 2)))


def dead():
    node = Node(1)
    known = weakref.ref(node)
    alive = known() is node
    del node
    return alive, known() is None


def linked():
    first = Node(1)
    first.next = Node(2)
    return first.value + first.next.value


def dates():
    day = datetime.date(2024, 2, 29)
    return day.isoformat(), day.weekday(), (day + datetime.timedelta(days=1)).strftime("%d.%m.%Y")


def moment_with_zone():
    moment = datetime.datetime(2024, 5, 1, 12, tzinfo=datetime.timezone.utc)
    return moment.timestamp(), datetime.datetime.fromtimestamp(0, datetime.timezone.utc).year


def money():
    return decimal.Decimal("1.10") + decimal.Decimal("2.20"), statistics.median([3, 1, 2])


def error_text():
    try:
        open("missing.txt")
    except OSError as error:
        return str(error), error.errno


def error_shown():
    try:
        os.stat("missing")
    except OSError:
        traceback.print_exc(file=sys.stdout)


def raises():
    return os.listdir("missing")


def names_of_builtins():
    from os import listdir, stat
    from time import perf_counter, sleep

    return [f.__name__ for f in (listdir, stat, perf_counter, sleep, id)], repr(sleep), sleep is time.sleep


def sets_a_variable():
    os.environ["MODE"] = "test"
    return os.environ["MODE"]


def counts():
    words = re.findall(r"\w+", "the cat and the dog")
    return collections.Counter(words).most_common(1), heapq.nsmallest(2, [3, 1, 2])


def cached():
    @functools.lru_cache
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return fib(30), fib.cache_info().hits


def printed():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        print("inside", Colour.RED, Point(1, 2))
    print(out.getvalue(), end="")


def table():
    base = sqlite3.connect(":memory:")
    base.execute("create table t (a)")
    base.executemany("insert into t values (?)", [(1,), (2,)])
    return base.execute("select sum(a) from t").fetchone()


def digest():
    return hashlib.sha256(b"x").hexdigest()[:8], list(itertools.accumulate([1, 2, 3]))
