"""Runs every hostile hand-in through stock nbgrader and through this grader, and keeps what came out as data.

    python -m attacks.table [--only stock|ours] [--of ASSIGNMENT] [--match TEXT] [--again]

Stock nbgrader runs inside an outer bubblewrap sandbox: no network, nothing writable but a small tmpfs, another user,
limits on processes, memory and time, and a fresh copy of a throw-away course for each attack. An honest student is
graded after each attack: where that one has no grade, the batch was stopped. A run that is broken off goes on where it
was.
"""

import argparse
import itertools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

from attacks import LEAK, OF_CHAPTERS, ROWS, TRACE, HostileHandIn, hostile_by_kind
from attacks.writing import write_hand_in
from softlookup_grader import Course, new_course
from softlookup_judge.authoring import find_root, read_solution

ROOT = find_root()
ASSIGNMENTS = {"04_one_head": None, **OF_CHAPTERS}
"""What is attacked, and by which kinds; None stands for all."""
RESULTS = Path(__file__).with_name("results.json")
HONEST = "honest-1"
WALL_S, CELL_S = 300, 30
MEMORY_BYTES, TMPFS_BYTES, PROCESSES = 5_000_000_000, 1_500_000_000, 600
EXTRA_CONFIG = f"""
c.Execute.timeout = {CELL_S}
c.FileNameCollectorPlugin.named_regexp = r".*?(?P<student_id>attack-39-[a-z-]+)/?(?P<file_id>.*)"
"""

# What runs in the outer sandbox, as the same user as nbgrader and its kernels; an attack may end it, too.
INSIDE = """
import json, os, pathlib, shutil, subprocess, sys
name, students, honest, leak, trace, collect = json.loads(sys.argv[1])
shutil.copytree("/template", "/scratch/course", symlinks=True)
os.mkdir("/scratch/home")
shutil.copytree("/handins", "/scratch/course/submitted", symlinks=True, dirs_exist_ok=True) if not collect else None
for pipe in json.loads(sys.argv[2]):
    os.mkfifo("/scratch/course/submitted/" + pipe)
os.chdir("/scratch/course")
before = {p for p in os.listdir("/proc") if p.isdigit()}
if collect:
    shutil.copytree("/handins", f"/scratch/course/downloaded/{name}/archive")
    command = ["zip_collect", name, "--force"]
else:
    command = ["autograde", name, "--force", "--Autograde.exporter_class=nbconvert.exporters.NotebookExporter"]
with open("/scratch/log", "wb") as log:
    command = [sys.executable, "-m", "nbgrader", *command]
    done = subprocess.run(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
told = {"status": done.returncode, "scores": {}, "left": []}
for number in sorted({p for p in os.listdir("/proc") if p.isdigit()} - before):
    told["left"].append("a process: " + pathlib.Path("/proc", number, "comm").read_text().strip())
for folder, folders, files in os.walk("/scratch"):
    own = any(part in pathlib.Path(folder).parts for part in students)
    told["left"] += [os.path.join(folder, file) for file in folders + files if trace in file and not own]
from nbgrader.api import Gradebook, MissingEntry
with Gradebook("sqlite:////scratch/course/gradebook.db", "softlookup") as book:
    for student in [*students, honest]:
        graded = pathlib.Path("autograded", student, name, name + ".ipynb")
        if graded.is_file():
            try:
                told["scores"][student] = book.find_submission(name, student).score
            except MissingEntry:
                pass
            cells = json.loads(graded.read_text(errors="replace"))["cells"]
            shown = [one for cell in cells for one in cell.get("outputs", []) if one["output_type"] != "error"]
            told["leaked"] = told.get("leaked", False) or leak in json.dumps(shown)
told["last"] = pathlib.Path("/scratch/log").read_text(errors="replace")[-600:]
print(json.dumps(told))
"""


