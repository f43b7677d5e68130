"""SystemExit with an object: its str goes to stderr once, the status is 1."""

made = []


class Reason:
    def __str__(self):
        made.append("str")
        return f"reason asked {len(made)} time"

    def __repr__(self):
        return "never asked for"


print("before")
raise SystemExit(Reason())
