import sys
def poke():
    f = sys._getframe(1)
    f.f_locals["x"] = 9
def main():
    x = 1; y = [x]
    poke()
    z = x
    def inner():
        nonlocal y
        y = [2]
    inner()
    w = y
    exec("y = 5")
    loc = locals(); loc["x"] = 100
    return x, y, z
main()
