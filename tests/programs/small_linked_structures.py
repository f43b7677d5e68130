"""A linked list reversed, a tree searched, a graph walked: objects that point at one another."""

from collections import deque


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next

    def __iter__(self):
        node = self
        while node:
            yield node.value
            node = node.next


def reverse(node):
    previous = None
    while node:
        node.next, previous, node = previous, node, node.next
    return previous


def breadth_first(graph, start):
    seen, queue, order = {start}, deque([start]), []
    while queue:
        here = queue.popleft()
        order.append(here)
        for there in graph[here]:
            if there not in seen:
                seen.add(there)
                queue.append(there)
    return order


print(list(reverse(Node(1, Node(2, Node(3))))), breadth_first({"a": "bc", "b": "d", "c": "d", "d": "a"}, "a"))
