"""An audit hook of the program's own: its lines open no file, import nothing, compile nothing, start nothing."""

import sys

heard = []
listening = False


def hook(event, args):
    if listening and event.split(".")[0] in ("open", "import", "compile", "exec", "socket", "subprocess", "os", "ctypes"):
        heard.append(event)


def work(n):
    total = []
    for i in range(n):
        total.append([i])
    return total


sys.addaudithook(hook)
listening = True
a = work(5)
b = [n for n in a if n]
listening = False
print(len(b), heard)
listening = True
compile("1", "<compiled>", "eval")
listening = False
print(heard)
