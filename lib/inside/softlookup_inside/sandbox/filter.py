"""Takes system calls away that no notebook needs: hidden memory, namespaces, other processes, signs on shared files.

A program of the kernel's (seccomp) looks at the number of each call; it cannot be taken off, and is inherited. See
the kernel's Documentation/userspace-api/seccomp_filter.
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
    "semget": (64, 190),
    "msgget": (68, 186),
    "unshare": (272, 97),
    "setns": (308, 268),
    "listns": (470, 470),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "statmount": (457, 457),  # names the host's folders
    "listmount": (458, 458),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "lookup_dcookie": (212, 18),
    "ptrace": (101, 117),
    "kcmp": (312, 272),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "vmsplice": (278, 75),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "io_setup": (206, 0),  # all of the machine's programs share a number of these
    "inotify_init": (253, 28),  # AArch64 has only the next one; 28 takes back what can then not be asked for
    "inotify_init1": (294, 26),  # shows which of the host's programs are started, and each user has few
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "acct": (163, 89),
    "mincore": (27, 232),  # tells what others have read
    "cachestat": (451, 451),
    "sysinfo": (99, 179),  # counts processes and memory of the whole machine
}
NOTHING = {
    "flock": (73, 32),
    "fadvise64": (221, 223),  # advice on files moves them in and out of a memory that all share
    "readahead": (187, 213),
    "sync": (162, 81),  # would write what others wrote; a submission has no disk
    "syncfs": (306, 267),
}
"""Calls that seem to succeed: honest programs make them, and lose nothing where a submission is alone."""
CLONE, CLONE3, SOCKET, SOCKETPAIR = (56, 220), (435, 435), (41, 198), (53, 199)
NAMESPACES = 0x7E020000
"""The flags of clone that begin a namespace: mounts, control groups, names, System V, users, processes, network."""
MMAP, PRLIMIT, SETRLIMIT = (9, 222), (302, 261), (160, 164)
FCNTL, MADVISE, PREADV2 = (72, 25), (28, 233), (327, 286)
FCNTL_COMMANDS = (*range(6), *range(8, 12), 15, 16, 36, 1027, 1028, 1030, *range(1032, 1035))
"""Commands of fcntl that act on a descriptor alone, and those that look for locks, of which there are none.

