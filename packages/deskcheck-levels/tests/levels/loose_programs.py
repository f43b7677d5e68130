"""Programs that are drawn without types: most of what they do to a value is odd, much of it raises.

Written without sight of the lessons of the level `processor`, and unlike `sources.generated`, whose programs
never do what does not fit.
"""

import random

_TEXTS = ["", "a", "abcabc", "  x y ", "Ab1", "a,b,,c", "12", "-7", "\t\n", "zZ"]
_METHODS = [
    *(
        "upper() lower() title() strip() split() splitlines() isdigit() isalpha() swapcase() capitalize()".split()
    ),
    *("split(',') find('b') rfind('a') count('a') replace('a','bb') partition(',') center(9,'*')".split(" ")),
    *(
        "zfill(6) ljust(7) rjust(5,'.') strip('ax') startswith('a') endswith(('c','z')) join('xyz')".split(
            " "
        )
    ),
    *(
        "index('c') removeprefix('a') split('b',1) rsplit(',',1) expandtabs(3) isspace() find('',9)".split(
            " "
        )
    ),
]
_FUNCTIONS = (
    "len sum max min sorted list tuple set abs bool str repr any all reversed enumerate dict int iter".split()
)
_ENDS = [";", "\n", ""]
_OPERATORS = "+ - * // % & | ^ << >> **".split()
_COMPARISONS = [*"< <= > >= == != in".split(), "not in", "is not"]


