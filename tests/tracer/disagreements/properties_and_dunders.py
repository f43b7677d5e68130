class V:
    def __init__(self): self.hits = []; self._x = 0
    @property
    def x(self):
        self.hits.append("get")
        return self._x
    @x.setter
    def x(self, v):
        self.hits.append("set")
        self._x = v
    def __iadd__(self, o):
        self.hits.append(o)
        return self
    def __add__(self, o): self.hits.append("add"); return 3
    def __getitem__(self, k): self.hits.append(k); return k
    def __setitem__(self, k, v): self.hits.append((k, v))
    def __contains__(self, k): self.hits.append("in"); return True
    def __len__(self): self.hits.append("len"); return 2
    def __bool__(self): self.hits.append("bool"); return True
    def __iter__(self): self.hits.append("iter"); return iter([1, 2])
    def __format__(self, s): self.hits.append("format"); return "f"
    def __eq__(self, o): self.hits.append("eq"); return True
    def __hash__(self): self.hits.append("hash"); return 1
    def __call__(self, *a): self.hits.append(a); return self
    def __enter__(self): self.hits.append("enter"); return self
    def __exit__(self, *a): self.hits.append("exit"); return True
    def __getattr__(self, name): self.hits.append(name); return name
def main():
    v = V(); w = [v]; z = v
    a = v.x; v.x = 5; v.x += 1
    v += 7
    b = v + 1; c = v[3]; v[4] = 5
    d = 1 in v; e = len(v); f = not v
    for i in v: g = i
    h = f"{v}"; j = v == 1; k = {v: 1}; l = v in {v}
    m = v(1, 2)(3); n = v.missing
    with v: raise ValueError("x")
    o, p = v
    q = [*v]; r = sum(v); s = list(v); t = isinstance(v, V); u = str(e) + format(v)
    x = max(v, v, key=lambda y: 1); y = dict.fromkeys(v); aa = sorted(v); bb = any(v)
    return w, z
main()
