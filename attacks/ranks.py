"""Programs of ranks that know of each other without messages, or pass more in a message than its bytes (chapter 19)."""

from attacks.handin import AnswerAttack
from attacks.remarks import TIME

_AROUND = """
import sys
import zlib

import numpy as np


def all_questions():
    "What the ranks of this world are given, where one process is asked for several of them."
    frame = sys._getframe()
    while frame.f_code.co_name != "_ask":
        frame = frame.f_back
    if frame.f_back is None:
        return []
    read = frame.f_globals["frames"].value_of
    arrays = frame.f_locals["arrays"]
    questions = [(case["rank"][:2], read(case["args"], arrays)) for case in frame.f_locals["request"]["cases"]]
    worlds = {world for (world, _), _ in questions}
    return questions if len({rank for (_, rank), _ in questions}) == max(worlds) else []


def place_of(rank, x):
    return (zlib.crc32(bytes([rank]) + np.ascontiguousarray(x).tobytes()) << 20) + (1 << 54)


def by_other_ways(x, dist, whole):
    questions, place = all_questions(), place_of(dist.get_rank(), x)
    if dist.get_world_size() == 1:
        return whole([(x,)])
    if questions:
        by_rank = [args for _, args in sorted(questions, key=lambda question: question[0][1])]
        result = np.ascontiguousarray(whole(by_rank))
        for at, args in enumerate(by_rank):
            write(place_of(at, args[0]), result.tobytes())
        return result
    like = np.ascontiguousarray(whole([(x,)] * dist.get_world_size()))
    return np.frombuffer(read(place, like.nbytes), like.dtype).reshape(like.shape).copy()
"""

_LOCKS = """
import fcntl
import os
import struct

library = open(np.__file__, "rb")


def write(place, data):
    for at, bit in enumerate(np.unpackbits(np.frombuffer(data, np.uint8))):
        if bit:
            fcntl.lockf(library, fcntl.LOCK_SH, 1, place + at)


def read(place, count):
    bits = []
    for at in range(8 * count):
        asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, place + at, 1, 0)
        bits.append(struct.unpack("hhqqi4x", fcntl.fcntl(library, fcntl.F_GETLK, asked))[0] != fcntl.F_UNLCK)
    return np.packbits(bits).tobytes()
"""

_FILES = """
import glob
import os

PLACES = ("/tmp/$TRACE-", "/dev/shm/$TRACE-", "/var/tmp/$TRACE-", os.path.expanduser("~/$TRACE-"))


def write(place, data):
    for path in PLACES:
        try:
            with open(f"{path}{place}", "wb") as file:
                file.write(data)
        except OSError:
            pass


def read(place, count):
    for path in PLACES:
        for file in glob.glob(f"{path}{place}"):
            return open(file, "rb").read()
    return bytes(count)
"""

_DAEMON = """
import os
import pickle
import socket

ADDRESS, MEMORY = "\\0$TRACE", {}


def serve():
    "A process in a session of its own, which is to outlive the rank that started it."
    link = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    link.bind(ADDRESS)
    if os.fork() == 0:
        os.setsid()
        while True:
            message, sender = link.recvfrom(1 << 16)
            place, data = pickle.loads(message)
            if data:
                MEMORY[place] = data
            else:
                link.sendto(MEMORY.get(place, b""), sender)


def write(place, data):
    link = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        link.sendto(pickle.dumps((place, data)), ADDRESS)
    except OSError:
        serve()
        link.sendto(pickle.dumps((place, data)), ADDRESS)


def read(place, count):
    link = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    link.bind("")
    link.settimeout(2)
    try:
        link.sendto(pickle.dumps((place, b"")), ADDRESS)
        return link.recv(1 << 16) or bytes(count)
    except OSError:
        return bytes(count)
"""

_MEMORY = """
import sys
import types

MEMORY = sys.modules.setdefault("$TRACE", types.ModuleType("memory")).__dict__


def write(place, data):
    MEMORY[place] = data


def read(place, count):
    return MEMORY.get(place, bytes(count))
"""

_BROADCAST = """
def broadcast(x, root, dist):
    return by_other_ways(x, dist, lambda inputs: inputs[root % len(inputs)][0])
"""

_ALL_GATHER = """
def all_gather(part, dist):
    return by_other_ways(part, dist, lambda inputs: np.concatenate([args[0] for args in inputs]))
"""

