def _deskcheck_there(names):
    import builtins as b
    import types as t

    here, found = b.globals(), {}
    for name in names:
        first, *rest = name.split(".")
        value = here.get(first, b)
        for part in rest:
            value = b.getattr(value, part, b)
        for _ in b.range(20):
            inner = b.getattr(value, "__wrapped__", None) or b.getattr(value, "__func__", None)
            if inner is None:
                break
            value = inner
        code = b.getattr(value, "__code__", None)
        if value is b or not b.callable(value):
            found[name] = ("absent", 0)
        elif b.isinstance(code, t.CodeType):
            kind = "frozen" if code.co_filename.startswith("<frozen") else "function"
            found[name] = (kind, code.co_firstlineno)
        elif b.isinstance(value, (t.BuiltinFunctionType, t.MethodDescriptorType)):
            found[name] = ("compiled", 0)
        else:
            found[name] = ("callable", 0)
    return here.get("__file__"), found
