class Bad(Exception):
    def __str__(self):
        return "bad: " + super().__str__()


def f():
    try:
        {}["x"]
    except KeyError as e:
        raise Bad("why") from e


f()
