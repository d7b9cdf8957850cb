"""Attacks by the shape of what is handed in: metadata, cells, files and folders. Rows 1, 17 to 22, 34, 38 to 43."""

import io
import json
import pickle
import zipfile
from collections.abc import Iterator

import nbformat
from nbformat import NotebookNode

from attacks import remarks
from attacks.handin import (
    ALL,
    NOTHING,
    OTHERS,
    TRACE,
    Bench,
    HostileHandIn,
    as_bytes,
    changed,
    copied,
)
from softlookup_grader.course.notebooks import grade_id

LARGE_BYTES = 60_000_000
"""More than a notebook may have."""

MANY_CELLS = 100_000


def hand_ins(bench: Bench) -> Iterator[HostileHandIn]:
    """The hand-ins of this kind."""
    yield from _metadata(bench)
    yield from _cells(bench)
    yield from _beside(bench)
    yield from _links(bench)
    yield from _archives(bench)
    yield from _files(bench)
    yield from _large(bench)


def _checks(bench: Bench, notebook: NotebookNode) -> list[NotebookNode]:
    return [changed(notebook, f"{task.slug}-check") for task in bench.tasks]


def _metadata(bench: Bench) -> Iterator[HostileHandIn]:
    slug = bench.target.slug
    notebook = bench.wrong()
    for cell in _checks(bench, notebook):
        cell.metadata["tags"] = ["skip-execution", "raises-exception", "remove-output"]
    yield bench.whole("skip-execution", 1, "tags the test cells skip-execution", notebook, OTHERS)

    notebook = bench.wrong()
    changed(notebook, slug).metadata.nbgrader["schema_version"] = 99
    yield bench.whole("schema-version", 17, "claims that its metadata come from a later nbgrader", notebook, OTHERS)

    notebook = bench.wrong()
    changed(notebook, slug).metadata.nbgrader["schema_version"] = 1
    changed(notebook, f"{slug}-check").metadata.nbgrader.pop("schema_version")
    yield bench.whole("schema-version-old", 17, "metadata of an old nbgrader", notebook, OTHERS)

    notebook = bench.wrong()
    for cell in _checks(bench, notebook):
        cell.metadata.nbgrader["grade"] = False
    yield bench.whole("grade-false", 19, "says grade: false in every test cell", notebook, OTHERS)

    notebook = bench.wrong()
    for cell in _checks(bench, notebook):
        cell.metadata.nbgrader["points"] = 1000
    changed(notebook, slug).metadata.nbgrader.update(points=1000, grade=True, locked=True)
    yield bench.whole("points", 22, "says points: 1000, and marks its own cell as a test", notebook, OTHERS)

    notebook = bench.wrong()
    kinds: tuple[object, ...] = (None, [], "text", {"grade_id": {}}, {"grade_id": 3}, {"grade_id": ["a"], "grade": 1})
    for kind in kinds:
        bench.add_cell(notebook, "# a cell of my own", {"nbgrader": kind})
    notebook.metadata.update(nbgrader=[1], softlookup=None)
    yield bench.whole("metadata-kinds", 0, "metadata that are lists, numbers and nothing", notebook, OTHERS)

    notebook = bench.wrong()
    notebook.metadata["kernelspec"] = {"name": "../../../bin/sh", "language": "sh", "display_name": "sh"}
    yield bench.whole("kernel", 0, "asks for another kernel", notebook, OTHERS)

    notebook = bench.wrong()
    cell = changed(notebook, f"{slug}-check")
    data = {
        "text/plain": "1000.0",
        "application/vnd.softlookup.verdict+json": {"task": bench.target.id, "verdict": "pass"},
    }
    cell.outputs = [nbformat.v4.new_output("execute_result", data, execution_count=1)]
    cell.source = "1000.0"
    yield bench.whole("outputs", 0, "writes a test cell's output itself", notebook, OTHERS, remark=remarks.TEST_CELLS)


