"""Makes a socket through the 32-bit system calls, whose numbers a 64-bit filter takes for others.

Seen: an answer: it got the socket.
Stopped at: strict, standard.
Verdict: wrong, killed, raised.
"""
import ctypes
import mmap


def attack():
    # mov eax, 359 (socket); mov ebx, AF_INET; mov ecx, SOCK_STREAM; xor edx, edx; int 0x80; ret: rbx is the caller's
    code = bytes.fromhex("53 b867010000 bb02000000 b901000000 31d2 cd80 5b c3")
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)() >= 0
