class S: pass
def main():
    s = S(); s.a = [1]; s.b = s.a; t = s
    s.a.append(2); s.a = []; s.b.append(3); t.b += [4]; t.b = 5
    x = [0]; y = x; x.append(1); x = [9]; y.append(2)
    d = {}; e = d; d["k"] = 1; d = {}; e["l"] = 2; d.setdefault("m", []).append(1)
    i = 0; x[i] = 7; i += 1; y[i], i = 8, 0
    z = [[], []]; z[0].append(1); z[1] += [2]; z[i] += [3]
    z[0][0] = 9
    w = z; (w if i == 0 else x).append(4)
    while len(x) < 4: x.append(x[-1]); y[0] += 1
    return s, t, x, y, d, e, z
main()
