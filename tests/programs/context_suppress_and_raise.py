"""Context managers that suppress, that raise on entering or leaving, and what then is the context of what."""

import contextlib


class Bad:
    def __init__(self, enter=None, leave=None, suppress=False):
        self.enter, self.leave, self.suppress = enter, leave, suppress

    def __enter__(self):
        if self.enter:
            raise self.enter

    def __exit__(self, *details):
        print("exit sees", repr(details[1]))
        if self.leave:
            raise self.leave
        return self.suppress


with Bad(suppress=True):
    raise ValueError(1)
print("suppressed")
for managers in [(Bad(), Bad(enter=KeyError(2))), (Bad(suppress=True), Bad(leave=KeyError(3))), (Bad(leave=KeyError(4)), Bad())]:
    try:
        with managers[0], managers[1]:
            raise ValueError("body")
    except Exception as error:
        print("out:", repr(error), "in context", repr(error.__context__))
with contextlib.suppress(ZeroDivisionError, KeyError):
    print({}["absent"])
with contextlib.suppress():
    print("nothing to suppress")
try:
    with object():
        pass
except TypeError as error:
    print(type(error).__name__)