Refused are leases (other programs wait for their end), delegations, notices of what others do with a folder, and hints
on how a file will be written. A pipe is not made larger, since all submissions share the room for them.
"""
LOCK_COMMANDS = (6, 7, 37, 38, 1031)
"""Commands of fcntl that seem to succeed: those that take a lock or give it back, and the one for a larger pipe."""
ADVICE = (12, 20, 21)
"""Advice to madvise that reaches further than the process: equal pages become the same, cold ones leave memory."""
NO_WAIT = 8  # the flag of preadv2 that reads only what is in memory already, and so tells whether it is
HUGE_PAGES = 0x40000  # the flag of mmap that takes pages from the machine's pool of large ones, which no group counts
CORE = 4  # the limit of core files: at 0 it does not hold for a machine that pipes cores into a program
FAMILIES = (1, 2, 10)
"""Sockets that a notebook may open: AF_UNIX, AF_INET, AF_INET6. In its network there is nobody to reach."""

_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_LOAD, _EQUAL, _AT_LEAST, _ANY_OF, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_FIRST_X32 = 0x40000000
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
# Where things lie in what the filter is given of a call. Of an argument the lower half: what it means is an int.
_NUMBER, _MACHINE, _FIRST_ARGUMENT, _SECOND_ARGUMENT, _THIRD_ARGUMENT = 0, 4, 16, 24, 32
_FOURTH_ARGUMENT, _SIXTH_ARGUMENT = 40, 56
_RETURNS = {
    "allow": 0x7FFF0000,
    "kill": 0x80000000,
    "refuse": 0x00050000 | errno.EPERM,
    "nothing": 0x00050000,  # no error, and the call is not made
    "unknown": 0x00050000 | errno.ENOSYS,  # the C library then uses clone, whose flags can be looked at
    "no family": 0x00050000 | errno.EAFNOSUPPORT,
}


def program(machine: str) -> bytes | None:
    """Write the filter for what platform.machine() says, 8 bytes each; None where calls have other numbers."""
    if machine not in _MACHINES:
        return None
    audit_number, column = _MACHINES[machine]
    # Operation, where to go on if so, where if not (a name, or the next instruction), operand; a text alone is a name.
    code: list[str | tuple[int, str, str, int]] = [
        (_LOAD, "", "", _MACHINE),
        (_EQUAL, "", "kill", audit_number),
        (_LOAD, "", "", _NUMBER),
        (_AT_LEAST, "refuse", "", _FIRST_X32),  # the same calls under other numbers
        *((_EQUAL, "refuse", "", call_number) for call_number in sorted(pair[column] for pair in FORBIDDEN.values())),
        *((_EQUAL, "nothing", "", call_number) for call_number in sorted(pair[column] for pair in NOTHING.values())),
        (_EQUAL, "unknown", "", CLONE3[column]),
        (_EQUAL, "flags", "", CLONE[column]),
        (_EQUAL, "family", "", SOCKET[column]),
        (_EQUAL, "family", "", SOCKETPAIR[column]),
        (_EQUAL, "pages", "", MMAP[column]),
        (_EQUAL, "command", "", FCNTL[column]),
        (_EQUAL, "advice", "", MADVISE[column]),
        (_EQUAL, "reading", "", PREADV2[column]),
        (_EQUAL, "limit", "", SETRLIMIT[column]),
        (_EQUAL, "second limit", "allow", PRLIMIT[column]),
        "flags",
        (_LOAD, "", "", _FIRST_ARGUMENT),
        (_ANY_OF, "refuse", "allow", NAMESPACES),
        "pages",
        (_LOAD, "", "", _FOURTH_ARGUMENT),
        (_ANY_OF, "refuse", "allow", HUGE_PAGES),
        "limit",
        (_LOAD, "", "", _FIRST_ARGUMENT),
        (_EQUAL, "refuse", "allow", CORE),
        "second limit",
        (_LOAD, "", "", _SECOND_ARGUMENT),
        (_EQUAL, "refuse", "allow", CORE),
        "command",
        (_LOAD, "", "", _SECOND_ARGUMENT),
        *((_EQUAL, "nothing", "", command) for command in LOCK_COMMANDS),
        *((_EQUAL, "allow", "", command) for command in FCNTL_COMMANDS[:-1]),
        (_EQUAL, "allow", "refuse", FCNTL_COMMANDS[-1]),
        "advice",
        (_LOAD, "", "", _THIRD_ARGUMENT),
        *((_EQUAL, "nothing", "", advice) for advice in ADVICE[:-1]),
        (_EQUAL, "nothing", "allow", ADVICE[-1]),
        "reading",
        (_LOAD, "", "", _SIXTH_ARGUMENT),
        (_ANY_OF, "refuse", "allow", NO_WAIT),
        "family",
        (_LOAD, "", "", _FIRST_ARGUMENT),
        *((_EQUAL, "allow", "", family) for family in FAMILIES[:-1]),
        (_EQUAL, "allow", "no family", FAMILIES[-1]),
    ]
    for name, value in _RETURNS.items():
        code += [name, (_RETURN, "", "", value)]
    positions: dict[str, int] = {}
    steps: list[tuple[int, str, str, int]] = []
    for step in code:
        if isinstance(step, str):
            positions[step] = len(steps)
        else:
            steps.append(step)
    # Jumps are counted from the next instruction, in one byte each.
    return b"".join(
        struct.pack("HBBI", operation, *(positions[name] - at - 1 if name else 0 for name in (yes, no)), operand)
        for at, (operation, yes, no, operand) in enumerate(steps)
    )


_OF_THIS_MACHINE = program(platform.machine())  # written once, and not in each process that is forked


def install(libc: Any) -> bool:
    """Put the filter on this process for good; says whether there is one here. OSError if the kernel refuses it."""
    written = _OF_THIS_MACHINE
    if written is None:
        return False
    buffer = ctypes.create_string_buffer(written, len(written))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    filter_program = Program(len(written) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(filter_program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel takes no filter of system calls")
    return True
