"""A cache that holds a few values and forgets the one that nobody asked for longest."""

from collections.abc import Callable


class LRUCache:
    """At most `capacity` values, by key; looking a value up makes it the youngest.

    >>> cache = LRUCache(2)
    >>> cache.put("a", 1)
    >>> cache.put("b", 2)
    >>> cache.get("a")
    1
    >>> cache.put("c", 3)
    >>> cache.keys()
    ['a', 'c']
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.hits = 0
        self.misses = 0
        self._values: dict[str, int] = {}  # a dict keeps the order of insertion: the oldest key comes first

    def get(self, key: str) -> int | None:
        """The value under the key, or None if it was never there or has been forgotten."""
        if key not in self._values:
            self.misses += 1
            return None
        self.hits += 1
        value = self._values.pop(key)
        self._values[key] = value
        return value

    def put(self, key: str, value: int) -> None:
        """Keeps a value; where there is no room left, the oldest goes."""
        self._values.pop(key, None)
        if len(self._values) == self.capacity:
            oldest = next(iter(self._values))
            del self._values[oldest]
        self._values[key] = value

    def keys(self) -> list[str]:
        """The keys, from the oldest to the youngest."""
        return list(self._values)


def lookup(words: list[str], cache: LRUCache, compute: Callable[[str], int]) -> list[int]:
    """The value of each word, computed only where the cache has none.

    >>> cache = LRUCache(2)
    >>> lookup(["to", "be", "or", "not", "to", "be"], cache, len)
    [2, 2, 2, 3, 2, 2]
    >>> cache.hits, cache.misses
    (0, 6)
    """
    values = []
    for word in words:
        value = cache.get(word)
        if value is None:
            value = compute(word)
            cache.put(word, value)
        values.append(value)
    return values


if __name__ == "__main__":
    cache = LRUCache(4)
    print(lookup("to be or not to be that is to be asked".split(), cache, len), cache.hits, cache.keys())
