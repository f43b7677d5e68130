"""Sets and str hashes: the order of iteration depends on the hash seed, the output does not."""

words = {"apple", "pear", "fig", "plum", "cherry"}
seen = []
total = 0
for word in words:
    seen.append(word)
    total += len(word)
print(sorted(seen), total, len(words & {"fig", "kiwi"}))
index = {hash(word): word for word in words}
print(sorted(index.values()), hash("fig") == hash("f" + "ig"))
first = next(iter(words))
print(first in words, first == seen[0], min(words), max(words, key=len))
by_object = {object(): n for n in range(3)}
print(list(by_object.values()), sorted({frozenset([n, n + 1]) for n in range(2)}, key=min))
numbers = {3, 1, 2, 10}
print(sorted(numbers), numbers.pop() in (1, 2, 3, 10))
