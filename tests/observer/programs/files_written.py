import os, json, csv, pathlib

pathlib.Path("d").mkdir()
pathlib.Path("d/a.json").write_text(json.dumps({"b": [1, None]}))
with open("d/t.csv", "w", newline="") as f:
    csv.writer(f).writerows([[1, "a,b"], [2, "c"]])
with open("d/bin", "wb") as f:
    f.write(bytes(range(5)))
print(sorted(os.listdir("d")), open("d/t.csv").read(), json.load(open("d/a.json")))
