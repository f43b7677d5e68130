import weakref


class F:
    pass


f = F()
fin = weakref.finalize(f, print, "gone", 1)
print(fin.alive, fin.peek()[2])
del f
print(fin.alive)
g = F()
weakref.finalize(g, print, "at exit")
print("end")
