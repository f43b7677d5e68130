"""A linked list of more items than the limit on depth follows: which of them are beyond it depends on who refers to it."""


class Node:
    def __init__(self, value, after):
        self.value = value
        self.after = after


def value_of(node):
    found = node.value
    return found


def walk(node):
    total = 0
    for _ in range(3):
        total += value_of(node)
        node = node.after
    return total


def main():
    head = None
    for number in range(90):
        head = Node(number, head)
    held = [head]
    total = value_of(held[0].after.after)
    total += walk(head)
    held.append(total)
    return total


main()
