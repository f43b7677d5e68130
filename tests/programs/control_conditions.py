"""Chained comparison, conditional expressions and short circuits evaluate only what they must."""

calls = []


def v(x):
    calls.append(x)
    return x


print(v(1) < v(3) < v(2) < v(9), calls)
calls.clear()
print(v(1) == v(1) != v(2) in (v(2),), calls)
calls.clear()
print("yes" if v(0) else "no" if v("") else v("else"), calls)
calls.clear()
print(v(0) or v([]) or v("last"), v(1) and v(0) and v("never"), calls)
calls.clear()
print(not v(0), not v(1) or v(5), calls)
a = b = 30
if a > 40:
    print("never")
elif b > 25 and not a < b:
    print("elif")
else:
    print("never")
