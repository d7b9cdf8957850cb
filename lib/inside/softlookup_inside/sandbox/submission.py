"""A submission's own process: runs its cells, and asks its functions; the judge believes nothing that leaves it."""

import contextlib
import os
import socket
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from softlookup_inside.asking.calm import calm_torch
from softlookup_inside.asking.case import Case, LayerAnswer
from softlookup_inside.asking.gates import closed
from softlookup_inside.asking.layers import called_like, layer_around
from softlookup_inside.asking.probe import Answer, Failure, TimeIsUp, run, time_limit
from softlookup_inside.asking.source import screen, standing_in
from softlookup_inside.sandbox import frames
from softlookup_inside.sandbox.shell import CellEnd, CellShell
from softlookup_inside.sandbox.sound_calls import stand_in


class Inside:
    """What answers the judge; ``output_bytes`` of a cell's output are kept, and ``beside`` holds the course's files."""

    def __init__(self, link: socket.socket, shell: CellShell, output_bytes: int, beside: str) -> None:
        self.line, self.shell, self.output_bytes = frames.Channel(link), shell, output_bytes
        self.home, self.beside = Path.cwd(), Path(beside)
        self.obj: Any = None
        self.about: Mapping[str, Any] = {}
        self.token = ""

    def serve(self) -> None:
        """Do what the judge says until it says no more."""
        while True:
            try:
                request, arrays = self.line.receive()
            except frames.ConnectionClosed:
                return
            self.token = request["token"]
            doing = {
                "cell": self._cell,
                "check": self._check,
                "ask": self._ask,
                "write": self._write,
                "read": self._read,
            }.get(request["do"])
            if doing is None:
                return
            header, back = doing(request, arrays)
            self.line.send({**header, "token": self.token}, back)

    def _write(self, request: Mapping[str, Any], arrays: list[np.ndarray]) -> tuple[dict[str, Any], list[np.ndarray]]:
        """Put files into the folder in which cells run."""
        for path, content in zip(request["paths"], arrays, strict=True):
            with contextlib.suppress(OSError):  # a name that is too long here, or no room
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                Path(path).write_bytes(content.tobytes())
        return {}, []

    def _read(self, request: Mapping[str, Any], arrays: list[np.ndarray]) -> tuple[dict[str, Any], list[np.ndarray]]:
        """Give back the files in the folder in which cells ran, but for those of the course that are as they were."""
        home, remaining = self.home, request["bytes"]
        contents: dict[str, np.ndarray] = {}
        for path in sorted(home.rglob("*")):
            name = path.relative_to(home).as_posix()
            if path.is_symlink() or not path.is_file() or "__pycache__" in name or len(contents) == request["most"]:
                continue
            about, course_file = path.stat(), self.beside / name
            if course_file.is_file():
                there = course_file.stat()
                if (about.st_size, about.st_mtime_ns) == (there.st_size, there.st_mtime_ns):
                    continue
            if about.st_size <= remaining:
                contents[name] = np.frombuffer(path.read_bytes()[:remaining], np.uint8)
                remaining -= contents[name].size
        return {"paths": list(contents)}, list(contents.values())

    def _cell(self, request: Mapping[str, Any], arrays: list[np.ndarray]) -> tuple[dict[str, Any], list[np.ndarray]]:
        start_s = time.monotonic()
        ran = self.shell.run(request["source"], request["seconds"], self.output_bytes)
        return {**vars(ran), "seconds": time.monotonic() - start_s}, []

    def _check(self, request: Mapping[str, Any], arrays: list[np.ndarray]) -> tuple[dict[str, Any], list[np.ndarray]]:
        """Take the answer that a check is given, by its name, and say what it is; the check itself is not called."""
        ran = CellEnd([])
        if request["source"]:
            ran = self.shell.run(request["source"], request["seconds"], self.output_bytes)
        there, obj, why, late = self.shell.value(request["expression"], request["seconds"])
        if not there:
            return {**vars(ran), "held": False, "trouble": why, "late": late}, []
        self.obj, self.about = obj, request
        header: dict[str, Any] = {"held": True, "kind": type(self.obj).__name__, "callable": callable(self.obj)}
        header |= {**vars(ran), "shortcut": None}
        if callable(self.obj):
            stop = frozenset(request["stop"])
            # What reads a student's code must not end where that code is strange.
            with contextlib.suppress(Exception):
                header["shortcut"] = screen(self.obj, tuple(request["forbids"]), stop)
        return header, []

    def _ask(self, request: Mapping[str, Any], arrays: list[np.ndarray]) -> tuple[dict[str, Any], list[np.ndarray]]:
        """Put questions to the answer, one after the other."""
        earlier = self.about["earlier"].items()
        in_torch = all(question["frame"] == "torch" for question in request["cases"])
        stand_ins = {
            name: partial(self._instead, task_id, in_torch) for name, task_id in earlier if task_id in request["lent"]
        }
        answers: list[dict[str, Any]] = []
        back: list[np.ndarray] = []
        size = 0
        try:
            # Closing the gates costs more than many a question, so they stay closed for all of them.
            gates = closed(tuple(self.about["forbids"]))
            with calm_torch(), standing_in(self.obj, stand_ins), gates, time_limit(request["seconds"]):
                for question in request["cases"]:
                    answer = self._answer(question, arrays, request["results"])
                    failure = answer.failure
                    if failure is None:
                        try:
                            weight = frames.weight(answer.arrays or ())
                            if size + weight > frames.BODY_BYTES:
                                raise frames.FrameError(f"it is too large ({weight:,} bytes after {size:,} before)")
                            size += weight
                        except frames.FrameError as error:
                            failure = Failure("kind", f"Your function's result cannot be taken: {error}.")
                    there = failure is None and answer.arrays is not None
                    answer_fields: dict[str, Any] = {"printed": answer.printed, "failure": None, "there": there}
                    if failure is not None:
                        words = [failure.kind, failure.message, failure.where, failure.explained]
                        calls = {"elsewhere": list(failure.elsewhere), "calls_blank": failure.calls_blank}
                        answer_fields |= {"failure": words, **calls}
                    answers.append(answer_fields)
                    back += answer.arrays if there and answer.arrays else ()
        except TimeIsUp:
            return {"late": True}, []
        return {"late": False, "answers": answers}, back

    def _answer(self, question: Mapping[str, Any], arrays: list[np.ndarray], results: int) -> Answer:
        args, upstream = (frames.value_of(question[name], arrays) for name in ("args", "upstream"))
        sizes, names = question["layer"]
        layer: dict[str, Any] = {"sizes": sizes, "parameters": tuple(names)}
        gradients = tuple(question["gradients"])
        world, rank, offers = question["rank"]
        fed = None if question["fed"] is None else tuple(question["fed"])
        case = Case(
            "",
            tuple(args),
            frame=question["frame"],
            gradients=gradients,
            upstream=upstream,
            fed=fed,
            grid=tuple(question["grid"]),
            world=world,
            rank=rank,
            offers=tuple(offers),
            inbox=tuple(frames.value_of(question["inbox"], arrays)),
            **layer,
        )
        try:
            return run(self.obj, case, results, tuple(self.about["forbids"]))
        except KeyboardInterrupt:
            return Answer(failure=None)

    def _instead(self, task_id: str, in_torch: bool, student_function: Any) -> Any:
        reference_function = called_like(student_function, stand_in(task_id, self._sound, in_torch))
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(
                reference_function, name, getattr(student_function, name, None) or getattr(reference_function, name)
            )
        layer = self.about["layers"].get(task_id)
        return (
            layer_around(student_function, reference_function, LayerAnswer(layer[0], tuple(layer[1]), layer[2]))
            if layer
            else reference_function
        )

    def _sound(self, header: dict[str, Any], arrays: list[np.ndarray]) -> tuple[dict[str, Any], list[np.ndarray]]:
        self.line.send({**header, "token": self.token}, arrays)
        return self.line.receive()


def main(link: socket.socket, shell: CellShell, output_bytes: int, beside: str = "") -> None:
    """Answer the judge, then end at once: nothing that a submission left for the end of Python is run."""
    try:
        Inside(link, shell, output_bytes, beside).serve()
    finally:
        os._exit(0)
