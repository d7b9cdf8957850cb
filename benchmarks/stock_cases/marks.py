"""How points come from outputs: partial credit, messages on stderr, and tests without points."""

from benchmarks.stock_cases.case import Files, StockCase, answers, cell, notebook, tested

STUB = "credit = None"


def hand_in(answer: str) -> Files:
    """The released notebook with an answer."""
    return {"p1.ipynb": answers(answer=answer)}


def hand_ins(**students: str) -> dict[str, Files]:
    """Answers by student."""
    return {name: hand_in(answer) for name, answer in students.items()}


SHOWS = "class Shown:\n    def __repr__(self):\n        return {!r}\n\ncredit = Shown()"

MARKS = (
    StockCase(
        "partial_credit",
        "A test of two points whose last line is a number, as each student's answer makes it.",
        {"p1.ipynb": tested(STUB, "credit")},
        hand_ins(
            half="credit = 0.5",
            whole="credit = 2",
            zero="credit = 0",
            tiny="credit = 1e-3",
            boolean="credit = True",
            negative="credit = -0.5",
            text="credit = 'done'",
            number_as_text="credit = '0.5'",
            nothing="credit = None",
            missing="del credit",
            array="import numpy as np\ncredit = np.array(0.5)",
            numpy="import numpy as np\ncredit = np.float64(0.5)",
            integer="import numpy as np\ncredit = np.int64(1)",
            decimal="import decimal\ncredit = decimal.Decimal('0.5')",
            fraction="import fractions\ncredit = fractions.Fraction(1, 2)",
            complex="credit = 1 + 0j",
            listed="credit = [0.5]",
            nan="credit = float('nan')",
            shows_half=SHOWS.format("0.5"),
            shows_space=SHOWS.format(" 0.5 "),
            shows_line=SHOWS.format("0.5\n"),
            shows_two=SHOWS.format("0.5\n0.5"),
            shows_nothing=SHOWS.format(""),
            shows_underscore=SHOWS.format("0_1"),
            shows_digits=SHOWS.format("\u0661"),
            cannot_be_shown="class Bad:\n    def __repr__(self):\n        raise ValueError\n\ncredit = Bad()",
        ),
    ),
    StockCase(
        "partial_credit_refused",
        "A number at the end of a test that is more than its points: nbgrader cannot grade the submission.",
        {
            "p1.ipynb": notebook(
                cell("# YOUR CODE HERE", "answer", solution=True),
                cell("assert True", "before", 1),
                cell("credit", "test", 2),
                cell("assert True", "behind", 1),
                cell("YOUR ANSWER HERE", "essay", 3, solution=True, markdown=True),
            )
        },
        hand_ins(
            a_honest="credit = 1.5", b_more="credit = 2.5", c_infinite="credit = float('inf')", d_less="credit = 1"
        ),
    ),
    StockCase(
        "partial_credit_ways",
        "Partial credit behind a semicolon, in the middle, printed, displayed, computed, and after a failure.",
        {
            "p1.ipynb": tested(
                "# YOUR CODE HERE",
                "0.5 ;",
                "0.5\nx = 1",
                "print(0.5)",
                "from IPython.display import display\ndisplay(0.5)",
                "1 * right(1) + 0.5 * right(2)",
                "print(1)\n1.5",
                "from IPython.display import display, HTML\ndisplay(HTML('<b>1</b>'))\n0.25",
                "assert right(1)\n1.5",
                "import IPython\nIPython.display.HTML('<b>1</b>')",
                "_ = 0.5\n_",
                "if right(1):\n    0.5",
                "score = 0\nfor n in (1, 2, 3):\n    try:\n        assert right(n)\n        score += 0.5\n"
                "    except Exception:\n        pass\nscore",
                "0.5  # half",
                "import numpy as np\nnp.float64(1.5)",
                "lambda: 0.5",
                "",
                "# a comment",
                "round(2 / 3, 2)",
            )
        },
        hand_ins(
            none="pass",
            some="def right(n):\n    return n == 1",
            every="def right(n):\n    return True",
            interactivity="get_ipython().ast_node_interactivity = 'all'\n\ndef right(n):\n    return n == 2",
        ),
    ),
    StockCase(
        "whole_points",
        "Points with fractions, none at all, many, and a notebook in which everything is worth nothing.",
        {
            "p1.ipynb": notebook(
                cell("# YOUR CODE HERE", "answer", solution=True),
                cell("assert x", "tenth", 0.1),
                cell("assert x", "third", 0.333),
                cell("assert x", "none", 0),
                cell("x", "none-number", 0),
                cell("assert x", "many", 1000000),
                cell("x / 3", "number", 1),
                cell("", "task", 0, task=True),
                cell("YOUR ANSWER HERE", "essay", 0, solution=True, markdown=True),
            ),
            "p2.ipynb": notebook(
                cell("# YOUR CODE HERE", "answer", solution=True), cell("assert x", "zero", 0), cell("1 / 0", "also", 0)
            ),
        },
        {
            "right": {"p1.ipynb": answers(answer="x = 0 or True"), "p2.ipynb": answers(answer="x = 1")},
            "wrong": {"p1.ipynb": answers(answer="x = 0", essay="Words."), "p2.ipynb": answers(answer="x = 0")},
        },
    ),
    StockCase(
        "stderr",
        "Tests that pass and write to stderr, in all the ways there are: nbgrader counts it as a failure.",
        {
            "p1.ipynb": tested(
                "# YOUR CODE HERE",
                "import sys\nprint('so', file=sys.stderr)",
                "import warnings\nwarnings.warn('careful')",
                "import logging\nlogging.warning('careful')",
                "import logging\nlogging.info('nothing')",
                "!echo so >&2",
                "%%bash\necho so >&2",
                "import os\nos.write(2, b'so')\nimport time\ntime.sleep(0.3)",
                "import subprocess\nsubprocess.run('echo so >&2', shell=True)\nimport time\ntime.sleep(0.3)",
                "import sys\nsys.stderr.write('')",
                "import sys\nprint('so', file=sys.__stderr__)",
                "answer()",
                "import warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n    answer()",
                "import contextlib, io\nwith contextlib.redirect_stderr(io.StringIO()):\n    answer()",
                "import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()",
                "import threading\nthread = threading.Thread(target=lambda: 1 / 0)\nthread.start()\nthread.join()",
                "import sys\nprint('so', file=sys.stderr)\n0.5",
                "0.5",
            )
        },
        hand_ins(
            quiet="def answer():\n    return None",
            warns="import warnings\n\ndef answer():\n    warnings.warn('slow', DeprecationWarning)",
            prints="import sys\n\ndef answer():\n    print('here', file=sys.stderr)",
            one_half="import sys\nprint('only here', file=sys.stderr)\n\ndef answer():\n    return 0.5",
        ),
    ),
    StockCase(
        "ignore_pattern",
        "A course whose settings have some words on stderr ignored.",
        {
            "p1.ipynb": tested(
                "# YOUR CODE HERE",
                "import warnings\nwarnings.warn('careful')",
                "import sys\nprint('so', file=sys.stderr)",
                "import sys\nprint('careful', file=sys.stderr)\n1",
            )
        },
        hand_ins(any="pass"),
        config='c.IgnorePattern.enabled = True\nc.IgnorePattern.pattern = "careful"\n',
    ),
    StockCase(
        "limit_output",
        "Tests that print more lines than nbgrader keeps, before a number, before stderr, and before an error.",
        {
            "p1.ipynb": tested(
                "# YOUR CODE HERE",
                "print('\\n' * 2000)\n0.5",
                "print('\\n' * 2000)\nimport sys\nprint('so', file=sys.stderr)",
                "print('\\n' * 2000)\n1 / 0",
                "print('x' * 300_000)\n0.5",
                "print('x' * 300_000)\nimport sys\nprint('so', file=sys.stderr)",
                "for n in range(5000):\n    print('a line of a loop that says a lot', n)\n1.5",
                "for n in range(5000):\n    print('a line of a loop that says a lot', n)\nassert False",
            )
        },
        hand_ins(any="pass"),
    ),
    StockCase(
        "clear_output",
        "Tests that clear their outputs, of a message on stderr and before an error.",
        {
            "p1.ipynb": tested(
                "from IPython.display import clear_output",
                "import sys\nprint('so', file=sys.stderr)\nclear_output()",
                "clear_output()\nassert False",
                "import sys\nprint('so', file=sys.stderr)\nclear_output(wait=True)\nprint('new')",
                "from IPython.display import display\nh = display(1, display_id=True)\nh.update(0.5)",
            )
        },
        hand_ins(any="from IPython.display import clear_output\nx = 1"),
    ),
)
