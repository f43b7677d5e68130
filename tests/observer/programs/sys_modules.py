import sys

print(
    sorted(
        m
        for m in sys.modules
        if not m.startswith("_") and "." not in m and m not in ("site", "distutils-precedence")
    )
)
print("json" in sys.modules, "numpy" in sys.modules, "threading" in sys.modules, "deskcheck" in sys.modules)
before = set(sys.modules)
import json, dataclasses, typing, pathlib, decimal, datetime, ctypes, logging, asyncio

print(sorted(set(sys.modules) - before))
