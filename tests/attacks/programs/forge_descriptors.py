"""Writes what a checker would say to every descriptor, in every form.

Seen: the verdict is that it passed, or the harness is disturbed.
Stopped at: strict, standard.
Verdict: wrong, exited, killed.
"""
import json
import os
import pickle
import struct


def attack():
    words = [b"passed\n", b"\0Vpassed", b"returned", b'{"outcome": "returned"}\n', json.dumps({"passed": True}).encode()]
    words += [pickle.dumps("passed"), pickle.dumps({"passed": True}), pickle.dumps(True)]
    for fd in range(3, 256):
        for word in words:
            for message in (word, struct.pack("<I", len(word)) + word, struct.pack(">I", len(word)) + word):
                try:
                    os.set_blocking(fd, False)
                    os.write(fd, message)
                except OSError:
                    break
    os._exit(0)
