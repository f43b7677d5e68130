def check(a, b):
    return a


def outer(frozen, hash=None, auto=False):
    def wrap(cls):
        nonlocal hash
        is_frozen = frozen or check(cls, 0)
        has_own = auto and check(
            cls, "__setattr__"
        )

        if has_own and is_frozen:
            msg = "Can't"
            raise ValueError(msg)

        eq = not has_own and check(
            cls, 1
        )
        return eq, is_frozen, hash

    return wrap


for frozen in (True, False):
    for auto in (True, False):
        for cls in (0, 1):
            try:
                print(outer(frozen, auto=auto)(cls))
            except ValueError as e:
                print(e)
