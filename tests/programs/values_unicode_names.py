"""Identifiers beyond ASCII, normalised by the compiler: two spellings, one name."""

α = 3
größe = 4
变量 = 5
ﬁ = 6
_ = 7
__ = 8
print(α + größe + 变量, fi, _ + __, sorted(n for n in globals() if not n.isascii()) == sorted(["α", "größe", "变量"]))


def ſum(été, *, naïve=12):
    ñ = été + naïve
    return ñ, list(locals()), sum.__name__


print([ascii(x) for x in ſum(1)])


class Ünï:
    ätt = 21


print(ascii(vars(Ünï)["ätt"]), ascii(Ünï.__qualname__), hasattr(Ünï, "ätt"))
