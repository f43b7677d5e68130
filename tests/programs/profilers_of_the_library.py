"""cProfile, trace.Trace and tracemalloc started by the program: only their stable numbers are printed."""

import cProfile
import pstats
import sys
import trace
import tracemalloc


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


profile = cProfile.Profile()
profile.enable()
fib(5)
profile.disable()
stats = pstats.Stats(profile).stats
print([calls[:2] for (_, _, name), calls in stats.items() if name == "fib"])
counter = trace.Trace(count=1, trace=0)
print(counter.runfunc(fib, 4), sys.gettrace())
lines = {line: n for (file, line), n in counter.results().counts.items() if file == __file__ and 10 <= line <= 13}
print(sorted(lines.items()))
print(tracemalloc.is_tracing())
tracemalloc.start()
kept = [bytes(1000) for _ in range(10)]
print(tracemalloc.get_traced_memory()[0] > 10_000, tracemalloc.get_object_traceback(kept[0])[0].lineno)
tracemalloc.stop()
