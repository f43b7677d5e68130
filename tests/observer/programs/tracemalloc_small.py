import tracemalloc
tracemalloc.start()
x = [object() for _ in range(100)]
t = tracemalloc.get_object_traceback(x)
print(len(t), t[0].lineno)
tracemalloc.stop()
