import logging

logging.getLogger("x").warning("to stderr %s", 1)
logging.warning("root")


class F(logging.Filter):
    def filter(self, r):
        r.msg = r.msg.upper()
        return True


logging.getLogger("x").addFilter(F())
logging.getLogger("x").error("shout")
