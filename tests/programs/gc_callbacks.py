"""gc.disable, gc.callbacks and thresholds set by the program: they stay as it set them."""

import gc

phases = []


def watch(phase, details):
    phases.append((phase, details["generation"]))


gc.disable()
gc.callbacks.append(watch)
gc.set_threshold(500, 5, 5)
a = []
for i in range(200):
    b = []
    b.append(b)
print(phases, gc.isenabled(), gc.get_threshold())
print(gc.collect(2) >= 199, phases)
gc.callbacks.remove(watch)
gc.enable()
print(len(phases), gc.callbacks)
