"""The process in which a submission will run: made with its limits before the submission is there."""

import array
import contextlib
import json
import os
import select
import signal
import socket
import time
from typing import Any

from softlookup_grader.data.work import Limits
from softlookup_grader.sandbox import cgroups
from softlookup_grader.sandbox.bubble import SandboxError, Zygote

_WORD_S = 30


class SubmissionProcess:
    """A process of its own that a zygote forks, and that waits for the first cell of a submission."""

    def __init__(self, zygote: Zygote, limits: Limits, seed: int) -> None:
        self.limits = limits
        try:
            # Without a sandbox the submission is trusted, and runs in the grader's own groups.
            self.group = None if zygote.bare else cgroups.Group(limits.memory_mb + limits.disk_mb)
        except OSError as error:
            raise SandboxError(f"no control group can be made for a submission ({error})") from None
        self.link, submission_end = socket.socketpair()
        self.link.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._status, status = os.pipe()
        self._pidfd = -1
        about = {
            "seed": seed,
            "cpu_s": limits.cpu_s,
            "memory_mb": limits.memory_mb,
            "disk_mb": limits.disk_mb,
            "processes": limits.processes,
            "output_kb": limits.output_kb,
            "processors": sorted(os.sched_getaffinity(0)),
            "addresses": self.group is not None and self.group.memory is None,
        }
        try:
            try:
                zygote.fork(submission_end, status, about)
            finally:
                submission_end.close()
                os.close(status)
            self.pid = self._begin()
            self._pidfd = os.pidfd_open(self.pid)
        except BaseException:
            self.close()
            raise

    def _begin(self) -> int:
        """Move the process that prepares the submission's into its group as it works, and wait for the submission's."""
        before = self._word(b"begin")
        try:
            if self.group is not None:
                self.group.take(before)
            self.link.send(b"!")
        except OSError as error:
            raise SandboxError(f"a submission cannot be moved into its control group ({error})") from None
        pid = self._word(b"hello")
        self.link.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        return pid

    def _word(self, expected: bytes) -> int:
        """Wait for a word, to which the kernel adds the sender's number."""
        self.link.settimeout(_WORD_S)
        try:
            message, ancillary, _, _ = self.link.recvmsg(5, socket.CMSG_SPACE(12))
        except OSError:
            message, ancillary = b"", []
        credentials = [data for level, message_type, data in ancillary if message_type == socket.SCM_CREDENTIALS]
        if message != expected or not credentials:
            raise SandboxError(f"a submission cannot be given a place of its own here: {self.ended().get('trouble')}")
        return array.array("i", credentials[0])[0]

    def lives(self) -> bool:
        """Whether its process is there."""
        return self._pidfd >= 0 and not select.select([self._pidfd], [], [], 0)[0]

    def ended(self) -> dict[str, Any]:
        """How its process ended, as the process in between reported it; nothing before it has ended."""
        ready, _, _ = select.select([self._status], [], [], 1.0)
        if not ready:
            return {}
        try:
            report = json.loads(os.read(self._status, 4096))
        except ValueError:
            return {}
        return report if isinstance(report, dict) else {}

    def signal(self, signal_number: int) -> None:
        """Send its process a signal, if it is still there."""
        if self._pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal_number)

    def end(self, seconds: float) -> bool:
        """End its process, and wait until neither a process of its namespaces nor they themselves are there."""
        self.signal(signal.SIGKILL)
        until = time.monotonic() + seconds
        # The first process of a namespace ends after all others in it. The one in between, which holds the namespaces
        # too, ends last, and with it the pipe.
        for fd in (self._pidfd, self._status):
            while select.select([fd], [], [], max(0.0, until - time.monotonic()))[0]:
                if fd == self._pidfd or not os.read(self._status, 4096):
                    break
            else:
                return False
        return True

    def close(self) -> None:
        """End its process, with every process that it started, and let go of everything."""
        self.signal(signal.SIGKILL)
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        if self.group is not None:
            self.group.close()
        os.close(self._status)
        self.link.close()
