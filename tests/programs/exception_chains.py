"""raise from, raise in except, bare raise, raise from None: causes and contexts."""


def chain(error):
    while error is not None:
        yield f"{type(error).__name__}({error}) suppress={error.__suppress_context__}"
        error = error.__cause__ or error.__context__


def attempt(how):
    try:
        try:
            1 / 0
        except ZeroDivisionError as error:
            if how == "bare":
                raise
            if how == "from":
                raise ValueError("v") from error
            if how == "none":
                raise ValueError("v") from None
            if how == "cause":
                raise ValueError("v") from KeyError("other")
            if how == "class":
                raise LookupError
            {}["in except"]
    except Exception as error:
        return list(chain(error)), error.__traceback__.tb_lineno


for how in ("bare", "from", "none", "cause", "class", ""):
    print(how, attempt(how))
try:
    raise
except RuntimeError as error:
    print(error)
try:
    raise "a string"
except TypeError as error:
    print(error)