def _cells(bench: Bench) -> Iterator[HostileHandIn]:
    slug = bench.target.slug
    notebook = bench.notebook()
    cell = copied(changed(notebook, slug))
    cell.id = "doubled"
    notebook.cells.insert(notebook.cells.index(changed(notebook, slug)), cell)
    yield bench.whole(
        "doubled", 18, "an innocently doubled cell, both right", notebook, ALL, remark=remarks.DOUBLED_CELLS
    )

    notebook = bench.wrong()
    cell = copied(changed(notebook, f"{slug}-check"))
    cell.id, cell.source = "doubled", "pass"
    notebook.cells.append(cell)
    yield bench.whole(
        "doubled-check",
        18,
        "a second test cell that tests nothing",
        notebook,
        OTHERS,
        remark=f"{remarks.DOUBLED_CELLS}|{remarks.TEST_CELLS}",
    )

    notebook = bench.wrong()
    checks = [grade_id(cell) for cell in _checks(bench, notebook)]
    notebook.cells = [cell for cell in notebook.cells if grade_id(cell) not in checks]
    yield bench.whole("deleted-checks", 20, "deletes every test cell", notebook, OTHERS, remark=remarks.MISSING_CELLS)

    notebook = bench.wrong()
    for cell in _checks(bench, notebook):
        cell.source = "None"
    yield bench.whole("emptied-checks", 20, "empties every test cell", notebook, OTHERS, remark=remarks.TEST_CELLS)

    notebook = bench.notebook()
    notebook.cells = notebook.cells[::-1]
    yield bench.whole("reversed", 21, "right, with all cells in reverse order", notebook, ALL)

    notebook = bench.notebook()
    cell = changed(notebook, slug)
    del cell["outputs"], cell["execution_count"]
    cell.cell_type = "markdown"
    yield bench.whole("markdown", 22, "a right answer whose cell was turned into text", notebook, ALL)

    notebook = bench.notebook()
    notebook.cells = [cell for cell in notebook.cells if grade_id(cell) != f"{bench.tasks[0].slug}-check"]
    notebook = bench.add_cell(notebook, "import os\nos._exit(0)\n")
    yield bench.whole(
        "exit-extra",
        25,
        "right, with a cell of its own that ends the process",
        notebook,
        ALL,
        remark=remarks.EXTRA_CELLS,
    )

    notebook = bench.wrong()
    alike = copied(changed(notebook, slug))
    alike.id, alike.source = "alike", bench.right[slug] + "\ncheck = print\n"
    alike.metadata.nbgrader["grade_id"] = slug.translate(str.maketrans("aeiocpx", "аеіосрх")) + "\u200b"
    notebook.cells.append(alike)
    yield bench.whole("look-alike-cell", 43, "a cell whose name only looks the same", notebook, OTHERS)


def _beside(bench: Bench) -> Iterator[HostileHandIn]:
    wrong = bench.wrong()
    trick = b"check = lambda *given, **named: None\nCheckResult = object\n"
    raising = b"raise SystemExit('this module is not what you think')\n"
    files = {
        "softlookup/__init__.py": trick,
        "softlookup/checking/__init__.py": trick,
        "softlookup/checking/home.py": trick,
    }
    yield bench.whole("shadow-softlookup", 34, "a package softlookup beside the notebook", wrong, OTHERS, files=files)
    files = {f"{name}.py": raising for name in ("numpy", "torch", "json", "IPython", "struct", "socket", "random")}
    yield bench.whole(
        "shadow-modules", 34, "numpy.py, torch.py and others beside the notebook", wrong, OTHERS, files=files
    )
    hook = f"import pathlib\npathlib.Path('{TRACE}-site').touch()\n".encode()
    files = {"sitecustomize.py": hook, "usercustomize.py": hook, ".ipython/profile_default/startup/00.py": hook}
    files |= {"ipython_config.py": hook, "nbgrader_config.py": hook, "jupyter_config.py": hook, "conftest.py": hook}
    yield bench.whole(
        "shadow-settings", 35, "settings and start-up files beside the notebook", wrong, OTHERS, files=files
    )
    shell = f"cos\nsystem\n(S'touch {TRACE}-pickled'\ntR.".encode()
    files = {"weights.pt": shell, "answers.pkl": shell, "array.npy": b"\x93NUMPY\x01\x00v\x00" + shell}
    read = "import pathlib, pickle\nif pathlib.Path('answers.pkl').exists():\n"
    read += "    pickle.loads(pathlib.Path('answers.pkl').read_bytes())\n\n\n"
    yield bench.whole(
        "pickles", 42, "pickles beside the notebook that run a command", bench.wrong(before=read), OTHERS, files=files
    )
    notebook = bench.wrong()
    pickled = pickle.dumps({"verdict": "pass"}).hex()
    notebook.metadata["softlookup"] = changed(notebook, bench.target.slug).metadata["pickle"] = pickled
    yield bench.whole("pickled-metadata", 42, "pickled verdicts in the metadata", notebook, OTHERS)
    stamp = {"timestamp.txt": b"2001-01-01 00:00:00 UTC\n"}
    yield bench.whole(
        "timestamp", 41, "says that it was handed in twenty years ago", bench.notebook(), ALL, files=stamp
    )
    stamp = {"timestamp.txt": b"next tuesday \xff\n"}
    yield bench.whole("timestamp-broken", 41, "a timestamp that is none", bench.notebook(), ALL, files=stamp)
    notebook = bench.wrong()
    notebook.metadata.update(student="honest-1", student_id="honest-1", nbgrader={"student": "honest-1"})
    files = {
        "honest-1/notebook.ipynb": as_bytes(bench.notebook()),
        "student.txt": b"honest-1",
    }
    yield bench.whole("other-student", 41, "claims to be another student", notebook, OTHERS, files=files)
    files = {"other.ipynb": as_bytes(bench.notebook()), f"copy/{bench.file}": as_bytes(bench.notebook())}
    yield bench.whole("two-notebooks", 41, "a second notebook beside the first", bench.wrong(), OTHERS, files=files)


