"""sys.setprofile and threading.setprofile of the program's own: calls and returns, of C functions too."""

import sys
import threading

seen = []


def profiler(frame, event, arg):
    if frame.f_code.co_filename != __file__:
        return
    if event.startswith("c_"):
        seen.append((event, arg.__name__))
    else:
        seen.append((event, frame.f_code.co_name, arg))


def work(x):
    return abs(helper(x))


def helper(x):
    return -x


print(sys.getprofile())
sys.setprofile(profiler)
work(3)
mine = sys.getprofile() is profiler
sys.setprofile(None)
print(mine, sys.getprofile())
for event in seen:
    print(*event)
seen.clear()
threading.setprofile(profiler)
thread = threading.Thread(target=work, args=(4,))
thread.start()
thread.join()
threading.setprofile(None)
print([event for event in seen if "work" in event or "helper" in event])
