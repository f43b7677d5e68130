"""Strings that grow, split and join: a text is shortened to runs of letters and written out again."""

TINY, SMALL, FULL = 1, 8, 600
EXPECT = {"TINY": (128, True), "SMALL": (1024, True), "FULL": (76800, True)}
TEXT = "aaaa bbb ccccccc dd e ffff gg hhhhhhhhhhhhh i jjj kk llll mmmmmm n oo ppp " * 2


def shortened(text: str) -> str:
    """Each run of one character as its length and the character."""
    out = ""
    at = 0
    while at < len(text):
        end = at
        while end < len(text) and text[end] == text[at]:
            end += 1
        out += f"{end - at}{text[at]}"
        at = end
    return out


def written_out(short: str) -> str:
    """The inverse of `shortened`."""
    parts = []
    digits = ""
    for character in short:
        if character.isdigit():
            digits += character
        else:
            parts.append(character * int(digits))
            digits = ""
    return "".join(parts)


def main(n: int) -> tuple[int, bool]:
    """How long the short forms are together, and whether each gave its text back."""
    total, faithful = 0, True
    for turn in range(n):
        words = TEXT.split()
        text = " ".join(words[turn % 5 :] + words[: turn % 5])
        short = shortened(text)
        total += len(short)
        faithful = faithful and written_out(short) == text
    return total, faithful