def _links(bench: Bench) -> Iterator[HostileHandIn]:
    def linked(name: str, does: str, links: dict[str, str], **more: object) -> HostileHandIn:
        deserves = bench.deserves(NOTHING)
        return HostileHandIn(f"attack-38-{name}", 38, does, {}, deserves, stops=True, links=links, **more)  # type: ignore[arg-type]

    source = f"../../../source/{bench.file.removesuffix('.ipynb')}/{bench.file}"
    yield linked("link-to-source", "a link to the instructor's solution", {bench.file: source}, remark=remarks.LINK)
    other = f"../../honest-1/{bench.file.removesuffix('.ipynb')}/{bench.file}"
    yield linked("link-to-student", "a link to another student's notebook", {bench.file: other}, remark=remarks.LINK)
    yield linked("link-to-device", "a link to a file that never ends", {bench.file: "/dev/zero"}, remark=remarks.LINK)
    yield linked("link-to-itself", "a link that leads to itself", {bench.file: bench.file}, remark=remarks.LINK)
    yield linked(
        "pipe", "a named pipe where the notebook should be", {}, pipes=(bench.file,), remark=remarks.NOT_A_FILE
    )
    links = {"data.txt": "../../../gradebook.db", "all": "../../..", "shadow": "/etc/shadow"}
    yield bench.whole(
        "links-beside",
        38,
        "links to the gradebook and the course beside the notebook",
        bench.wrong(),
        OTHERS,
        links=links,
    )
    folder = {f"{bench.file}/inside.txt": b"a folder"}
    yield HostileHandIn(
        "attack-38-folder",
        38,
        "a folder where the notebook should be",
        folder,
        bench.deserves(NOTHING),
        remarks.NOT_A_FILE,
        stops=True,
    )


def _archives(bench: Bench) -> Iterator[HostileHandIn]:
    """What zip_collect is given: names as learning platforms make them, contents as nobody should."""
    good = as_bytes(bench.wrong())
    inside = {
        "outside": {"../../gradebook.db": b"no database", f"../../../../{TRACE}-zip": b"x", bench.file: good},
        "absolute": {f"/tmp/{TRACE}-zip": b"x", bench.file: good},
        "backslashes": {f"..\\..\\{TRACE}-zip": b"x", bench.file: good},
        "bomb": {"zeros.bin": bytes(200_000_000), bench.file: good},
        "many": {**{f"{n}/{n}.txt": b"" for n in range(20_000)}, bench.file: good},
        "doubled": {bench.file: good, f"./{bench.file}": b"{}"},
    }
    for name, entries in inside.items():
        yield _archive(bench, name, _zipped(entries))
    link = zipfile.ZipInfo(bench.file)
    link.create_system, link.external_attr = 3, 0o120777 << 16
    yield _archive(bench, "link", _zipped({link: b"../../../source"}))
    yield _archive(bench, "broken", _zipped({bench.file: good})[:-40])


def _archive(bench: Bench, name: str, raw: bytes) -> HostileHandIn:
    student = f"attack-39-zip-{name}"
    does = f"a zip file with something wrong in it: {name}"
    return HostileHandIn(
        student, 39, does, {}, bench.deserves(NOTHING), remarks.ARCHIVE, archive={f"{student}.zip": raw}
    )


def _zipped(entries: dict) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


