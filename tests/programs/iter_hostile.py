"""__iter__, __next__, __len__ and __length_hint__ that print or raise: nobody iterates but the program."""


class Trap:
    def __iter__(self):
        print("iter asked")
        return Endless()

    def __len__(self):
        print("len asked")
        return 10**6

    def __getitem__(self, i):
        print("item asked")
        raise RuntimeError("do not index me")

    def keys(self):
        print("keys asked")
        return []


class Endless:
    def __next__(self):
        print("next asked")
        return self

    def __iter__(self):
        return self

    def __length_hint__(self):
        print("hint asked")
        return 3


def carry(trap, endless):
    held = (trap, endless, {"trap": trap})
    x = 1
    return held


held = carry(Trap(), Endless())
print("carried")
first, = [x for x, _ in zip(held[0], "a")]
print(type(first).__name__, len(held[2]), {**held[0]})