class LooseProgram:
    """Draws one program. chance: where from."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.names = ["a", "b", "s", "d", "n", "t"]
        self.depth = 0

    def text(self) -> str:
        """The source of a function `f` without arguments; it logs values and exceptions."""
        draw = self.chance
        lines = ["def f():", "    out = []"]
        lines += [
            f"    a = {[draw.randrange(-9, 10) for _ in range(draw.randrange(1, 6))]}",
            f"    b = {draw.choice(['a', 'a[:]', '[a, a]', 'list(a)', '[]'])}",
            f"    s = {draw.choice(_TEXTS)!r}",
            f"    d = {draw.choice(['{}', '{1: 2, 3: a}', '{0: s, True: 1}', 'dict(x=1, y=s)'])}",
            f"    n = {self.whole()}",
            f"    t = {draw.choice(['(n, s)', '(1, 2, 3)', '((1, 2), [3])', '()'])}",
        ]
        for _ in range(draw.randrange(4, 9)):
            body = self.statement()
            if draw.random() < 0.7:
                body = ["try:", *_deeper(body), "except Exception as e:"]
                body += _deeper(["out.append((type(e).__name__, str(e)))"])
                if draw.random() < 0.3:
                    body += ["else:", "    out.append('fine')"]
                if draw.random() < 0.3:
                    body += ["finally:", "    n = len(out)"]
            lines += _deeper(body)
        lines.append("    return out, a, b, s, n")
        return "\n".join(lines) + "\n"

    def whole(self) -> str:
        draw = self.chance
        kinds = [
            "0",
            "1",
            "True",
            str(draw.randrange(-99, 100)),
            str(draw.randrange(-(10**12), 10**12)),
            "2.5",
        ]
        return draw.choice(kinds)

    def expression(self) -> str:
        """Some value, of a kind that nobody knows."""
        draw = self.chance
        if self.depth > 2:
            return draw.choice([*self.names, self.whole(), repr(draw.choice(_TEXTS)), "None"])
        self.depth += 1
        try:
            return draw.choice(self._SHAPES)(self)
        finally:
            self.depth -= 1

    def _operation(self) -> str:
        op = self.chance.choice(_OPERATORS)
        second = self.chance.choice(["2", "3", "n % 5"]) if op in ("<<", ">>", "**") else self.expression()
        return f"({self.expression()} {op} {second})"

    def _comparison(self) -> str:
        parts = [self.expression()]
        for _ in range(self.chance.randrange(1, 4)):
            parts += [self.chance.choice(_COMPARISONS), self.expression()]
        return f"({' '.join(parts)})"

    def _slice(self) -> str:
        parts = [self.chance.choice(["", "0", "1", "-1", "-3", "5", "n"]) for _ in range(2)]
        step = self.chance.choice(["", ":-1", ":2", ":-2", ":0" if self.chance.random() < 0.1 else ":1"])
        return f"{self.chance.choice(['a', 's', 't', 'b', 'range(9)'])}[{':'.join(parts)}{step}]"

    def _item(self) -> str:
        return f"{self.chance.choice(self.names)}[{self.expression()}]"

    def _call(self) -> str:
        return f"{self.chance.choice(_FUNCTIONS)}({self.expression()})"

    def _method(self) -> str:
        return f"{self.chance.choice(['s', repr(self.chance.choice(_TEXTS)), 's[::-1]'])}.{self.chance.choice(_METHODS)}"

    def _comprehension(self) -> str:
        inner = self.chance.choice(["x", "(x, n)", "[x]", "x * 2", "[y for y in (x, x)]", "str(x)"])
        where = self.chance.choice(["a", "b", "s", "t", "range(4)", "d", "d.items()", "reversed(a)"])
        test = self.chance.choice(["", "", " if x", " if x != n", f" if {self.expression()}"])
        form = self.chance.choice(
            ["[%s for x in %s%s]", "list(%s for x in %s%s)", "{k: x for k, x in enumerate(%s for x in %s%s)}"]
        )
        return form % (inner, where, test)

    def _choice(self) -> str:
        form = self.chance.choice(["({} if {} else {})", "({} and {} or {})", "(not {} or {} and {})"])
        return form.format(self.expression(), self.expression(), self.expression())

    def _closure(self) -> str:
        return self.chance.choice(
            [
                "(lambda x, y=n: [x, y])({})",
                "list(map(lambda x: {}, a))",
                "sorted(a, key=lambda x: {})",
                "(lambda *p, **q: (p, q))(*a, k={})",
                "list(zip(a, {}))",
            ]
        ).format(self.expression())

    def _formatted(self) -> str:
        form = self.chance.choice(["{%s}", "{%s!r}", "{%s!s:>9}", "<{%s!r:^12}>"])
        return "f'" + form % self.chance.choice(self.names) + "'"

    _SHAPES = (
        *(_operation, _operation, _comparison, _slice, _slice, _item, _call, _call, _method, _method),
        *(_comprehension, _choice, _closure, _formatted),
    )

    def statement(self) -> list[str]:
        """Some lines."""
        draw = self.chance
        value = self.expression()
        name = draw.choice(["a", "b", "s", "d", "n", "t", "z"])
        forms: list[list[str]] = [
            [f"out.append({value})"],
            [f"out.append({value})"],
            [f"out.append(({value}, {self.expression()}))"],
            [f"{name} = {value}", f"out.append({name})"],
            [f"n {draw.choice(_OPERATORS[:8])}= {value}"],
            [
                f"a {draw.choice(['+=', '*='])} {draw.choice(['t', 's', 'b', '2', 'n', '(x for x in a[:2])'])}",
                "a = a[:9]",
            ],
            [f"a[{self.expression()}] = {value}"],
            [f"d[{self.expression()}] = {value}", "out.append(len(d))"],
            [f"a[{draw.choice(['1:2', '::2', ':0', '-1:', '::-1'])}] = {value}", "a = list(a)[:9]"],
            [f"del a[{draw.choice(['0', '-1', '1:3', '::2', '7', 'n'])}]"],
            [f"x, {draw.choice(['', '*'])}y = {value}", "out.append((y, x))"],
            [
                f"for x in {value}:",
                f"    out.append({draw.choice(['x', '[x]', 'x is n'])})",
                "    if len(out) > 30:",
                "        break",
            ],
            [
                "for x in a:",
                f"    {draw.choice(['a.remove(x)', 'a.append(x) if len(a) < 9 else None', 'b.append(x) if len(b) < 9 else None'])}",
                "    out.append(x)",
            ],
            [
                "for k in d:",
                f"    {draw.choice(['d[k] = n', 'd.pop(k)', 'd[len(d), k] = 1', 'out.append(k)'])}",
            ],
            [f"if {value}:", "    out.append('yes')", f"elif {self.expression()}:", "    out.append('elif')"],
            ["k = 3", f"while k and {value}:", "    k -= 1", "    out.append(k)"],
            [f"print({value}, end={draw.choice(_ENDS)!r})"],
            [f"assert {value}, {draw.choice(['n', 's', '(n, s)'])}"],
            ["def g(x, *y, k=n):", f"    return {value}", f"out.append(g({self.expression()}, k=1))"],
            ["def h(x):", "    nonlocal n", "    n = x", f"    return [n, {value}]", "out.append(h(n))"],
            ["def c(k):", f"    yield {value}", "    yield from range(k)", "out.append(list(c(2)))"],
            [
                f"a.{draw.choice(['append(n)', 'pop()', 'insert(-1, s)', 'reverse()', 'sort()', 'extend(t)', 'index(n)', 'count(1)', 'remove(1)', 'copy()'])}"
            ],
            [
                f"out.append(d.{draw.choice(['get(n)', 'pop(n, s)', 'setdefault(n, a)', 'popitem()', 'update(x=n)', 'copy()', 'keys() and 1'])})"
            ],
        ]
        return draw.choice(forms)


def _deeper(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
