"""runpy, and module files in odd encodings: Latin-1, a BOM, CRLF and CR, form feeds, tabs, no final newline."""

import pathlib
import runpy
import tempfile

sources = {
    "latin": "# -*- coding: latin-1 -*-\na = 'caf\xe9'\nb = len(a)".encode("latin-1"),
    "bom": b"\xef\xbb\xbfa = 'bom'\nb = len(a)\n",
    "crlf": b"a = '''two\r\nlines'''\r\nif a:\r\n\tb = len(a)\r\n",
    "cr": b"a = 'cr'\rb = len(a)\r",
    "formfeed": b"a = 'ff'\n\x0c\nb = \\\n    len(a)\n\x0c",
    "empty": b"",
    "comment": b"# only a comment",
}
with tempfile.TemporaryDirectory() as folder:
    for name, source in sources.items():
        path = pathlib.Path(folder, f"odd_{name}.py")
        path.write_bytes(source)
        space = runpy.run_path(str(path), init_globals={"given": 1}, run_name="ran")
        print(name, ascii(space.get("a")), space.get("b"), space["__name__"], space["given"])
print(__name__, "a" in globals())
