import sys

seen = []
sys.setprofile(lambda f, e, a: seen.append((e, f.f_code.co_name, getattr(a, "__name__", None))))
print("x")
len([1])
sys.setprofile(None)
print(seen)
