"""A loop over a list from which its body takes items: the number of the next item lies beyond the list."""


def shortened(items):
    seen = []
    for item in items:
        if seen:
            items.pop()
        seen.append(item)
    return seen


def emptied(items):
    for item in items:
        items.clear()
        item += 1
    return items


print(shortened([5, 7, 3, 5]), emptied([1, 2, 3]))
for letter in list("abc"):
    print(letter)
