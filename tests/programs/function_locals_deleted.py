"""del of locals, an unbound local, and names that exclude their own except clause."""


def f(x):
    y = [x]
    del x
    try:
        print(x)
    except UnboundLocalError as error:
        print(error)
    print(sorted(locals()))
    try:
        1 / 0
    except ZeroDivisionError as e:
        y.append(str(e))
    print("e" in locals(), y)
    for i in range(2):
        if i:
            z = i
        else:
            try:
                z
            except UnboundLocalError:
                print("not yet")
    del z, y[0], i
    return sorted(locals().items(), key=lambda item: item[0])


def never_assigned():
    if False:
        value = 1
    return value


print(f(3))
try:
    never_assigned()
except UnboundLocalError as error:
    print(type(error).__name__, error.args[0][:42])
