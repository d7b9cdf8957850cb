"""Why bubblewrap does not work on a machine, and what to do: by what it says, and by the kernel's settings."""

import contextlib
import os
from pathlib import Path

_KERNEL = Path("/proc/sys")
_FORBIDDEN = (
    ("kernel.apparmor_restrict_unprivileged_userns", "1", "AppArmor keeps it from making namespaces", "0"),
    ("kernel.unprivileged_userns_clone", "0", "the kernel lets only root make namespaces", "1"),
    ("user.max_user_namespaces", "0", "the kernel allows no namespaces of users", "10000"),
)
"""Settings of the kernel that forbid what bubblewrap does: name, the forbidding value, why, and the allowing value."""
_NEW_NAMESPACE = ("Creating new namespace", "No permissions to create new namespace", "loopback: ", "pivot_root: ")
_IN_A_CONTAINER = (
    (
        ("Can't mount proc",),
        "parts of /proc are hidden here, so that no other /proc may be mounted, as in a container: start the container "
        "with --security-opt systempaths=unconfined (Docker) or --security-opt unmask=ALL (Podman), or the pod with "
        "procMount: Unmasked and hostUsers: false",
    ),
    (
        ("Failed to make / slave: Permission denied",),
        "AppArmor lets nobody mount anything here, as in a container: start the container with --security-opt "
        "apparmor=unconfined, and the pod with appArmorProfile: {type: Unconfined}",
    ),
    (
        ("setresuid failed", "setresgid failed"),
        "this root is one of few accounts in a namespace of users, where the account 65534 is missing, to which "
        "submissions are given: run the command as an ordinary account outside of that namespace, or give its owner "
        "65536 accounts in /etc/subuid and /etc/subgid and make it anew",
    ),
)
"""What bubblewrap says, or setpriv in it, where a container or a namespace is the reason: signs of it, and a remedy."""
_ROOT = (
    "this root may not make namespaces, as in a container: run the command as another account (docker run --user 1000) "
    "in a container started with --security-opt seccomp=unconfined --security-opt systempaths=unconfined"
)
_FILTER = (
    "in a container, its filter of system calls forbids namespaces: start it with --security-opt seccomp=unconfined "
    "--security-opt systempaths=unconfined, or the pod with seccompProfile: {type: Unconfined}"
)


def remedy(says: str) -> str:
    """Find out what keeps bubblewrap from working, by the line with which it ended, and what to do about it."""
    for signs, what in _IN_A_CONTAINER:
        if any(sign in says for sign in signs):
            return f": {what}"
    for name, forbidding, why, allowing in _FORBIDDEN:
        with contextlib.suppress(OSError):
            if (_KERNEL / name.replace(".", "/")).read_text().strip() == forbidding:
                return f": {why} ({name} is {forbidding}); allow them with 'sudo sysctl -w {name}={allowing}'"
    if any(sign in says for sign in _NEW_NAMESPACE):
        return f": {_ROOT if os.geteuid() == 0 else _FILTER}"
    return ""
