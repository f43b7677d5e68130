import sys, pathlib

pathlib.Path("broken.py").write_text('import sys\ndef f(): raise ValueError("in f")\nf()\n')
sys.dont_write_bytecode = True
try:
    import broken
except ValueError as e:
    import traceback

    print([(f.name, f.lineno) for f in traceback.extract_tb(e.__traceback__)], "broken" in sys.modules)
from json import nothing
