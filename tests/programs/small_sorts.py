"""Quicksort, insertion sort and merge: recursion, slices, swaps, loops that end early."""


def quick(items):
    if len(items) < 2:
        return items
    pivot, *rest = items
    return quick([x for x in rest if x < pivot]) + [pivot] + quick([x for x in rest if x >= pivot])


def insertion(items):
    for i in range(1, len(items)):
        j = i
        while j and items[j - 1] > items[j]:
            items[j - 1], items[j] = items[j], items[j - 1]
            j -= 1
    return items


def merge(left, right):
    out = []
    while left and right:
        out.append((left if left[0] <= right[0] else right).pop(0))
    return out + left + right


def merge_sort(items):
    half = len(items) // 2
    return merge(merge_sort(items[:half]), merge_sort(items[half:])) if half else items


a = [5, 2, 8, 2, 9, 1, -3, 7]
print(quick(a), insertion(a[:]), merge_sort(a), a, quick(a) == sorted(a))
