"""A coroutine that nobody awaits warns where its last reference goes: holding it would move the warning."""

import warnings


async def forgotten(name):
    print("never runs")


with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    forgotten("temporary")
    print([str(w.message) for w in caught])
    a = forgotten("bound")
    print(len(caught))
    a = None
    print(len(caught), caught[-1].category.__name__)
    b = forgotten("closed")
    b.close()
    del b
    print(len(caught))
