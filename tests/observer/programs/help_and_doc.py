def f(x):
    """Say x."""


import pydoc

print(pydoc.plain(pydoc.render_doc(f)).splitlines()[2:], f.__doc__)
print(pydoc.locate("json.dumps").__name__)
