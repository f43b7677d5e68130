import tempfile, os

with tempfile.TemporaryDirectory() as d:
    p = os.path.join(d, "f")
    open(p, "w").write("x")
    print(os.listdir(d))
print(os.path.exists(d))
with tempfile.NamedTemporaryFile("w+", suffix=".t") as f:
    f.write("abc")
    f.seek(0)
    print(f.read(), f.name.endswith(".t"))
with tempfile.SpooledTemporaryFile() as s:
    s.write(b"1")
    print(s.tell())
