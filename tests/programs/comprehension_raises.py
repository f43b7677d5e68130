"""An exception raised inside a comprehension: the outer name comes back, half-made results are dropped."""


def risky(n):
    if n == 2:
        raise ValueError(n)
    return n


def main():
    n = "outer"
    kept = []
    try:
        a = [kept.append(n) or risky(n) for n in range(4)]
    except ValueError as error:
        print("caught", error, n, kept, "a" in locals())
    try:
        {n: risky(m) for n in range(2) for m in range(4)}
    except ValueError:
        print("nested", n)
    try:
        [n for n in 5]
    except TypeError as error:
        print(error)
    try:
        [x for x in range(3) if undefined_name]
    except NameError as error:
        print(error)
    return n


print(main())
