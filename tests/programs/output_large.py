"""Much output in one piece and in many: nothing is lost, nothing comes twice, the order stays."""

import sys

a = "x" * 200_000
print(a)
for i in range(200):
    print(i, end=" ")
sys.stdout.write("\n" * 3)
b = [sys.stdout.write(str(n)) for n in range(10)]
print()
print(len(a), sum(b))
