import gc

gc.set_debug(gc.DEBUG_SAVEALL)


class C:
    pass


c = C()
c.me = c
del c
n = gc.collect()
print(n, [type(x).__name__ for x in gc.garbage])
gc.set_debug(0)
gc.garbage.clear()
