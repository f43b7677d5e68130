"""Inner loops that end and begin again within a line, over what lies at the same address with the same number."""


def of_tuples(numbers):
    return sum(0 for number in numbers for each in (number,))


def of_texts(numbers):
    return sum(
        0
        for number in numbers
        for digit in str(number)
    )


def of_lists(numbers):
    return [each for number in numbers for each in [number] if each]


def of_the_same(numbers, inner):
    return sum(0 for number in numbers for each in inner)


def first(items):
    for item in items:
        return item


print(of_tuples([7, 8]), of_texts([12, 12]), of_texts([2, 56]), of_lists([1, 2]))
print(of_the_same([1, 2], [5]), of_the_same([1, 2, 3], "a"))
items = [3]
print(first(items), first(items))
