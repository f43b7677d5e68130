import numpy
def main():
    buf = bytearray(b'abcd')
    a = numpy.frombuffer(buf, dtype='uint8')
    b = a[1:]
    buf[0] = 1
    x = 1
    a[1] = 2
    x = 2
    b[1] = 3
    x = 3
    m = memoryview(buf)
    m[3] = 4
    x = 4
    m[:2] = b'zz'
    x = 5
    a += 1
    x = 6
main()
end = 1
