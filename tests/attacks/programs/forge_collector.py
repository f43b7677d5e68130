"""Asks the garbage collector for every list and dict of the harness's, and writes success into them.

Seen: the verdict is that it passed.
Stopped at: strict, standard.
Works: never with the harnesses looked at.
Verdict: wrong, raised, exited, killed.
"""
import gc


def attack():
    for thing in gc.get_objects():
        if type(thing) is list and not thing:
            thing.append("passed")
        elif type(thing) is dict:
            for name in ("outcome", "verdict", "result", "status", "passed", "ok"):
                if name in thing and type(thing[name]) is str:
                    thing[name] = "passed"
                elif name in thing and type(thing[name]) is bool:
                    thing[name] = True
