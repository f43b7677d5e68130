import decimal, fractions

with decimal.localcontext() as c:
    c.prec = 5
    print(decimal.Decimal(1) / 7, c.flags[decimal.Inexact])
print(decimal.getcontext().prec, fractions.Fraction(3, 6), decimal.Decimal("1.10").normalize())
