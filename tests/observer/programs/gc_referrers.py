import gc, sys


class Box:
    pass


def f():
    b = Box()
    b.items = [1, 2]
    held = [b]
    return (
        len([r for r in gc.get_referrers(b) if r is held]),
        sys.getrefcount(b),
        len(gc.get_referents(b.items)),
    )


print(f(), gc.is_tracked({}), gc.is_tracked([]))
