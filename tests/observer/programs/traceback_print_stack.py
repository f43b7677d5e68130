import traceback, sys


def f():
    traceback.print_stack(file=sys.stdout)
    print(len(traceback.extract_stack()), traceback.format_stack()[0])


f()
traceback.print_stack()