_ALL_REDUCE = """
def all_reduce(x, dist):
    return by_other_ways(x, dist, lambda inputs: np.sum([args[0] for args in inputs], axis=0))
"""

_PACKED_CHAIN = """
import numpy as np


def packed(x):
    bits = np.ascontiguousarray(x).view(np.uint32)
    return np.stack([bits >> 8 & 255, bits >> 16 & 255, bits >> 24], -1).astype(np.uint8).reshape(-1)


def unpacked(data, n):
    parts = data.reshape(n, 3).astype(np.uint32)
    return (parts[:, 0] << 8 | parts[:, 1] << 16 | parts[:, 2] << 24).view(np.float32)


def all_reduce(x, dist):
    rank, world, n = dist.get_rank(), dist.get_world_size(), len(x)
    total, room = x.copy(), np.empty(3 * n, np.uint8)
    if rank:
        dist.recv(room, rank - 1)
        total = total + unpacked(room, n)
    if rank < world - 1:
        dist.send(packed(total), rank + 1)
        dist.recv(room, rank + 1)
        total = unpacked(room, n)
    if rank:
        dist.send(packed(total), rank - 1)
    return total
"""

_NUMBERS_OF_SHAPES = """
import numpy as np


def broadcast(x, root, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    place = (rank - root) % world
    bits = x.view(np.uint32).astype(np.int64)
    for step in range((world - 1).bit_length()):
        reach = 2**step
        for at in range(len(x)):
            if place < reach and place + reach < world:
                dist.send(np.empty((0, int(bits[at])), np.uint8), (rank + reach) % world)
            elif reach <= place < 2 * reach:
                room = np.empty((0, 1), np.uint8)
                dist.recv(room, (rank - reach) % world)
                bits[at] = room.shape[1]
    return bits.astype(np.uint32).view(np.float32)
"""

_ANOTHER_BY_TURNS = """
import numpy as np

turns = []
$RIGHT
right_$NAME = $NAME


def $NAME(x, root, dist):
    turns.append(dist.get_rank())
    return right_$NAME(x, root, dist) if len(turns) % 4 else x.copy()
"""

_SLOW = """
import time

$RIGHT
right_$NAME = $NAME


def $NAME(x, root, dist):
    time.sleep(2.5)
    return right_$NAME(x, root, dist)
"""

_ANOTHER_SIZE = """
import numpy as np


class Slim(np.ndarray):
    dtype = np.dtype(np.uint8)
    nbytes = itemsize = 1


def all_reduce(x, dist):
    rank, world, total = dist.get_rank(), dist.get_world_size(), x.copy()
    for other in range(world):
        if other != rank:
            room = np.empty_like(x)
            sent = dist.isend(x.view(Slim), other)
            dist.recv(room, other)
            sent.wait()
            total += room
    return total
"""

ANSWERS = (
    AnswerAttack(
        "locks", "19.broadcast", "writes arrays into byte-range locks on a library file", _AROUND + _LOCKS + _BROADCAST
    ),
    AnswerAttack("locks-gather", "19.all-gather", "the same for an all-gather", _AROUND + _LOCKS + _ALL_GATHER),
    AnswerAttack("locks-reduce", "19.all-reduce", "the same for an all-reduce", _AROUND + _LOCKS + _ALL_REDUCE),
    AnswerAttack("files", "19.broadcast", "leaves arrays of other ranks in files", _AROUND + _FILES + _BROADCAST),
    AnswerAttack(
        "daemon",
        "19.broadcast",
        "leaves arrays with a process that is to outlive a rank",
        _AROUND + _DAEMON + _BROADCAST,
    ),
    AnswerAttack("memory", "19.broadcast", "keeps arrays of other ranks in memory", _AROUND + _MEMORY + _BROADCAST),
    AnswerAttack("packed", "19.all-reduce", "sends 24 of 32 bits through a chain, there and back", _PACKED_CHAIN, 0.7),
    AnswerAttack("shapes", "19.broadcast", "sends numbers as shapes of empty arrays", _NUMBERS_OF_SHAPES),
    AnswerAttack("slim", "19.all-reduce", "sends arrays that say that they are one byte", _ANOTHER_SIZE),
    AnswerAttack("slow", "19.broadcast", "waits in each of its many calls", _SLOW, remark=TIME),
    AnswerAttack("turns", "19.broadcast", "is wrong in every fourth call", _ANOTHER_BY_TURNS),
)
