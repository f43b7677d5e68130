"""A list that is being built on the value stack grows between two resumes of the generator that feeds it."""


def numbers(limit):
    for number in range(limit):
        yield number * limit


def main():
    first = [1, *numbers(3), 2, *numbers(2)]
    names = {"a", *numbers(3)}
    head, *tail = [0, *numbers(4)]
    table = {**dict.fromkeys(numbers(2)), "k": [*numbers(2)]}
    print(*first, *numbers(3))
    return first, names, head, tail, table


main()
