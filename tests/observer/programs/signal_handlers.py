import signal, os


def handler(number, frame):
    print(signal.Signals(number).name, frame.f_code.co_name, frame.f_back is None)
    names = []
    while frame:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    print(names)


signal.signal(signal.SIGUSR1, handler)


def f():
    os.kill(os.getpid(), signal.SIGUSR1)


f()
print(
    signal.getsignal(signal.SIGINT) is signal.default_int_handler,
    signal.getsignal(signal.SIGTERM),
    signal.pthread_sigmask(signal.SIG_BLOCK, []),
)
