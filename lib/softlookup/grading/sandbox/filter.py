"""Takes system calls away that no notebook needs: memory that nobody sees, new namespaces, a look into other processes.

A filter of the kernel's (seccomp): a program of a few instructions that looks at the number of each call. It cannot be
taken off, and whatever the process starts inherits it. See the kernel's Documentation/userspace-api/seccomp_filter.
"""

import ctypes
import errno
import platform
import struct
from typing import Any

# name: (number on x86-64, number on AArch64)
FORBIDDEN = {
    "memfd_create": (319, 279),  # memory of a file that is never mapped shows in no process
    "memfd_secret": (447, 447),
    "shmget": (29, 194),  # nor does a detached segment
    "msgget": (68, 186),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
}
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_FIRST_X32 = 0x40000000
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2


def program(machine: str) -> bytes | None:
    """Write the filter.

    Args:
        machine: What platform.machine() says.

    Returns:
        Its instructions, 8 bytes each; None for machines whose calls have other numbers.
    """
    if machine not in _MACHINES:
        return None
    kind, column = _MACHINES[machine]
    numbers = sorted(pair[column] for pair in FORBIDDEN.values())
    # Instruction: operation, where to go on if so, if not, operand. Jumps are counted from the next instruction.
    code = [
        (_LOAD, 0, 0, 4),  # the kind of machine that the call was made for
        (_EQUAL, 1, 0, kind),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),  # the call's number
        (_AT_LEAST, len(numbers) + 1, 0, _FIRST_X32),  # the same calls under other numbers
    ]
    code += [(_EQUAL, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    code += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    return b"".join(struct.pack("HBBI", *one) for one in code)


def install(libc: Any) -> bool:
    """Put the filter on this process for good. It must have given up new privileges before.

    Args:
        libc: The C library.

    Returns:
        Whether there is a filter for this machine.

    Raises:
        OSError: If the kernel refuses it.
    """
    written = program(platform.machine())
    if written is None:
        return False
    kept = ctypes.create_string_buffer(written, len(written))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    told = Program(len(written) // 8, ctypes.cast(kept, ctypes.c_void_p))
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(told), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel takes no filter of system calls")
    return True
