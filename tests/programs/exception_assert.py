"""A failing assert: its message is evaluated only when it fails; uncaught, it ends the program with status 1."""

asked = []


def message(text):
    asked.append(text)
    return text


assert True, message("not evaluated")
assert (1,), message("nor here")
try:
    assert not message("condition"), message("shown")
except AssertionError as error:
    print(error, asked, __debug__)
try:
    assert 0
except AssertionError as error:
    print(repr(error))
n = 21
assert n == 22, f"n is {n}"
