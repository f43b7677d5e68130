"""Bank accounts: money moves whole or not at all, and what cannot be done raises."""


class InsufficientFunds(Exception):
    """The account holds less than was asked of it."""


class Account:
    """Somebody's money, in whole cents.

    >>> account = Account("Ada", 500)
    >>> account.withdraw(200)
    >>> account.deposit(50)
    >>> account.balance
    350
    """

    def __init__(self, owner: str, balance: int = 0) -> None:
        self.owner = owner
        self.balance = balance

    def deposit(self, amount: int) -> None:
        """Adds an amount."""
        self.balance += amount

    def withdraw(self, amount: int) -> None:
        """Takes an amount out, as far as the limit allows."""
        if amount > self.available():
            raise InsufficientFunds(f"{self.owner} is {amount - self.available()} short")
        self.balance -= amount

    def available(self) -> int:
        """How much can be taken out now."""
        return self.balance


class CreditAccount(Account):
    """An account that may go below zero, down to its limit.

    >>> account = CreditAccount("Grace", balance=100, limit=250)
    >>> account.withdraw(300)
    >>> account.balance, account.available()
    (-200, 50)
    """

    def __init__(self, owner: str, balance: int = 0, limit: int = 0) -> None:
        super().__init__(owner, balance)
        self.limit = limit

    def available(self) -> int:
        """The balance and what may be borrowed."""
        return super().available() + self.limit


def transfer(source: Account, target: Account, amount: int) -> bool:
    """Moves money from one account to another; says whether it did.

    >>> ada, grace = Account("Ada", 100), CreditAccount("Grace", limit=50)
    >>> transfer(ada, grace, 70), transfer(ada, grace, 70), transfer(grace, ada, 120)
    (True, False, True)
    >>> ada.balance, grace.balance
    (150, -50)
    """
    try:
        source.withdraw(amount)
    except InsufficientFunds:
        return False
    target.deposit(amount)
    return True


if __name__ == "__main__":
    ada, grace = Account("Ada", 500), CreditAccount("Grace", limit=100)
    for amount in (200, 250, 100):
        print(amount, transfer(ada, grace, amount), ada.balance, grace.balance)
