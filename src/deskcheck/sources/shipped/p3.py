def is_of(value, kind):
    """Whether a value is of a type such as List[int]; True is no int."""
    outer, _, inner = kind.partition("[")
    if outer == "List":
        return type(value) is list and all(is_of(item, inner[:-1]) for item in value)
    return type(value).__name__ == outer
