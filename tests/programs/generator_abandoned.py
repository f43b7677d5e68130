"""Generators abandoned half way: their finally runs when the last reference goes, at that very line."""


def numbers(name):
    try:
        yield 1
        yield 2
    finally:
        print("finally", name)


for n in numbers("loop"):
    print(n)
    break
print("after break")
a = numbers("rebound")
next(a)
a = None
print("after rebinding")


def leave():
    b = numbers("local")
    next(b)
    print("leaving")


leave()
print("left")
c, *_ = numbers("exhausted")
d = numbers("never started")
del d
print(next(numbers("temporary")))
e = numbers("kept to the end of the program")
next(e)
print("end of program")
