"""Ends the interpreter's thread state under its own feet.

Seen: the programs beside it have other verdicts, or the verdict is an error of the harness's.
Stopped at: strict, standard.
Works: never, it is only a crash.
Verdict: killed, exited, timed_out, wrong.
"""
import ctypes


def attack():
    ctypes.pythonapi.Py_FinalizeEx()
