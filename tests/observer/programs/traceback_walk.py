import traceback, sys


def f(n):
    return 1 / n if n < 1 else f(n - 1)


try:
    f(3)
except ZeroDivisionError as e:
    tb = e.__traceback__
    print([(s.name, s.lineno, s.line) for s in traceback.extract_tb(tb)])
    print(tb.tb_frame.f_back, tb.tb_frame.f_code.co_name)
    print([fr.f_code.co_name for fr, _ in traceback.walk_stack(tb.tb_frame)])
    traceback.print_exc()
