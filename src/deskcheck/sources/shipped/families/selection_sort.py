def selection_sort(items):
    n = len(items)
    for i in range(n - 1):
        low = i
        for j in range(i + 1, n):
            if items[j] < items[low]:
                low = j
        if low != i:
            items[i], items[low] = items[low], items[i]
    return items


# ----
def sort_values(values):
    start = 0
    while start < len(values):
        best = start
        k = start + 1
        while k < len(values):
            if values[k] < values[best]:
                best = k
            k += 1
        keep = values[start]
        values[start] = values[best]
        values[best] = keep
        start += 1
    return values


# ----
def smallest(numbers):
    found = numbers[0]
    for number in numbers:
        if number < found:
            found = number
    return found


def take_in_order(numbers):
    result = []
    while len(numbers) > 0:
        least = smallest(numbers)
        numbers.remove(least)
        result.append(least)
    return result


# ----
def arrange(a):
    end = len(a) - 1
    while end > 0:
        high = 0
        for p in range(1, end + 1):
            if a[p] > a[high]:
                high = p
        a[high], a[end] = a[end], a[high]
        end -= 1
    return a
