"""Warnings: shown once for each place, on stderr; recorded; turned into errors."""

import warnings


def old():
    warnings.warn("old is deprecated", DeprecationWarning, stacklevel=2)
    return 8


for _ in range(3):
    old()
warnings.warn("a user warning")
print(len([key for key in __warningregistry__ if key != "version"]))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        old()
    print([(w.category.__name__, str(w.message), w.lineno) for w in caught])
with warnings.catch_warnings():
    warnings.simplefilter("error")
    try:
        old()
    except DeprecationWarning as error:
        print("raised", error)
