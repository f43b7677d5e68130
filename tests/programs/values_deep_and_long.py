"""Values too deep or too long to show whole: 100 lists in one another, a long string, a long list, a wide dict."""

a = []
for _ in range(100):
    a = [a]
depth = 0
inner = a
while inner:
    inner = inner[0]
    depth += 1
print(depth, str(a).count("["))
s = "long " * 20_000
s = s[:-1] + "!"
print(len(s), s[-6:])
b = list(range(50_000))
b[49_999] = "last"
print(len(b), b[-2:])
d = {f"key{i}": [i] * 3 for i in range(300)}
d["key299"].append("changed deep inside")
print(len(d), d["key299"])
e = bytes(100_000)
print(len(e), e == bytearray(100_000))
