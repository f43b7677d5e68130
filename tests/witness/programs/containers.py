import collections, types
def main():
    base = {'a': 1}
    cm = collections.ChainMap(base, {'b': 2})
    cm['a'] = 5
    x = 1
    cm.maps[0]['z'] = 1
    x = 2
    child = cm.new_child()
    child['q'] = 1
    x = 3
    ud = collections.UserDict(a=1)
    ud['b'] = 2
    x = 4
    ud |= {'c': 3}
    x = 5
    ul = collections.UserList([1])
    ul.append(2)
    x = 6
    ul += (i for i in range(2))
    x = 7
    ul[0] = 9
    x = 8
    ns = types.SimpleNamespace(a=[1])
    ns.b = 2
    x = 9
    ns.a.append(3)
    x = 10
    vars(ns)['c'] = 4
    x = 11
    mp = types.MappingProxyType(base)
    base['new'] = 1
    x = 12
    c = collections.Counter()
    c.update(ch for ch in 'aab')
    x = 13
    c['a'] += 1
    x = 14
    dd = collections.defaultdict(lambda: [0])
    dd['x'].append(1)
    x = 15
    dd['y'] += [2]
    x = 16
    od = collections.OrderedDict(a=1, b=2)
    od.move_to_end('a')
    x = 17
    us = collections.UserString('ab')
    us += 'c'
    x = 18
    return x
main()
end = 1
