def main():
    out = []
    keep = [out]
    for _ in map(out.append, [1, 2, 3]):
        pass
    m = map(out.append, [4, 5])
    x = list(m)
    z = [*map(out.append, [7])]
    n = sum(1 for _ in map(out.append, [8, 9]))
    return keep
main()
