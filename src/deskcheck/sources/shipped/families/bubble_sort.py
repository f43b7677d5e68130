def bubble_sort(items):
    n = len(items)
    for i in range(n):
        for j in range(n - 1 - i):
            if items[j] > items[j + 1]:
                items[j], items[j + 1] = items[j + 1], items[j]
    return items


# ----
def sort_list(values):
    swapped = True
    while swapped:
        swapped = False
        for k in range(1, len(values)):
            if values[k - 1] > values[k]:
                keep = values[k]
                values[k] = values[k - 1]
                values[k - 1] = keep
                swapped = True
    return values


# ----
def order(a):
    end = len(a) - 1
    while end > 0:
        i = 0
        while i < end:
            if a[i + 1] < a[i]:
                a[i], a[i + 1] = a[i + 1], a[i]
            i += 1
        end -= 1
    return a


# ----
def one_pass(row, stop):
    changed = False
    for p in range(stop):
        left = row[p]
        right = row[p + 1]
        if left > right:
            row[p] = right
            row[p + 1] = left
            changed = True
    return changed


def sort_row(row):
    stop = len(row) - 1
    while one_pass(row, stop):
        stop -= 1
    return row
