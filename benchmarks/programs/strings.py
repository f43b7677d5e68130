"""Strings that grow, split and join: a text is shifted letter by letter, its words are turned round."""

TINY, SMALL, FULL = 1, 8, 700
EXPECT = {"TINY": 285, "SMALL": 2280, "FULL": 199500}
TEXT = "The quick brown fox jumps over the lazy dog, and 13 wizards hex my quartz box. " * 3


def shifted(text: str, places: int) -> str:
    """Caesar's cipher."""
    out = ""
    for character in text:
        if character.isalpha():
            base = 65 if character.isupper() else 97
            out += chr((ord(character) - base + places) % 26 + base)
        else:
            out += character
    return out


def main(n: int) -> int:
    """How long n such texts are together, with their dashes counted twice."""
    total = 0
    for turn in range(n):
        words = shifted(TEXT, turn % 26).split(" ")
        turned = []
        for word in words:
            back = word[::-1]
            turned.append(back.upper() if len(back) > 3 else back)
        joined = "-".join(turned)
        total += len(joined) + joined.count("-")
    return total
