import warnings


def old():
    warnings.warn("old is old", DeprecationWarning, stacklevel=2)


def wrap():
    old()


wrap()
old()
warnings.warn("far", stacklevel=7)
warnings.warn("user")
for _ in range(3):
    warnings.warn("repeated")
