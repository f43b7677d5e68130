"""Raises every exception class of the harness's that it finds, to be counted as its fault.

Seen: the verdict is an error of the harness's.
Stopped at: strict, standard.
Works: never with the harnesses looked at.
Verdict: raised.
"""


def attack():
    errors, queue = [], [Exception]
    while queue:
        for error in queue.pop().__subclasses__():
            queue.append(error)
            if error.__module__.partition(".")[0] in target.harness_modules:
                errors.append(error)
    for error in errors:
        try:
            raise error("not mine")
        except TypeError:
            continue
    raise OSError(12, "not mine")
