"""Counting words and inverting a table: string methods, dicts of lists, sorting by two keys."""

text = """the quick brown fox
jumps over the lazy dog
the end"""
counts = {}
where = {}
for number, line in enumerate(text.splitlines(), start=1):
    for word in line.split():
        counts[word] = counts.get(word, 0) + 1
        where.setdefault(word, []).append(number)
ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
print(ranked[:3], where["the"])
by_length = {}
for word in sorted(counts):
    by_length.setdefault(len(word), set()).add(word)
print({n: sorted(words) for n, words in sorted(by_length.items())})
caesar = "".join(chr((ord(c) - 97 + 3) % 26 + 97) if c.isalpha() else c for c in text[:9])
print(caesar, " ".join(w[::-1].title() for w in text.split()[:3]), text.count("\n"))
