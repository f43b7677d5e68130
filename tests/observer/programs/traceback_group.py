def f(n):
    raise ValueError(n)


errors = []
for n in range(2):
    try:
        f(n)
    except ValueError as e:
        e.add_note(f"note {n}")
        errors.append(e)
raise ExceptionGroup("several", errors)
