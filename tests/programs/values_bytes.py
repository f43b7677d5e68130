"""bytes, bytearray and memoryview: shared memory, and a buffer that nobody else may hold when it is resized."""

import array

a = bytearray(b"abc")
m = memoryview(a)
m[0] = ord("X")
half = m[1:]
half[0] = 0
print(a, m.tobytes(), half.tolist(), m.readonly)
try:
    a.extend(b"no")
except BufferError as error:
    print(type(error).__name__)
half.release()
m.release()
a.extend(b"yes")
print(a, bytes(a)[::-1], b"\x00\xff\n'\"".hex(), b"it's", b'"both\'')
try:
    m[0]
except ValueError:
    print("released")
n = array.array("i", [1, 2, 3])
v = memoryview(n).cast("B")
v[0] = 7
print(n, len(v), v.nbytes)
del v
n.append(4)
print(n, memoryview(b"abcd")[::2].tolist())
