import sys


class E:
    def __str__(self):
        return "told at exit"


try:
    sys.exit([1])
except SystemExit as e:
    print(e.code)
raise SystemExit(E())
