"""Exception groups and except*: split, re-raised in part, nested, with notes."""


def run(*errors):
    try:
        try:
            raise ExceptionGroup("group", list(errors))
        except* ValueError as group:
            print("value", [str(e) for e in group.exceptions])
        except* (KeyError, IndexError) as group:
            print("lookup", group.exceptions)
            raise TypeError("raised in except*")
        else:
            print("never")
        finally:
            print("finally")
    except BaseException as error:
        print("left", repr(error))


run(ValueError(1), ValueError(2))
run(ValueError(1), OSError("o"))
run(KeyError("k"))
run(ExceptionGroup("inner", [ValueError(3), KeyError(4)]), RuntimeError("r"))
try:
    try:
        raise ValueError("naked")
    except* ValueError as group:
        print(repr(group))
        group.add_note("a note")
        raise
except ExceptionGroup as error:
    print(error.__notes__, error.split(ValueError)[1], error.derive([KeyError()]))
print(BaseExceptionGroup("b", [KeyboardInterrupt()]).subgroup(KeyboardInterrupt))
