"""A module that a function imports is among its variables; modules among the globals are not recorded."""

def func(nums, k):
    import collections
    d = collections.defaultdict(int)
    return k
func([1],2)
