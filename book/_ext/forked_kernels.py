"""Kernels that are forked from one process with everything heavy imported (`kernel_server.py`), for pages that run.

A kernel that starts anew imports torch and matplotlib for itself, which takes longer than the cells of most pages.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

CLOSING_S = 2.0
SERVER = Path(__file__).with_name("kernel_server.py")


class Forked:
    """A forked kernel, as far as a provisioner asks a process; the process is another one's child."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int, descriptor: int) -> None:
        self.pid, self._descriptor = pid, descriptor

    def poll(self) -> int | None:
        """Say whether it has ended: 0, else None. How it ended only its parent knows."""
        return 0 if select.select([self._descriptor], [], [], 0)[0] else None

    def wait(self) -> int:
        """Wait until it has ended, and let go of it."""
        select.select([self._descriptor], [], [])
        os.close(self._descriptor)
        return 0

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        signal.pidfd_send_signal(self._descriptor, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


class Server:
    """The process that kernels are forked from; it begins to import at once.

    Modules in the folder where it starts come before installed ones, as in a kernel.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        self._control, server_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with server_end:
            command = [sys.executable, str(SERVER), str(server_end.fileno())]
            self._process = subprocess.Popen(
                command, cwd=folder, pass_fds=[server_end.fileno()], stdin=subprocess.DEVNULL, start_new_session=True
            )

    def fork(self, argv: list[str], cwd: str, env: dict[str, str]) -> Forked:
        """Fork a kernel; OSError if the server is gone, or the environment is too large for a message."""
        with self._lock:
            self._control.send(json.dumps({"argv": argv, "cwd": cwd, "env": env}).encode())
            reply, descriptors, _, _ = socket.recv_fds(self._control, 32, 1)
        if not descriptors:
            raise OSError(f"the process that kernels are forked from has ended ({SERVER.name})")
        return Forked(int(reply), descriptors[0])

    def close(self) -> None:
        """End it, and every kernel that is left."""
        self._control.close()
        try:
            self._process.wait(CLOSING_S)
        except subprocess.TimeoutExpired:  # it still imports
            self._process.kill()
            self._process.wait()


class _Forking(LocalProvisioner):
    """Starts a kernel by a fork, where it is one of this Python's."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        manager, launcher = self.parent, [sys.executable, "-m", "ipykernel_launcher"]
        if cmd[:3] != launcher or not isinstance(manager, ForkedKernels):
            return await super().launch_kernel(cmd, **kwargs)
        try:
            forked = manager.server.fork(cmd[2:], os.path.abspath(kwargs.get("cwd") or os.curdir), kwargs["env"])
        except OSError:
            return await super().launch_kernel(cmd, **kwargs)
        self.process = forked  # type: ignore[assignment]
        self.pid = self.pgid = forked.pid  # it leads its own session
        return self.connection_info


class ForkedKernels(AsyncKernelManager):
    """Manages one kernel that `server` forks; `forking` makes a class for a server."""

    server: Server

    async def _async_pre_start_kernel(self, **kwargs: Any) -> Any:
        if self.provisioner is None:
            self.kernel_id = self.kernel_id or str(uuid.uuid4())
            self.provisioner = _Forking(kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self)
        return await super()._async_pre_start_kernel(**kwargs)


@contextlib.contextmanager
def forking(folder: Path) -> Iterator[type[AsyncKernelManager]]:
    """Give the class of managers whose kernels are forked here; where a fork is not sound, of those that start anew.

    ``folder`` is where most pages lie.
    """
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        yield AsyncKernelManager
        return
    server = Server(folder)
    try:
        yield type("ForkedHere", (ForkedKernels,), {"server": server})
    finally:
        server.close()
