"""Programs whose state grows with n: what a line touches stays small. growth.py records each at four sizes.

`CASES` has the sizes, and how many items of data change in a run of size n.
"""

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple


def tree_insert(n: int) -> int:
    class Tree:
        def __init__(self, value: float) -> None:
            self.value = value
            self.left: Any = None
            self.right: Any = None

    random = Random(1)
    root = Tree(0.5)
    for _ in range(n):
        value = random.random()
        node = root
        while True:
            if value < node.value:
                if node.left is None:
                    node.left = Tree(value)
                    break
                node = node.left
            else:
                if node.right is None:
                    node.right = Tree(value)
                    break
                node = node.right
    return n


def nested_dicts(n: int) -> int:
    table: dict[int, dict[int, list[int]]] = {i: {j: [] for j in range(10)} for i in range(n // 10)}
    for i in range(200):
        table[i % (n // 10)][i % 10].append(i)
    return n


def list_of_lists(n: int) -> int:
    lists: list[list[int]] = [[i] for i in range(n)]
    for i in range(200):
        lists[i % n].append(i)
    return n


def long_list(n: int) -> int:
    items = []
    for i in range(n):
        items.append(i)
    return n


def text(n: int) -> int:
    s = ""
    for _ in range(n):
        s += "x"
    return len(s)


def set_items(n: int) -> int:
    items = list(range(n))
    for i in range(200):
        items[i % n] = -i
    return n


def linked_list(n: int) -> int:
    head: Any = None
    for i in range(n):
        head = [i, head]
    return n


def recursion(n: int) -> int:
    def down(depth: int, seen: list[int]) -> int:
        seen.append(depth)
        return depth if depth == 0 else down(depth - 1, seen)

    return down(n, [])


def numpy_walk(n: int) -> int:
    import numpy as np

    random = np.random.default_rng(0)
    position = np.zeros((50, 2))
    history = []
    for _ in range(n):
        step = random.normal(size=position.shape)
        position += step
        position[np.abs(position) > 5] *= -1
        history.append(position.copy())
    return int(np.linalg.norm(np.array(history), axis=2).max() * 1e6)


class Case(NamedTuple):
    run: Callable[[int], int]
    sizes: tuple[int, int, int, int]
    changes: Callable[[int], int]
    """Items of data that change in a run of size n."""


CASES = {
    "tree insert": Case(tree_insert, (200, 400, 800, 1600), lambda n: 4 * n),
    "nested dicts": Case(nested_dicts, (1000, 2000, 4000, 8000), lambda n: 2 * n + 200),
    "list of lists": Case(list_of_lists, (1000, 10_000, 30_000, 100_000), lambda n: 2 * n + 200),
    "long list": Case(long_list, (1000, 4000, 16_000, 64_000), lambda n: n),
    "text": Case(text, (4000, 8000, 16_000, 64_000), lambda n: n),
    "set items": Case(set_items, (1000, 10_000, 100_000, 1_000_000), lambda n: n + 200),
    "linked list": Case(linked_list, (1000, 2000, 4000, 8000), lambda n: 2 * n),
    "recursion": Case(recursion, (100, 200, 400, 800), lambda n: n),
    "numpy walk": Case(numpy_walk, (50, 100, 200, 400), lambda n: 300 * n),
}
