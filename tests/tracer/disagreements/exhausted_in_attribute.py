class Box:
    def __init__(self): self.it = iter([1, 2, 3]); self.z = zip([1, 2], iter([3, 4, 5]))
def main():
    b = Box()
    for x in b.it:
        y = x
    done = 1
    for a, c in b.z:
        y = a + c
    done = 2
    return y
main()
