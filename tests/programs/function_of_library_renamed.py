"""A function of a library, and one that passes for it, gets another name: what shows it shows that."""

from functools import update_wrapper

__name__ = "lib"


def get_param_callback(callback, convertors):
    ctx_name = None
    def wrapper(ctx, *args):
        return callback(*args)

    update_wrapper(wrapper, callback)
    return wrapper


def plain(x):
    """Doc."""
    return x


def hold(wrapper):
    update_wrapper(
        wrapper,
        plain,
    )
    n = 1
    return n


print(get_param_callback(plain, None)(0, 3))
w = get_param_callback(plain, None)
w.__qualname__ = "other"
print(hold(w), w.__qualname__)
print("end")


class Made:
    pass


def rename(cls):
    cls.__qualname__ = "Renamed"
    one = 1
    setattr(
        cls,
        "__name__",
        "Again",
    )
    two = [
        cls,
        *range(one),
    ]
    cls.__module__ = "other"
    return two


print(rename(Made), Made())
named = plain
plain.__name__ = "called"
plain.__qualname__ = "called"
print(named.__name__)
