import pathlib, sys

pathlib.Path("token.py").write_text('N = "own token"\n')
pathlib.Path("channel.py").write_text(
    'import sys\nN = "own channel"\nd, f = 0, sys._getframe()\nwhile f: d += 1; f = f.f_back\n'
)
pathlib.Path("pkg").mkdir()
pathlib.Path("pkg/__init__.py").write_text("from . import part\n")
pathlib.Path("pkg/part.py").write_text("V = __name__\n")
import token, channel, pkg

print(token.N, channel.N, channel.d, pkg.part.V)
try:
    import inspect

    print("inspect is there")
except ImportError as e:
    print("ImportError", e.name)
