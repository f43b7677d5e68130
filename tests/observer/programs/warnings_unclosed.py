import warnings, gc

warnings.simplefilter("always")


def leak():
    f = open("leak.txt", "w")
    f.write("x")


leak()
gc.collect()
print(open("leak.txt").read())
