import sys

print("numpy" in sys.modules)
import numpy

print(
    len([m for m in sys.modules if m.startswith("numpy.")]) > 10,
    sys.modules["numpy"] is numpy,
    numpy.__spec__.name,
)
import importlib

print(importlib.import_module("numpy.linalg") is numpy.linalg)
