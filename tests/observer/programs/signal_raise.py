import signal

signal.signal(signal.SIGTERM, lambda s, f: print("term", s))
signal.raise_signal(signal.SIGTERM)
print(signal.strsignal(15))
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.raise_signal(signal.SIGTERM)
print("ignored")
