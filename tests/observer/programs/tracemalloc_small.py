import tracemalloc

tracemalloc.start()


class Big:
    pass


x = [Big() for _ in range(100)]
t = tracemalloc.get_object_traceback(x[50])
print(len(t), t[0].lineno)
tracemalloc.stop()
