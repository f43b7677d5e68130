import typing


class A:
    x: "int"

    def f(self, y: "list[A]") -> None: ...


print(typing.get_type_hints(A), list(typing.get_type_hints(A.f)), typing.get_args(typing.Optional[int]))


@typing.runtime_checkable
class Q(typing.Protocol):
    def f(self): ...


print(isinstance(A(), Q), typing.NamedTuple("N", [("a", int)])(1))
