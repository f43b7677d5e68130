"""array.array: its methods, views of its memory, what other C code writes into it, a class that derives from it."""

import array
import io
import struct


class Samples(array.array):
    def __init__(self, *_):
        self.rate = 8

    def faster(self):
        self.rate *= 2
        self.append(self.rate)
        return self


numbers = array.array("i", [3, 1, 2])
alias = numbers
numbers.append(4)
numbers.extend([5, 6])
numbers.extend(n * n for n in range(3))
numbers.insert(0, 9)
numbers[1] = 7
numbers[2:4] = array.array("i", [8, 8, 8])
del numbers[-1]
numbers.remove(9)
numbers.reverse()
print(alias.tolist(), numbers.pop(), numbers.index(8), numbers.count(8))
numbers += array.array("i", [1])
numbers *= 2
print(alias is numbers, len(alias))
numbers.byteswap()
numbers.byteswap()
numbers.fromlist([10])
numbers.frombytes(array.array("i", [11]).tobytes())

room = array.array("B", bytes(4))
view = memoryview(room)
view[0] = 1
view[1:3] = b"ab"
struct.pack_into(">H", room, 2, 513)
print(room.tolist())
io.BytesIO(b"wxyz").readinto(room)
print(room.tobytes(), view.tolist())
view.release()
del view
room.append(5)

parts = [array.array("d", [0.5]), array.array("f"), array.array("q", [-1])]
for part in parts:
    part.append(2)
samples = Samples("h", [1]).faster().faster()
print(parts, samples.rate, samples.tolist())
