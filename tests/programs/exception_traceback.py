"""Tracebacks: their frames, lines and names; the frames keep their locals alive until the exception goes."""

import sys
import traceback


class Loud:
    def __del__(self):
        print("del")


def low(n):
    loud = Loud()
    return n / 0


def high(n):
    return [low(
        n
    )]


try:
    high(1)
except ZeroDivisionError as error:
    kept = error
    print(sys.exc_info()[1] is error, sys.exception() is error)
print("still alive")
tb = kept.__traceback__
while tb:
    print(tb.tb_frame.f_code.co_name, tb.tb_lineno, tb.tb_frame.f_lineno, sorted(tb.tb_frame.f_locals)[:2] if tb.tb_next is None else "")
    tb = tb.tb_next
print([(s.name, s.lineno) for s in traceback.extract_tb(kept.__traceback__)])
print(traceback.format_exception_only(kept), sys.exc_info())
kept = kept.with_traceback(None)
print("freed")