def main() -> None:
    """Run what has no result yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["stock", "ours"])
    parser.add_argument("--of", choices=ASSIGNMENTS, help="only attacks on this assignment")
    parser.add_argument("--match", default="", help="only students whose name holds this")
    parser.add_argument("--again", action="store_true", help="run what has a result, too")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for name in [options.of] if options.of else ASSIGNMENTS:
        with tempfile.TemporaryDirectory(prefix="attack-table-") as folder:
            template = make_template(Path(folder) / "template", name)
            if options.only != "ours":
                # The numbered attacks first; the many strange answers and what is beyond the list later.
                run_stock(template, name, options, set(range(1, ROWS + 1)) - {44})
                run_stock(template, name, options)
            if options.only != "stock":
                run_ours(template, name, options)


def make_template(folder: Path, name: str) -> Course:
    """A released course in which one honest student has handed in."""
    course = new_course(folder, ROOT / "nbgrader_config.py")
    with open(folder / "nbgrader_config.py", "a", encoding="utf-8") as config:
        config.write(EXTRA_CONFIG)
    source = read_solution(ROOT / "solutions" / f"{name}.py")
    course.release({name: source})
    path = course.notebook("submitted", HONEST, name)
    path.parent.mkdir(parents=True)
    nbformat.write(source, path)
    return course


def attacks(course: Course, name: str) -> Iterator[HostileHandIn]:
    """The hostile ones against this course."""
    source = nbformat.read(course.notebook("source", ".", name), as_version=4)
    release = nbformat.read(course.notebook("release", ".", name), as_version=4)
    return (hand_in for _, hand_in in hostile_by_kind(source, release, name, kinds=ASSIGNMENTS[name]))


def run_stock(template: Course, name: str, options: argparse.Namespace, rows: set[int] | None = None) -> None:
    """Run each attack of these rows, or pair of them, through nbgrader's own autograde."""
    for _, members in itertools.groupby(attacks(template, name), key=lambda hand_in: hand_in.group or hand_in.student):
        group = list(members)
        if rows is not None and group[0].row not in rows:
            continue
        results = read_results(options.out)
        known = all("stock" in results.get(hand_in.student, {}) for hand_in in group)
        if (known and not options.again) or not any(options.match in hand_in.student for hand_in in group):
            continue
        for hand_in, result in zip(group, stock(template, name, group), strict=True):
            about = results.setdefault(hand_in.student, {})
            about |= {"row": hand_in.row, "does": hand_in.does, "stock": result}
            print(f"{hand_in.student:42} {result['outcome']:28} {result['score']} of {result['deserved']}", flush=True)
        write_results(options.out, results)


def stock(template: Course, name: str, group: list[HostileHandIn]) -> list[dict[str, Any]]:
    """What stock nbgrader makes of a group."""
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        handins = Path(folder)
        pipes = []
        for hand_in in group:
            for file, content in hand_in.archive.items():
                (handins / file).write_bytes(content)
            if not hand_in.archive:
                write_hand_in(hand_in, handins / hand_in.student / name, pipes=False)
                pipes += [f"{hand_in.student}/{name}/{pipe}" for pipe in hand_in.pipes]
        open_to_all(handins)
        collect = bool(group[0].archive)
        about = json.dumps([name, [hand_in.student for hand_in in group], HONEST, LEAK, TRACE, collect])
        command = [*sandbox(template.root, handins), sys.executable, "-c", INSIDE, about, json.dumps(pipes)]
        report, stopped = watched(command)
    return [outcome(hand_in, report, stopped) for hand_in in group]


def open_to_all(folder: Path) -> None:
    """Let another user read a folder."""
    for place, _, files in os.walk(folder):
        os.chmod(place, 0o755)
        for name in files:
            if not os.path.islink(os.path.join(place, name)):
                os.chmod(os.path.join(place, name), 0o644)


