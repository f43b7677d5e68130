"""The program ends while threads live: a daemon waits for ever, another finishes after the last line."""

import atexit
import threading

main_done = threading.Event()


def forever():
    held = [9]
    threading.Event().wait()
    print("never", held)


def late():
    main_done.wait()
    print("after the last line")


atexit.register(print, "atexit")
daemon = threading.Thread(target=forever, daemon=True)
daemon.start()
thread = threading.Thread(target=late)
thread.start()
print("last line", daemon.is_alive(), flush=True)
main_done.set()
