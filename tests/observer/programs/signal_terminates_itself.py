import signal, os

print("before", flush=True)
os.kill(os.getpid(), signal.SIGTERM)