def sandbox(template: Path, handins: Path) -> list[str]:
    """The outer sandbox: no network, another user without rights, and a small tmpfs that is all there is to write."""
    base = Path(sys.base_prefix)
    shown = [p for p in ("/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc") if Path(p).exists()]
    open_to_all(template)
    bound = [(p, p) for p in (*shown, str(base), str(Path(sys.prefix)), str(ROOT / "lib"), str(ROOT / "solutions"))]
    # bubblewrap makes the folders above a mount for root alone; another user has to pass through them.
    above = {str(folder) for path, _ in bound for folder in list(Path(path).parents)[:-1]}
    bound += [(str(template), "/template"), (str(handins), "/handins")]
    environment = {
        "HOME": "/scratch/home",
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "USER": "instructor",
        "LANG": "C.UTF-8",
        **{name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")},
    }
    return [
        *("bwrap", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--die-with-parent"),
        *("--new-session", "--clearenv", "--proc", "/proc", "--dev", "/dev"),
        *("--perms", "1777", "--size", str(TMPFS_BYTES), "--tmpfs", "/scratch", "--symlink", "/scratch", "/tmp"),
        *("--perms", "1777", "--size", "200000000", "--tmpfs", "/dev/shm"),
        *itertools.chain.from_iterable(("--perms", "0755", "--dir", folder) for folder in sorted(above)),
        *itertools.chain.from_iterable(("--ro-bind", *pair) for pair in bound),
        *itertools.chain.from_iterable(("--setenv", *pair) for pair in environment.items()),
        *("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--no-new-privs"),
        *("--inh-caps", "-all", "--bounding-set", "-all"),
    ]


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_NPROC, (PROCESSES, PROCESSES))
    resource.setrlimit(resource.RLIMIT_AS, (8 * MEMORY_BYTES, 8 * MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    Path("/proc/self/oom_score_adj").write_text("1000")


def watched(command: list[str]) -> tuple[dict[str, Any], str]:
    """Run a command under watch.

    What it reported, nothing if it was ended; and why it was stopped, empty if it was not.
    """
    begun, stopped = time.monotonic(), ""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, preexec_fn=_limited
        )
        while process.poll() is None:
            time.sleep(0.1)
            count, used_bytes = family(process.pid)
            if time.monotonic() - begun > WALL_S:
                stopped = f"hung (stopped after {WALL_S} s)"
            elif used_bytes > MEMORY_BYTES:
                stopped = f"hung (stopped at {MEMORY_BYTES / 1e9:g} GB)"
            elif count > PROCESSES + 100:
                stopped = f"hung (stopped at {PROCESSES} processes)"
            if stopped:
                # Its child is the first process of the namespace: with that one, all others end.
                for number in (*children(process.pid), process.pid):
                    os.kill(number, signal.SIGKILL)
                process.wait()
        out.seek(0)
        text = out.read(1_000_000).decode("utf-8", "replace").strip()
    try:
        return (json.loads(text.splitlines()[-1]) if text else {}), stopped
    except ValueError:
        return {}, stopped


def children(number: int) -> list[int]:
    """The children of a process."""
    try:
        return [int(n) for n in Path(f"/proc/{number}/task/{number}/children").read_text().split()]
    except OSError:
        return []


def family(number: int) -> tuple[int, int]:
    """How many processes live in the namespace of a process's first child, and how many bytes they hold."""
    first = children(number)[:1]
    try:
        room = os.readlink(f"/proc/{first[0]}/ns/pid") if first else None
    except OSError:
        return 0, 0
    count = used_bytes = 0
    for name in os.listdir("/proc"):
        if name.isdigit() and room is not None:
            try:
                if os.readlink(f"/proc/{name}/ns/pid") == room:
                    count += 1
                    used_bytes += int(Path(f"/proc/{name}/statm").read_text().split()[1]) * resource.getpagesize()
            except OSError:
                continue
    return count, used_bytes


def outcome(hand_in: HostileHandIn, report: dict[str, Any], stopped: str) -> dict[str, Any]:
    """Say in a few words what came out."""
    deserved = sum(hand_in.deserves.values())
    scores = report.get("scores", {})
    score = scores.get(hand_in.student)
    left = sorted(set(report.get("left", [])))[:5]
    result = {"score": score, "deserved": deserved, "left": left, "leaked": bool(report.get("leaked"))}
    if stopped:
        verdict = stopped
    elif hand_in.archive:
        verdict = "no grade" if report.get("status") == 0 else "batch stopped"
    elif HONEST not in scores:
        verdict = "batch stopped"
    elif score is None:
        verdict = "no grade"
    else:
        near = abs(score - deserved) < 1e-6
        verdict = "as deserved" if near else "raised" if score > deserved else "lowered"
    return {**result, "outcome": verdict}


def run_ours(template: Course, name: str, options: argparse.Namespace) -> None:
    """Grade all of them in one batch with ``softlookup grade``, and read the report and the ledger."""
    results = read_results(options.out)
    with tempfile.TemporaryDirectory(prefix="attack-ours-") as folder:
        root = Path(folder) / "course"
        shutil.copytree(template.root, root)
        handed_in = {}
        for hand_in in attacks(template, name):
            if options.match in hand_in.student and not hand_in.archive:
                write_hand_in(hand_in, root / "submitted" / hand_in.student / name)
                handed_in[hand_in.student] = (hand_in.row, hand_in.does, sum(hand_in.deserves.values()), hand_in.remark)
        report_file = Path(folder) / "report.json"
        command = [
            sys.executable,
            "-m",
            "softlookup_command",
            "grade",
            name,
            "--course",
            str(root),
            "--json",
            str(report_file),
        ]
        done = subprocess.run(command, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise SystemExit(f"softlookup grade ended with {done.returncode}")
        submissions = json.loads(report_file.read_text(encoding="utf-8"))["submissions"]
        messages = sentences(root / ".grading" / name / "ledger.jsonl")
    for student, (row, does, deserved, pattern) in handed_in.items():
        entry = submissions.get(student)
        score = None if entry is None else sum(mark["points"] for mark in entry["tasks"].values())
        if score is None or entry["status"] != "graded":
            what = "no grade" if score is None else "as deserved" if score == deserved else "lowered"
        else:
            near = abs(score - deserved) < 1e-6
            what = "as deserved" if near else "raised" if score > deserved else "lowered"
        fitting = [message for message in messages.get(student, []) if pattern and re.search(pattern, message)]
        graded = {"score": score, "deserved": deserved, "outcome": what, "told": fitting[0] if fitting else ""}
        results.setdefault(student, {}).update(row=row, does=does, ours=graded)
    honest = submissions.get(HONEST, {}).get("score")
    print(f"{len(handed_in)} attacks graded; the honest student has {honest} points")
    write_results(options.out, results)


def sentences(ledger: Path) -> dict[str, list[str]]:
    """What each student was told."""
    by_student = {}
    for line in ledger.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "status" in entry and "student" in entry:
            messages = [mark["message"] for mark in entry["marks"]]
            by_student[entry["student"]] = [*entry["remarks"], *filter(None, [entry["reason"]]), *messages]
    return by_student


def read_results(path: Path) -> dict[str, Any]:
    """The results so far, by student."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write_results(path: Path, results: dict[str, Any]) -> None:
    """Write the results, whole or not at all."""
    text = json.dumps(dict(sorted(results.items())), indent=1, ensure_ascii=True) + "\n"
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


if __name__ == "__main__":
    main()
