"""try, except, else, finally: every path through them."""

log = []


def path(how):
    try:
        log.append("try")
        if how == "value":
            raise ValueError(how)
        if how == "key":
            raise KeyError(how)
        if how == "type":
            raise TypeError(how)
        if how == "return":
            return "returned"
    except ValueError:
        log.append("value")
    except (KeyError, IndexError) as error:
        log.append(f"key {error.args}")
        return "from except"
    else:
        log.append("else")
    finally:
        log.append("finally")
    log.append("after")
    return "end"


for how in ("nothing", "value", "key", "type", "return"):
    try:
        result = path(how)
    except TypeError as error:
        result = repr(error)
    print(how, result, log)
    log.clear()
