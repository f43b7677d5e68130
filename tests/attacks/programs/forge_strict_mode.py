"""Has the kernel kill it (SECCOMP_MODE_STRICT) at the next thing that anybody does in its process.

Seen: the verdict is an error of the harness's, or the programs beside it have other verdicts.
Stopped at: strict, standard.
Works: where a dead process is taken for the fault of who started it.
Verdict: killed, wrong.
"""
import ctypes


def answer(n):
    ctypes.CDLL(None).prctl(22, 1, 0, 0, 0)
    return n
