"""A debugger of the program's own, made with bdb: breakpoints, steps and values as it sees them."""

import bdb


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


class Debugger(bdb.Bdb):
    def user_line(self, frame):
        if frame.f_code is work.__code__:
            print("line", frame.f_lineno, {k: v for k, v in sorted(frame.f_locals.items())})
        self.set_step()

    def user_return(self, frame, value):
        if frame.f_code is work.__code__:
            print("return", value)
            self.set_continue()


print(Debugger().runcall(work, 2))
print(work(3))
