"""Functions whose result depends on the machine, the day or luck, each in another way."""

import collections
import datetime
import functools
import gc
import getpass
import glob
import locale
import os
import pathlib
import platform
import random
import resource
import shutil
import socket
import sys
import tempfile
import threading
import time
import uuid
import weakref
from concurrent.futures import ThreadPoolExecutor, as_completed


class K:
    def __init__(self, n=0):
        self.n = n


def year():
    return datetime.date.today().year


def month_half():
    return datetime.datetime.now().month > 6


def weekend():
    return datetime.datetime.utcnow().weekday() > 4


def day_by_text():
    return time.strftime("%d")


def hour():
    return time.localtime().tm_hour < 12


def age():
    return int((time.time() - 946684800) // 86400 // 365)


def date_of_clock():
    return time.ctime()[:10]


def uptime():
    return int(time.monotonic() // 86400)


def uptime_of_machine():
    return int(float(open("/proc/uptime").read().split()[0]) // 86400)


def file_time():
    with open("new.txt", "w") as stream:
        stream.write("x")
    return datetime.date.fromtimestamp(os.path.getmtime("new.txt")).isoformat()


def file_time_by_path():
    path = pathlib.Path("new.txt")
    path.touch()
    return time.gmtime(path.stat().st_ctime).tm_year


def zone():
    return time.tzname[0]


def local_noon():
    return datetime.datetime.fromtimestamp(43200).hour


def home_set():
    return len(os.environ["HOME"])


def variable_not_set():
    if os.environ.get("DEBUG"):
        return "loud"
    return "quiet"


def variable_by_getenv():
    return int(os.getenv("N_WORKERS", "4"))


def variable_in():
    return "CI" in os.environ


def variables():
    return len(os.environ)


def home():
    return os.path.expanduser("~").count("/")


def home_by_path():
    return str(pathlib.Path.home())


def folder():
    return os.path.basename(os.getcwd())


def own_file():
    return os.path.abspath(__file__)


def depth():
    return len(pathlib.Path("x").resolve().parts)


def pid():
    return os.getpid()


def parent():
    return os.getppid()


def native_thread():
    return threading.get_native_id() > 1000


def host():
    return socket.gethostname()


def node():
    return len(platform.node())


def kernel():
    return platform.release()


def processors():
    return os.cpu_count()


def affinity():
    return len(os.sched_getaffinity(0))


def pages():
    return os.sysconf("SC_PHYS_PAGES")


def load():
    return os.getloadavg()[0] < 1


def disk():
    return shutil.disk_usage(".").total


def user():
    return getpass.getuser()


def user_number():
    return os.getuid()


def login():
    try:
        return os.getlogin()
    except OSError:
        return "nobody"


def terminal():
    return shutil.get_terminal_size().columns


def terminal_itself():
    try:
        return os.get_terminal_size().columns
    except OSError:
        return 80


def mask():
    old = os.umask(0)
    os.umask(old)
    return old


def mode_of_file():
    open("new.txt", "w").close()
    return oct(os.stat("new.txt").st_mode)


def encoding():
    return locale.getlocale()[0]


def language():
    return os.environ.get("LANG", "").split(".")[0]


def temp_name():
    return os.path.basename(tempfile.mkdtemp())


def temp_folder():
    return tempfile.gettempdir()


def listing():
    for name in "cab":
        open(name, "w").close()
    return [name for name in os.listdir(".") if len(name) == 1]


def scanning():
    for name in "cab":
        open(name, "w").close()
    with os.scandir(".") as entries:
        return [entry.name for entry in entries if len(entry.name) == 1]


def globbing():
    for name in "cab":
        open(name + ".txt", "w").close()
    return glob.glob("?.txt")


def address():
    a = [1]
    return id(a) % 64


def order_of_addresses():
    objects = [object() for _ in range(6)]
    return [objects.index(one) for one in sorted(objects, key=id)]


def address_in_text():
    return repr(K())[-6:]


def hash_of_object():
    return hash(K()) % 8


def set_of_objects():
    return [k.n for k in {K(n) for n in range(6)}]


def set_of_classes():
    return [kind.__name__ for kind in {K, Exception, ValueError, datetime.date, pathlib.Path, dict}]


def set_of_words():
    return list({"red", "green", "blue", "white"})


def hash_of_word():
    return hash("word") % 7


def collected():
    dead = []
    for n in range(300):
        node = K(n)
        node.self = node
        weakref.finalize(node, dead.append, n).atexit = False
    return len(dead)


def generation():
    return gc.get_count()[0]


def references():
    return sys.getrefcount(os)


def threads_that_soon_end():
    turns = []

    def work(name):
        for _ in range(300):
            turns.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(one != other for one, other in zip(turns, turns[1:]))


def order_of_threads():
    out = []
    threads = [threading.Thread(target=out.append, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return out


def race():
    total = [0]

    def work():
        for _ in range(2000):
            known = total[0]
            total[0] = functools.reduce(lambda a, b: a + b, [known, 1])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return total[0]


def order_of_pool():
    with ThreadPoolExecutor(4) as pool:
        return [future.result() for future in as_completed([pool.submit(abs, n) for n in range(8)])]


def chance():
    return random.randint(0, 10**6)


def entropy():
    return os.urandom(4).hex()


def unique():
    return str(uuid.uuid4())


def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def printed():
    print(collections.Counter([time.localtime().tm_year]))


def groups():
    return len(os.getgroups())


def ticks():
    return int(os.times().elapsed // 86400), os.times().user < 0.5


def expanded():
    return os.path.expandvars("$APP_HOME/x")


def daylight():
    return time.daylight


def logged():
    import logging

    logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%Y")
    logging.getLogger("x").warning("now")


def compressed():
    import gzip

    with gzip.open("a.gz", "wb") as stream:
        stream.write(b"x")


def top_folder():
    return len(os.listdir("/srv")) if os.path.isdir("/srv") else 0


def inode():
    open("new.txt", "w").close()
    return os.stat("new.txt").st_ino % 7


def open_files():
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def workers():
    return ThreadPoolExecutor()._max_workers


def full_name():
    return socket.getfqdn()


def user_folder():
    import site

    return site.getuserbase()
