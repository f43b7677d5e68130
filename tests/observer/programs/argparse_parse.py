import argparse, sys

p = argparse.ArgumentParser(prog="tool")
p.add_argument("names", nargs="+")
p.add_argument("-n", type=int, default=2)
p.add_argument("--flag", action="store_true")
print(p.parse_args(["a", "b", "-n", "5", "--flag"]), p.parse_known_args(["a", "--odd"]))
sub = p.format_usage()
print(sub)
p.parse_args(["a", "-n", "x"])
