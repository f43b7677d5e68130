"""A small simulation with classes, exceptions and a running log: the usual shape of a program."""


class Refused(Exception):
    pass


class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance
        self.history = []

    def deposit(self, amount):
        if amount <= 0:
            raise Refused(f"cannot deposit {amount}")
        self.balance += amount
        self.history.append(amount)

    def withdraw(self, amount):
        if amount > self.balance:
            raise Refused(f"{self.owner} has only {self.balance}")
        self.balance -= amount
        self.history.append(-amount)


def transfer(source, target, amount):
    source.withdraw(amount)
    try:
        target.deposit(amount)
    except Refused:
        source.deposit(-amount)
        raise


ann, bob = Account("ann", 100), Account("bob")
for amount in (30, 80, 70):
    try:
        transfer(ann, bob, amount)
    except Refused as error:
        print("refused:", error)
print({a.owner: (a.balance, a.history) for a in (ann, bob)})
