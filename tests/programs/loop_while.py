"""while with else, break, continue: every way to go on and every way out."""

a = 3
while a > 0:
    a -= 1
else:
    print("ran dry at", a)

b = 9
while True:
    b += 1
    if b % 2:
        continue
    if b > 14:
        break
    print("even", b)
else:
    print("never: left by break")

while a:
    print("never: a is 0")
else:
    print("else of a loop that did not run")

n = 27
steps = 0
while n != 1 and steps < 20:
    n = n // 2 if n % 2 == 0 else 3 * n + 1
    steps += 1
print(n, steps)
