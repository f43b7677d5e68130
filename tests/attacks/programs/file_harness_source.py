"""Opens the harness's own source for writing (and writes nothing).

Seen: an answer: it opened.
Stopped at: strict, standard.
Verdict: wrong.
"""
import sys


def attack():
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in target.harness_modules and getattr(module, "__file__", None):
            try:
                open(module.__file__, "ab").close()
            except OSError:
                continue
            return True
    for name in target.harness_files:
        try:
            open(name, "ab").close()
        except OSError:
            continue
        return True
