"""Numbers at their edges: big ints, nan, infinities, negative zero, complex, and ints too big to print."""

import sys
from decimal import Decimal
from fractions import Fraction

a = 2**200
b = -a
c = 10**5000
print(a, b.bit_length(), c % 97)
try:
    str(c)
except ValueError as error:
    print(type(error).__name__, sys.get_int_max_str_digits())
nan = float("nan")
inf = float("inf")
zero = -0.0
print(nan, inf, -inf, zero, zero == 0.0, nan == nan, nan in [nan], [nan] == [nan])
print(0.1 + 0.2, 1e16, 1e-7, 5e-324, 1.7976931348623157e308 * 10, 1 / 3)
z = complex(zero, -2)
print(z, z.conjugate(), 3 - 4j, abs(3 - 4j), complex(nan, inf))
print(True + True, isinstance(True, int), ~5, -7 // 2, -7 % 3, divmod(-7, 2))
print(Decimal("1.10") + Decimal("2"), Fraction(6, 4), round(2.5), round(-3.5), int("ff", 16), 0b101, 1_000)
print({1: "int", 1.0: "float", True: "bool"}, hash(2**61 - 1), hash(-1))
