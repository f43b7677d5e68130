"""KeyboardInterrupt raised and caught: `except Exception` lets it pass."""


def work():
    try:
        raise KeyboardInterrupt("by hand")
    except Exception:
        print("never")
    finally:
        print("finally")


try:
    work()
except KeyboardInterrupt as error:
    print("caught", repr(error), isinstance(error, Exception))
try:
    raise GeneratorExit
except BaseException as error:
    print(repr(error))
