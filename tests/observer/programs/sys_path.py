import sys, os

print(
    os.path.basename(sys.argv[0]),
    sys.path[0] == os.getcwd(),
    [type(f).__name__ for f in sys.meta_path if type(f) is type],
    len(sys.path_hooks),
)
print(
    sys.gettrace(),
    sys.getprofile(),
    sys.excepthook is sys.__excepthook__,
    sys.stdout is sys.__stdout__,
    type(sys.stdout),
    sys.flags.optimize,
)
print(
    sys.displayhook is sys.__displayhook__,
    sys.breakpointhook is sys.__breakpointhook__,
    hasattr(sys, "last_value"),
)
