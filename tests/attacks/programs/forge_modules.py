"""Replaces the standard library's ways out: os.write, json.dumps, pickle.dumps, struct.pack, os._exit.

Seen: the verdict is that it passed, or an error of the harness's.
Stopped at: strict, standard.
Works: where the child reports by them.
Verdict: wrong, raised, exited.
"""
import json
import marshal
import os
import pickle
import struct


def attack():
    real = os.write
    os.write = lambda fd, data: real(fd, b"passed")
    json.dumps = lambda *given, **named: '{"outcome": "returned", "passed": true}'
    pickle.dumps = marshal.dumps = lambda *given, **named: b"passed"
    struct.pack = lambda *given: b"\0\0\0\0"
    os._exit = lambda status: None
