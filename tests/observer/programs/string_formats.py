class F:
    def __format__(self, spec):
        return f"<{spec}>"


n = 3.14159
print(f"{n:.2f} {F():abc} {n!r:>10} {'x':^5}|", "%s %d" % ("a", 1), "{0[k]} {1.real}".format({"k": 1}, 5))
print(f"{n = :.1f}", str.maketrans("a", "b"), "ab".translate({97: None}))
