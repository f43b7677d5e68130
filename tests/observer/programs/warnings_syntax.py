code = "x = 1\nassert (x, 'message')\n"
import warnings

with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    exec(compile(code, "c.py", "exec"))
print([(str(x.message)[:30], x.lineno) for x in w])
import warnings as again

print(again.filters[:0], again is warnings)
