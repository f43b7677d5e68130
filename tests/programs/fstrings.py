"""f-strings: nested calls and format specs, conversions, =, several lines; what is evaluated, in order."""

calls = []


def v(x):
    calls.append(x)
    return x


name, width = "deskcheck", 12
print(f"{v(name)!r:>{v(width)}}|{v(3.14159):{v(8)}.{v(2)}f}|{v('x'):{'^'}{5}}|{{literal}}|{v(255):#x}")
print(f"{v(1)}" f"{v(2)}" + f"{v(3) if v(0) else v(4)}")
print(f"{name=} {width + 1 = } {v(5)=!s:>3} {[v(n) for n in (6, 7)]} {(lambda x: x * 2)(4)}")
print(
    f"{v(8)} and "
    f"{v(9):,}"
    f"""{
        v("over lines")
    }"""
)
print(f"{f'{v(10)}'!r:*^8}", f"{1_000_000:,} {0.5:%} {-5:+d} {'a':\u2713<3}".encode(), f"{dict(a=1)['a']}", f"{b'x'!a}")
print(calls)
