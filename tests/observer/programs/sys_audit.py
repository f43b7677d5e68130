import sys

log = []
on = True
sys.addaudithook(lambda e, a: log.append(e) if on and e in ("open", "exec", "compile", "import") else None)
import colorsys

exec("x = 1")
open("a.txt", "w").close()
on = False
print(log)
