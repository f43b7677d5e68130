def balanced(text):
    stack = []
    for c in text:
        if c in "([":
            stack.append(c)
        elif not stack:
            return False
        elif stack.pop() + c not in ("()", "[]"):
            return False
    return not stack


# ----
def matches(line):
    closing = {"(": ")", "[": "]"}
    wanted = []
    i = 0
    while i < len(line):
        letter = line[i]
        if letter in closing:
            wanted.append(closing[letter])
        else:
            if len(wanted) == 0 or wanted[-1] != letter:
                return False
            wanted.pop()
        i += 1
    return len(wanted) == 0


# ----
def reduce_pairs(word):
    while True:
        shorter = word.replace("()", "")
        shorter = shorter.replace("[]", "")
        if shorter == word:
            break
        word = shorter
    return word == ""


# ----
def check(s):
    open_ones = ""
    for at in range(len(s)):
        if s[at] == "(":
            open_ones = open_ones + ")"
        elif s[at] == "[":
            open_ones = open_ones + "]"
        elif open_ones != "" and open_ones[-1] == s[at]:
            open_ones = open_ones[:-1]
        else:
            return False
    return open_ones == ""
