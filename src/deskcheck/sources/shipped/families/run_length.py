def run_length(text):
    out = ""
    i = 0
    while i < len(text):
        n = 1
        while i + n < len(text) and text[i + n] == text[i]:
            n += 1
        out += text[i] + str(n)
        i += n
    return out


# ----
def encode(word):
    result = ""
    last = ""
    count = 0
    for letter in word:
        if letter == last:
            count = count + 1
        else:
            if count > 0:
                result = result + last + str(count)
            last = letter
            count = 1
    if count > 0:
        result = result + last + str(count)
    return result


# ----
def compress(s):
    parts = []
    for c in s:
        if parts and parts[-1][0] == c:
            parts[-1][1] += 1
        else:
            parts.append([c, 1])
    line = ""
    for c, k in parts:
        line += f"{c}{k}"
    return line


# ----
def shorten(letters):
    if letters == "":
        return ""
    first = letters[0]
    rest = letters.lstrip(first)
    number = len(letters) - len(rest)
    return first + str(number) + shorten(rest)
