"""Values whose repr shows an address or a state outside Python: modules, code, locks, files, frames, matches."""

import datetime
import io
import pathlib
import re
import sys
import threading
import types
import uuid


def f(x):
    return lambda: x


values = [object(), f, f(1), f.__code__, f(1).__closure__[0], sys, sys._getframe(), len, [].append, str.join, int.__add__,
          type, types, super(int, 5), property(f), classmethod(f), threading.Lock(), threading.current_thread(), io.StringIO("text"),
          io.BytesIO(b"x"), sys.stdout, re.compile("a+"), re.match("a", "ab"), iter([]), (x for x in ()), {}.keys(), {1: 2}.items(),
          memoryview(b"m"), slice(1), range(3), datetime.date(2020, 2, 29), datetime.timedelta(hours=36), pathlib.PurePosixPath("/x/y"),
          uuid.UUID(int=5), types.GenericAlias(list, (int,)), int | None, NotImplemented, Ellipsis, ValueError("v"), type(None)]
names = []
for value in values:
    names.append(type(value).__name__)
print(len(values), names)
print(values[18].tell(), values[18].read(), values[22].group(), values[29].stop, values[30].isoformat(), values[31], values[33].int)
