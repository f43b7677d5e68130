def rewrite(word):
    while "ba" in word:
        word = word.replace("ba", "ab", 1)
    return word


# ----
def normal_form(text):
    at = text.find("ba")
    while at != -1:
        text = text[:at] + "ab" + text[at + 2:]
        at = text.find("ba")
    return text


# ----
def apply_rule(s):
    for i in range(len(s) - 1):
        if s[i] == "b" and s[i + 1] == "a":
            return s[:i] + "ab" + s[i + 2:]
    return s


def derive(s):
    while True:
        following = apply_rule(s)
        if following == s:
            return s
        s = following


# ----
def settle(tape):
    i = 0
    while i < len(tape) - 1:
        pair = tape[i:i + 2]
        if pair == "ba":
            tape = tape[:i] + "ab" + tape[i + 2:]
            i = 0
        else:
            i += 1
    return tape
