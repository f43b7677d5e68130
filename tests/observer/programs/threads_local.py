import threading

data = threading.local()
data.x = "main"


def f(out):
    out.append(getattr(data, "x", None))
    data.x = "thread"
    out.append(data.x)


out = []
t = threading.Thread(target=f, args=(out,))
t.start()
t.join()
print(out, data.x)
