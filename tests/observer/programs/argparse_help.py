import argparse

p = argparse.ArgumentParser(prog="tool", description="does things")
s = p.add_subparsers(dest="cmd", required=True)
a = s.add_parser("add", help="adds")
a.add_argument("x", type=float)
print(p.parse_args(["add", "2"]))
p.parse_args(["-h"])
