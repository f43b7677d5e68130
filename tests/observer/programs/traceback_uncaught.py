def a(x):
    return b(x)


def b(x):
    return x["k"]


a({"j": 1})
