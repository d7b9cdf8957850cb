"""Files beside notebooks, and assignments of several notebooks."""

from benchmarks.stock_cases.case import (
    Files,
    StockCase,
    answers,
    both,
    cell,
    insert,
    notebook,
    tested,
    unchanged,
    without,
)

DATA = "name,value\na,1\nb,2\n"
HELPER = "def helped():\n    return 1\n"
OTHER_HELPER = "def helped():\n    return 2\n"
READS = tested(
    "# YOUR CODE HERE",
    "from helper import helped\nassert helped() == 1",
    "from helper import helped\nassert helped() == 2",
    "assert open('data.csv').read().count('\\n') == 3",
    "assert open('folder/deep/more.txt').read() == 'more'",
    "open('written.txt').read()\n0.5",
)
FOLDER: Files = {
    "p1.ipynb": READS,
    "helper.py": HELPER,
    "data.csv": DATA,
    "folder/deep/more.txt": "more",
    "binary.bin": bytes(range(256)),
}
P1: Files = {"p1.ipynb": unchanged}


def tests_of(text: str) -> bytes:
    """A notebook of an answer and two tests of a file's text."""
    return tested("# YOUR CODE HERE", f"assert open('shared.txt').read() == {text!r}", "import os\nassert os.listdir()")


FILES = (
    StockCase(
        "files_beside",
        "Files of the source, which students change, delete or add to; one of the tests wants what was written.",
        FOLDER,
        {
            "nothing-else": P1,
            "changed": {**P1, "helper.py": OTHER_HELPER, "data.csv": "one\n", "folder/deep/more.txt": "less"},
            "added": {**P1, "written.txt": "so", "folder/another.txt": "so"},
            "writes": {"p1.ipynb": answers(answer="open('written.txt', 'w').write('so')")},
            "writes-over": {"p1.ipynb": answers(answer="open('data.csv', 'w').write('so')")},
            "removes": {"p1.ipynb": answers(answer="import os\nos.remove('helper.py')\nos.remove('data.csv')")},
            "shadows": {**P1, "random.py": "1 / 0", "helper/__init__.py": OTHER_HELPER},
            "file-for-folder": {**P1, "folder.txt": "so", ".hidden": "so", "helper.pyc": b"so"},
        },
    ),
    StockCase(
        "exclude_overwriting",
        "Files that the course's settings leave to the students, one of them in a folder.",
        FOLDER,
        {
            "nothing-else": P1,
            "changed": {**P1, "helper.py": OTHER_HELPER, "data.csv": "one\n", "folder/deep/more.txt": "less"},
        },
        config='c.Autograde.exclude_overwriting = {"ps1": ["helper.py", "folder/deep/more.txt"]}\n',
    ),
    StockCase(
        "own_module",
        "Students hand in a module of their own beside the notebook.",
        {"p1.ipynb": tested("# YOUR CODE HERE", "assert double(2) == 4", "assert double(-2) == -4")},
        {
            "module": {
                "p1.ipynb": answers(answer="from mine_too import double"),
                "mine_too.py": "def double(x):\n    return 2 * x\n",
            },
            "package": {
                "p1.ipynb": answers(answer="from tools.twice import double"),
                "tools/__init__.py": "",
                "tools/twice.py": "def double(x):\n    return abs(2 * x)\n",
            },
            "forgotten": {"p1.ipynb": answers(answer="from mine_too import double")},
            "run": {
                "p1.ipynb": answers(answer="%run script.py"),
                "script.py": "def double(x):\n    return 2 * x\n",
            },
            "reads": {
                "p1.ipynb": answers(answer="exec(open('script.txt').read())"),
                "script.txt": "def double(x):\n    return 2 * x\n",
            },
        },
    ),
    StockCase(
        "ignored_files",
        "Files that the course's settings ignore, in the source and in submissions.",
        {
            "p1.ipynb": tested("x = 1", "import os\nassert not os.path.exists('a.tmp')", "open('a.dat')"),
            "a.dat": "so",
        },
        {"both": {**P1, "a.tmp": "so", "a.dat": "other"}},
        config='c.CourseDirectory.ignore = ["*.tmp", "*.dat"]\n',
    ),
    StockCase(
        "several_notebooks",
        "Three notebooks: all handed in, some, none, and more than were asked for.",
        {
            "p1.ipynb": tests_of("first"),
            "p2.ipynb": tests_of("first"),
            "third one.ipynb": tests_of("first second"),
            "shared.txt": "source",
        },
        {
            "each": {
                "p1.ipynb": answers(answer="open('shared.txt', 'w').write('first')"),
                "p2.ipynb": unchanged,
                "third one.ipynb": answers(answer="open('shared.txt', 'a').write(' second')"),
            },
            "order": {
                "p1.ipynb": unchanged,
                "p2.ipynb": answers(answer="open('shared.txt', 'w').write('first')"),
                "third one.ipynb": unchanged,
            },
            "memory": {
                "p1.ipynb": answers(answer="kept_in_memory = 1\nopen('shared.txt', 'w').write('first')"),
                "p2.ipynb": answers(answer="assert kept_in_memory\nopen('shared.txt', 'w').write('second')"),
                "third one.ipynb": unchanged,
            },
            "two": {"p1.ipynb": unchanged, "third one.ipynb": unchanged},
            "another": {"p1.ipynb": unchanged, "p4.ipynb": tests_of("so"), "P2.ipynb": tests_of("so")},
            "only-another": {"p4.ipynb": tests_of("so")},
            "in-a-folder": {"ps1/p1.ipynb": READS, "p2.ipynb": unchanged},
            "none": {},
        },
    ),
    StockCase(
        "a_notebook_that_fails",
        "Three notebooks, of which nbgrader cannot grade the second: the kernel is gone.",
        {"p1.ipynb": tests_of("so"), "p2.ipynb": tests_of("so"), "p3.ipynb": tests_of("so"), "shared.txt": "so"},
        {
            "a-gone": {
                "p1.ipynb": unchanged,
                "p2.ipynb": answers(answer="import os\nos._exit(1)"),
                "p3.ipynb": unchanged,
            },
            "b-honest": {"p1.ipynb": unchanged, "p2.ipynb": unchanged, "p3.ipynb": unchanged},
        },
    ),
    StockCase(
        "late_notebooks",
        "A late submission of two notebooks: each loses all its points.",
        {"p1.ipynb": tests_of("so"), "p2.ipynb": tests_of("so"), "shared.txt": "so"},
        {
            "late": {"p1.ipynb": unchanged, "p2.ipynb": unchanged, "timestamp.txt": "2025-01-02 00:00:00 UTC"},
            "late-one": {"p1.ipynb": unchanged, "timestamp.txt": "2025-01-02 00:00:00 UTC"},
            "in-time": {"p1.ipynb": unchanged, "p2.ipynb": unchanged, "timestamp.txt": "2025-01-01 00:00:00 UTC"},
            "no-time": {"p1.ipynb": unchanged, "p2.ipynb": unchanged},
        },
        config="c.LateSubmissionPlugin.penalty_method = 'zero'\n",
        due="2025-01-01 12:00:00 UTC",
    ),
    StockCase(
        "late_by_a_plugin",
        "Plugins of the course's whose penalties are fractions, negative, or none; students with their own rule.",
        {"p1.ipynb": tests_of("so"), "shared.txt": "so"},
        {
            name: {**P1, "timestamp.txt": "2025-01-02 00:00:00 UTC"}
            for name in ("fraction", "negative", "nothing", "everything")
        },
        config="c.AssignLatePenalties.plugin_class = 'late_rule.Late'\n",
        beside={
            "late_rule.py": "from nbgrader.plugins import BasePlugin\n\n\nclass Late(BasePlugin):\n"
            "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n"
            "        rules = dict(fraction=0.25 * score, negative=-1, nothing=None, everything=100)\n"
            "        return rules[student_id]\n"
        },
        due="2025-01-01 12:00:00 UTC",
    ),
    StockCase(
        "another_layout",
        "A course with other folders, and folders by assignment and student.",
        {"p1.ipynb": tests_of("so"), "shared.txt": "so"},
        {"right": P1, "wrong": {"p1.ipynb": answers(answer="open('shared.txt', 'w')")}},
        config='c.CourseDirectory.submitted_directory = "handed_in"\n'
        'c.CourseDirectory.directory_structure = "{nbgrader_step}/{assignment_id}/{student_id}"\n',
    ),
    StockCase(
        "names_of_students",
        "Ids with dots, spaces, accents, signs and capitals.",
        {"p1.ipynb": tests_of("so"), "shared.txt": "so"},
        {name: P1 for name in ("ann.b@uni.edu", "Zoë", "two words", "o'neil", "A-B_C", "007", "x+y", "名前")},
    ),
    StockCase(
        "names_of_notebooks",
        "Notebooks with spaces, dots and accents in their names, and cells with names of many kinds.",
        {
            "Problem 1.ipynb": tests_of("so"),
            "hw.2.ipynb": tests_of("so"),
            "Übung.ipynb": notebook(
                cell("# YOUR CODE HERE", "cell-0123456789abcdef", solution=True),
                cell("assert x", "test_1-a", 1),
                cell("assert x", "0", 1),
            ),
            "shared.txt": "so",
        },
        {
            "some": {
                "Problem 1.ipynb": unchanged,
                "hw.2.ipynb": answers(answer="open('shared.txt', 'w')"),
                "Übung.ipynb": answers({"cell-0123456789abcdef": "x = 1"}),
            }
        },
    ),
    StockCase(
        "header",
        "A course that puts a header before each notebook.",
        {"p1.ipynb": tested("# YOUR CODE HERE", "assert seed == 3", "assert y == 4")},
        {
            "right": {"p1.ipynb": answers(answer="y = seed + 1")},
            "changed": {"p1.ipynb": both(answers(answer="y = seed + 1"), insert(1, "seed = 5"))},
            "deleted": {"p1.ipynb": both(answers(answer="y = 4"), without("test2"))},
        },
        config='c.IncludeHeaderFooter.header = "header.ipynb"\n',
        beside={"header.ipynb": notebook("seed = 3")},
    ),
)
