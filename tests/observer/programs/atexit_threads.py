import atexit, threading, time


def late():
    time.sleep(0.05)
    print("thread ends")


atexit.register(lambda: print("exit", threading.active_count()))
threading.Thread(target=late).start()
print("main ends")
