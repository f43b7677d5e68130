def insertion_sort(items):
    for i in range(1, len(items)):
        key = items[i]
        j = i - 1
        while j >= 0 and items[j] > key:
            items[j + 1] = items[j]
            j -= 1
        items[j + 1] = key
    return items


# ----
def sort_cards(hand):
    i = 1
    while i < len(hand):
        k = i
        while k > 0 and hand[k - 1] > hand[k]:
            hand[k - 1], hand[k] = hand[k], hand[k - 1]
            k = k - 1
        i = i + 1
    return hand


# ----
def insert(done, value):
    place = 0
    while place < len(done) and done[place] <= value:
        place += 1
    done.insert(place, value)


def build(values):
    done = []
    for value in values:
        insert(done, value)
    return done


# ----
def ordered(numbers):
    result = []
    while numbers:
        x = numbers.pop(0)
        at = len(result)
        for index in range(len(result)):
            if result[index] > x:
                at = index
                break
        result.insert(at, x)
    return result
