import logging, logging.handlers

root = logging.getLogger()
h = logging.FileHandler("app.log")
h.setFormatter(logging.Formatter("%(levelname)s:%(message)s"))
m = logging.handlers.MemoryHandler(10, target=h)
root.addHandler(m)
for i in range(3):
    root.error("e%d", i)
m.flush()
print(len(open("app.log").readlines()))
logging.shutdown()
print(open("app.log").read())
logging.getLogger("late").warning("after shutdown")
