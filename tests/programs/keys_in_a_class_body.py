"""The namespace of a class body with keys that are no names."""


class Text(str):
    pass


class Body:
    locals()[5] = 6
    locals()[Text("eight")] = [8]
    locals()[(1, 2)] = 9
    items = [1]
    items.append(2)
    seen = 5 in locals()


kept = Body
kept.items.append(3)
end = 1
