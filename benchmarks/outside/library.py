"""Code that is not recorded: what the programs beside it spend their time in."""


def smooth(values: list[int], turns: int) -> int:
    """A long loop: each value becomes the mean of itself and the one before it, so many times over."""
    for _ in range(turns):
        before = values[-1]
        for place in range(len(values)):
            value = values[place]
            values[place] = (before + value) // 2
            before = value
    return sum(values)


def clamp(value: int, low: int, high: int) -> int:
    """A short function."""
    if value < low:
        return low
    if value > high:
        return high
    return value


def clamped(count: int) -> int:
    """A loop of very many calls of a short function."""
    total = 0
    for number in range(count):
        total += clamp(number % 100, 10, 90)
    return total
