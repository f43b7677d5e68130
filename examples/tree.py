"""A binary search tree of whole numbers: it grows by recursion and is read by generators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass
class Node:
    """A value; the smaller ones hang on the left, the larger ones on the right."""

    value: int
    left: Node | None = None
    right: Node | None = None


def insert(node: Node | None, value: int) -> Node:
    """The tree with the value in it; a value that is there already changes nothing.

    >>> insert(insert(None, 5), 3)
    Node(value=5, left=Node(value=3, left=None, right=None), right=None)
    """
    if node is None:
        return Node(value)
    if value < node.value:
        node.left = insert(node.left, value)
    elif value > node.value:
        node.right = insert(node.right, value)
    return node


def build(values: Iterable[int]) -> Node | None:
    """The tree that grows when the values come in this order; None if there are none."""
    root = None
    for value in values:
        root = insert(root, value)
    return root


def in_order(node: Node | None) -> Iterator[int]:
    """The values from the smallest to the largest.

    >>> list(in_order(build([5, 2, 8, 1, 9, 3])))
    [1, 2, 3, 5, 8, 9]
    """
    if node is not None:
        yield from in_order(node.left)
        yield node.value
        yield from in_order(node.right)


def paths(node: Node | None) -> Iterator[list[int]]:
    """Every way from the root down to a leaf, from left to right.

    >>> list(paths(build([5, 2, 8, 1])))
    [[5, 2, 1], [5, 8]]
    """
    if node is None:
        return
    if node.left is None and node.right is None:
        yield [node.value]
    for child in (node.left, node.right):
        for rest in paths(child):
            yield [node.value, *rest]


if __name__ == "__main__":
    tree = build([50, 30, 70, 20, 40, 60, 80, 35])
    print(list(in_order(tree)), list(paths(tree)))
