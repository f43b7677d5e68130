def main():
    l = [1]; m = l; l += [2]; l *= 2
    s = {1}; t = s; s |= {2}; s -= {1}; s &= {2, 3}; s ^= {5}
    d = {"a": 1}; e = d; d |= {"b": 2}
    b = bytearray(b"x"); c = b; b += b"y"; b[0] = 65; b.extend(b"z")
    f = (l, s); f += (d,); g = f
    n = 1; n += 1; q = "a"; q += "b"; q *= 3
    def use(p): p += [9]; return p
    use(l); use(m)
    z = [[1], [2]]
    z[0] += [5]
    for i in z: i += [0]
    for k in d: l.append(k)
    for i, j in enumerate(l): l[i] = (j,)
    l[:] = [x for x in l if x]
    l.sort(key=str); l.reverse(); l.insert(0, m)
    return g
main()
