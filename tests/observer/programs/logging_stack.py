import logging, sys

logging.basicConfig(
    stream=sys.stdout,
    level=logging.DEBUG,
    format="%(levelname)s %(name)s %(filename)s:%(lineno)d %(funcName)s %(message)s",
)
log = logging.getLogger("app")


def f():
    log.info("in f", stack_info=True)
    log.warning("deeper", stacklevel=2)
    log.warning("past the end", stacklevel=9)


f()
try:
    1 / 0
except ZeroDivisionError:
    log.exception("failed")
print(sorted(logging.root.manager.loggerDict))
