"""Long texts that change a little: at the end, the start and the middle; in frames, globals, fields and calls."""


class Note:
    def __init__(self, text):
        self.text = text
        self.title = text.upper()

    def add(self, more):
        self.text += more
        self.title = self.title[:-1]


def passed(text):
    return text[-2:]


def lines(text):
    for part in ("one", "two", "\N{SNOWMAN}", "\N{GRINNING FACE}", "\udc80"):
        text = f"{text}\n{part}"
        yield text


long = "0123456789" * 8
for i in range(3):
    long += "x"
    long = "y" + long
    long = long[:40] + "-" + long[41:]
del long
long = "z" * 64
long = long[:-1]
long += "z"

other = same = "ab" * 50
for i in range(3):
    other, same = same + "c", other
    print(passed(other := other + "d"), len(same))

note = Note("é" * 70)
for i in range(3):
    note.add(f"<{i}>")
del note.title
note.title = note.text + "!"


def counted(n, text):
    text += str(n)
    return text if n == 0 else counted(n - 1, text)


print(len(counted(5, "w" * 64)))
for text in lines("v" * 70):
    print(ascii(text[-9:]))

limit = "q" * 9_998
for i in range(4):
    limit += "r"
for i in range(4):
    limit = limit[:-1]
limit = limit[1:] + "s"

# More texts than are remembered at a time.
many = {}
for i in range(70):
    many[i] = f"{i:03}" + "m" * 70
a = b = c = "n" * 80
for i in range(3):
    a, b, c = many[i] + a, b + many[69 - i], c.replace("n", "nn", 1)
print(len(a), len(b), c.count("n"))
