# 3.12 tells of a line again where a call returns into it, from the first run on or from the second.
class Word:
    def __init__(self, text):
        self.text = text

    @property
    def short(self):
        return self.text[:1]

    def __getitem__(self, at):
        return self.text[at]


def twice(n):
    return 2 * n


def chosen(word, n):
    a = n == 1 or twice(n)
    b = n == 2 and word.short
    c = n == 3 or word[n]
    d = "" if word.short == "w" else word.short
    e = (
        n == 1
        or twice(n)
    )
    assert n < 9 or twice(n)
    return (a, b, c, d, e) if n else twice(n)


for n in range(3):
    print(chosen(Word("abcd"), n))
n = 3
while n > 1 and twice(n): n -= twice(1) or twice(2)
print(n)
