"""The tests of deskcheck and of its packages are one namespace, `tests`.

It is imported here. Otherwise pytest makes a module of that name of the first of these folders, and does not
find the modules of the others.
"""

import tests  # noqa: F401
