"""logging finds its caller by walking frames: function names and line numbers must be the program's own."""

import logging
import sys

logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(name)s %(funcName)s:%(lineno)d %(message)s", level=logging.INFO)
log = logging.getLogger("program")


class Expensive:
    def __str__(self):
        print("str called")
        return "expensive"


def work(n):
    log.debug("not shown %s", Expensive())
    log.info("n is %d, %s", n, Expensive())
    log.warning(
        "over several lines"
    )
    list(map(log.error, ["called from C"]))


work(8)
(lambda: log.info("in a lambda"))()
logging.info("at module level")
