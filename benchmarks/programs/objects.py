"""Instances, slots, a property, exceptions and comprehensions: accounts with a history, a linked list."""

TINY, SMALL, FULL = 1, 4, 500
MILLION, TEN_MILLION = 475, 4750
EXPECT = {"TINY": (9, 862), "SMALL": (36, 3448), "FULL": (4500, 431000)}


class Account:
    """Money, and every movement of it."""

    def __init__(self, owner: str, balance: int) -> None:
        self.owner = owner
        self.balance = balance
        self.history: list[tuple[str, int]] = []

    def deposit(self, amount: int) -> None:
        self.balance += amount
        self.history.append(("d", amount))

    def withdraw(self, amount: int) -> None:
        if amount > self.balance:
            raise ValueError("insufficient")
        self.balance -= amount
        self.history.append(("w", amount))

    @property
    def moves(self) -> int:
        return len(self.history)


class Node:
    __slots__ = ("after", "value")

    def __init__(self, value: int, after: "Node | None") -> None:
        self.value = value
        self.after = after


class Stack:
    """A linked list, last in first out."""

    def __init__(self) -> None:
        self.head: Node | None = None
        self.size = 0

    def push(self, value: int) -> None:
        self.head = Node(value, self.head)
        self.size += 1

    def pop(self) -> int:
        node = self.head
        assert node is not None
        self.head = node.after
        self.size -= 1
        return node.value


def main(n: int) -> tuple[int, int]:
    """Movements refused, and a sum over everything else: of n days together."""
    refused = 0
    total = 0
    for _ in range(n):
        accounts = [Account(f"u{number}", 10 * number) for number in range(5)]
        stack = Stack()
        for step in range(60):
            source = accounts[step % 5]
            target = accounts[(step * 3 + 1) % 5]
            amount = (step * 7) % 23
            try:
                source.withdraw(amount)
                target.deposit(amount)
            except ValueError:
                refused += 1
            stack.push(amount)
        while stack.size:
            total += stack.pop()
        total += sum(account.balance for account in accounts) + sum(account.moves for account in accounts)
    return refused, total
