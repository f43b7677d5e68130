"""property, classmethod, staticmethod, and private names: which code runs, and how often."""


class Account:
    rate = 5
    __count = 0

    def __init__(self, owner):
        self.owner = owner
        self.__balance = 0
        Account.__count += 1

    @property
    def balance(self):
        print("get")
        return self.__balance

    @balance.setter
    def balance(self, value):
        print("set", value)
        if value < 0:
            raise ValueError("negative")
        self.__balance = value

    @balance.deleter
    def balance(self):
        print("delete")
        del self.__balance

    @classmethod
    def make(cls, *owners):
        return [cls(o) for o in owners], cls.__count

    @staticmethod
    def interest(amount):
        return amount * Account.rate // 100


(a, b), n = Account.make("ann", "bob")
a.balance += 200
print(a.balance, n, a.interest(200), vars(a))
try:
    a.balance = -1
except ValueError as error:
    print(error)
del a.balance
print(vars(a), hasattr(a, "balance"), hasattr(b, "_Account__balance"))