def _files(bench: Bench) -> Iterator[HostileHandIn]:
    sound = as_bytes(bench.notebook())
    text = sound.decode()
    broken = {
        "half": (sound[: len(sound) // 2], "a file that breaks off in the middle", remarks.NOT_A_NOTEBOOK),
        "rubbish": (bytes(range(256)) * 400, "bytes that are no text", remarks.NOT_A_NOTEBOOK),
        "empty": (b"", "an empty file", remarks.EMPTY),
        "spaces": (b" \n" * 1000, "a file of blanks", remarks.EMPTY),
        "deep": (b"[" * 2_000_000, "two million brackets", remarks.NOT_A_NOTEBOOK),
        "deep-metadata": (
            text.replace('"metadata": {', '"metadata": {"x": ' + "[" * 50_000 + "]" * 50_000 + ", ", 1).encode(),
            "metadata of 50,000 lists inside each other",
            remarks.NOT_A_NOTEBOOK,
        ),
        "huge-number": (
            b'{"nbformat": 4, "cells": [], "metadata": {"x": ' + b"9" * 100_000 + b"}}",
            "a number of 100,000 digits",
            remarks.NOT_A_NOTEBOOK,
        ),
        "list": (b"[1, 2, 3]", "JSON that is no notebook", remarks.NOT_A_NOTEBOOK),
        "nbformat-99": (
            b'{"nbformat": 99, "nbformat_minor": 0, "metadata": {}, "cells": []}',
            "a notebook of the future",
            remarks.OTHER_FORMAT,
        ),
        "cells-kinds": (
            b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": {"a": 1}}',
            "cells that are no list",
            remarks.NOT_A_NOTEBOOK,
        ),
        "utf-16": (text.encode("utf-16"), "a sound notebook in UTF-16", remarks.NOT_A_NOTEBOOK),
    }
    for name, (raw, does, says) in broken.items():
        yield bench.whole(f"file-{name}", 40, does, raw, NOTHING, stops=True, remark=says)
    old = json.dumps(nbformat.convert(copied(bench.notebook()), 3)).encode()
    yield bench.whole(
        "file-nbformat-3", 40, "a notebook in nbformat 3", old, NOTHING, stops=True, remark=remarks.OTHER_FORMAT
    )
    slug = bench.target.slug
    notebook = bench.notebook()
    changed(notebook, slug).source = "LONE = '\ud800'  # \udc00\n" + bench.right[slug]
    yield bench.whole("surrogates-in-cell", 0, "right, with characters that no file can hold", notebook, ALL)
    changed(notebook, slug).source = "NULL = '\x00'\n" + bench.right[slug]
    yield bench.whole("null-in-cell", 0, "a cell with a null character, which is no Python", notebook, OTHERS)
    notebook = bench.notebook()
    for cell in notebook.cells:
        cell.source = cell.source.splitlines(keepends=True)
    yield bench.whole("lines", 0, "right, with each cell as a list of lines", notebook, ALL)
    notebook = bench.wrong()
    changed(notebook, slug).source = [["def"], 3, None]
    yield bench.whole("source-kinds", 0, "a cell whose text is a list of numbers", notebook, OTHERS)
    alike = bench.file.translate(str.maketrans("aeoc", "аеос"))
    student = "attack-43-look-alike-file"
    yield HostileHandIn(
        student,
        43,
        "a notebook whose name only looks the same",
        {alike: sound},
        bench.deserves(NOTHING),
        remarks.NO_FILE,
        stops=True,
    )


def _large(bench: Bench) -> Iterator[HostileHandIn]:
    notebook = bench.wrong()
    out = nbformat.v4.new_output("stream", text="x" * LARGE_BYTES)
    changed(notebook, bench.target.slug).outputs = [out]
    yield bench.whole(
        "large", 43, "a notebook of 60 MB", as_bytes(notebook), NOTHING, stops=True, remark=remarks.TOO_LARGE
    )
    out.text = "x" * 10_000_000
    yield bench.whole("large-outputs", 43, "outputs of 10 MB, which nobody needs", notebook, OTHERS)
    notebook = bench.wrong()
    blank: dict[str, object] = {
        "cell_type": "code",
        "source": "check = None",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    notebook.cells += [{**blank, "id": f"many-{number}"} for number in range(MANY_CELLS)]
    yield bench.whole("many-cells", 43, "100,000 cells more", notebook, OTHERS, remark=remarks.EXTRA_CELLS)
    notebook = bench.wrong(before="x = [\n" + "    0,\n" * 300_000 + "]\n")
    yield bench.whole("long-cell", 43, "a cell of 300,000 lines", notebook, OTHERS)
    nested = "(" * 5000 + ")" * 5000
    notebook = bench.wrong(before="")
    changed(notebook, bench.target.slug).source = f"x = {nested}\n" + bench.fill("$WRONG", bench.target)
    yield bench.whole("deep-code", 0, "brackets that no compiler takes", notebook, OTHERS)
