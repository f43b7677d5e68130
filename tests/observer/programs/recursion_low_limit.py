import sys

for limit in (1, 2, 5, 50):
    try:
        sys.setrecursionlimit(limit)
        print(limit, "set")
    except RecursionError as e:
        print(limit, e)
sys.setrecursionlimit(1000)


def nest(n):
    x = []
    for _ in range(n):
        x = [x]
    return x


try:
    repr(nest(1500))
except RecursionError:
    print("deep")
