"""Strings with surrogates, control characters, quotes, combining and wide characters."""

a = "\ud800 alone"
b = "\U0001f600 wide"
c = "it's"
d = 'say "it\'s"'
e = "tab\tnewline\nnull\x00escape\x1b\x7f\x85\u2028\ufeff"
f = "e\u0301" + "\xe9"
g = r"raw \n" "\\"
for s in (a, b, c, d, e, f, g, ""):
    print(ascii(s), len(s))
try:
    a.encode()
except UnicodeEncodeError as error:
    print(error.reason, error.start)
print(a.encode("utf-8", "surrogatepass"), ascii(b"\xff".decode("utf-8", "surrogateescape")))
print(ascii(e.splitlines()), ascii("ß".upper() + "İ".lower()), f"{c!r:>8}|{b!a}")
s = "x" * 3 + ","
print(s * 2, s[::-1], s[-2:], "%s %5.1f %r" % ("old", 2.25, "style"), "{0}{0!r:^6}{n[0]}".format("f", n="m"))
