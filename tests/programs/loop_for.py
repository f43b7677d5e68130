"""for with else, break, continue: the header runs once more than the body, the name outlives the loop."""

for a in range(3):
    if a == 1:
        continue
    print("a", a)
else:
    print("else", a)

for b in "bcd":
    if b == "c":
        break
else:
    print("never: left by break")
print(b)

for c in ():
    print("never")
else:
    print("c" in globals())

for i, (d, e) in enumerate([(20, 21), (22, 23)]):
    print(i, d, e)

for row in [[1, 2], [3]]:
    for row[0] in (7, 8):
        pass
    print(row)
