"""Library functions patched by the program: json, time, os, threading, copy and sys functions that raise or lie."""

import collections
import copy
import inspect
import json
import os
import reprlib
import sys
import threading
import time


def broken(*args, **kwargs):
    raise RuntimeError("patched away")


patched = [(json, "dumps"), (time, "time"), (time, "perf_counter"), (time, "monotonic"), (os, "write"), (os, "getpid"),
           (copy, "deepcopy"), (copy, "copy"), (threading, "get_ident"), (threading, "current_thread"), (sys, "_getframe"),
           (sys, "getrefcount"), (inspect, "currentframe"), (reprlib, "repr"), (collections, "deque"), (sys, "getsizeof")]
saved = [(module, name, getattr(module, name)) for module, name in patched]
for module, name in patched:
    setattr(module, name, broken)


def work(n):
    a = [n]
    b = {"a": a}
    return [a, b]


result = work(30)
for module, name, function in saved:
    setattr(module, name, function)
print(result, json.dumps(result))
