def main():
    d = {'a': 1}
    ks, vs, both = d.keys(), d.values(), d.items()
    d['b'] = 2
    x = 1
    d.pop('a')
    x = 2
    d['b'] = 3
    x = 3
    e = d
    e |= {'c': 4}
    x = 4
    d.clear()
    x = 5
    for d['z'] in range(2):
        x = 6
    x = 7
main()
end = 1
