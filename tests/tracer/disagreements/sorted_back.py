"""A list of atoms is sorted with a key in Python, during which it is empty, and then put back as it was."""


def key(number):
    return -number


numbers = [10, 12]
numbers.sort(key=key)
numbers.reverse()
done = True
grown = [1, 2]
for _ in range(2):
    grown.sort(key=key)
    grown.append(5)
    grown.pop(0)
    grown.reverse()
done = False
