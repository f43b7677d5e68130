import gc

print(gc.isenabled(), gc.get_threshold(), gc.collect(), gc.garbage)


class C:
    pass


def cycle():
    a, b = C(), C()
    a.b, b.a = b, a


gc.disable()
for _ in range(5):
    cycle()
print(gc.collect(), gc.collect())
gc.enable()
