from dataclasses import dataclass, fields, KW_ONLY


@dataclass
class A:
    a: int = 1


@dataclass(slots=True)
class B(A):
    _: KW_ONLY
    b: str = "b"


print(B(3, b="x"), [f.name for f in fields(B)], B.__slots__, B.__match_args__)
