class Cart:
    def __init__(self):
        self.items = []

    def add(self, name, price, count=1):
        self.items.append((name, price, count))
        return self.total()

    def total(self):
        return sum(price * count for _, price, count in self.items)


def discount(total, share):
    if not 0 <= share <= 1:
        raise ValueError(f"share {share}")
    return round(total * (1 - share), 2)
