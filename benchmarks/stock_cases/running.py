"""What cells do while they run: they leave, wait, ask, use magics and widgets, and take too long."""

from benchmarks.stock_cases.case import Files, StockCase, answers, cell, notebook, tested
from benchmarks.stock_cases.marks import hand_ins

THREE: Files = {
    "p1.ipynb": notebook(
        cell("# YOUR CODE HERE", "first", solution=True),
        cell("assert x == 1", "test1", 1),
        cell("# YOUR CODE HERE", "second", solution=True),
        cell("assert x == 1", "test2", 2),
        cell("YOUR ANSWER HERE", "essay", 3, solution=True, markdown=True),
        cell("assert y == 2", "test3", 4),
    )
}


def second(**students: str) -> dict[str, Files]:
    """The first answer is right, the second does what a student's name says, and a text is written."""
    return {
        name: {"p1.ipynb": answers(first="x, y = 1, 2", second=code, essay="A text.")}
        for name, code in students.items()
    }


SWALLOWS = "while True:\n    try:\n        while True:\n            pass\n    except KeyboardInterrupt:\n        pass"

RUNNING = (
    StockCase(
        "exits",
        "Answers that leave: exit, quit, SystemExit and KeyboardInterrupt; the kernel goes on.",
        THREE,
        second(
            sys_exit="import sys\nsys.exit()",
            sys_exit_1="import sys\nsys.exit(1)",
            calls_exit="exit()",
            calls_quit="quit()",
            names_exit="exit",
            system_exit="raise SystemExit('so')",
            interrupts="raise KeyboardInterrupt",
            stops="raise StopIteration",
            generator_exit="raise GeneratorExit",
            in_test="class X:\n    def __eq__(self, other):\n        raise SystemExit\n\nx = X()",
            base="class Own(BaseException):\n    pass\n\nraise Own('so')",
        ),
    ),
    StockCase(
        "kernel_gone",
        "Answers that end the process: nbgrader cannot grade the submission, and goes on with the next.",
        THREE,
        second(
            a_os_exit="import os\nos._exit(0)",
            b_killed="import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
            c_crash="import ctypes\nctypes.string_at(0)",
            d_abort="import os\nos.abort()",
            e_honest="x = 1",
        ),
    ),
    StockCase(
        "time_out",
        "Answers and tests that take longer than two seconds: loops, sleep, and a loop that cannot be interrupted.",
        THREE,
        second(
            loop="while True:\n    pass",
            sleeps="import time\ntime.sleep(60)",
            loop_with_output="import time\nwhile True:\n    print('so')\n    time.sleep(0.01)",
            test_loops="class X:\n    def __eq__(self, other):\n        while True:\n            pass\n\nx = X()",
            test_catches="class X:\n    def __eq__(self, other):\n        try:\n            while True:\n"
            "                pass\n        except KeyboardInterrupt:\n            return True\n\nx = X()",
            awaits="import asyncio\nawait asyncio.sleep(60)",
            in_time="import time\ntime.sleep(1.2)",
        ),
        config="c.Execute.timeout = 2\n",
    ),
    StockCase(
        "swallows_interrupts",
        "An answer that goes on when it is interrupted.",
        THREE,
        second(forever=SWALLOWS, z_honest="x = 1"),
        config="c.Execute.timeout = 2\n",
    ),
    StockCase(
        "recursion_and_memory",
        "Endless recursion, more memory than there is, and very large outputs.",
        THREE,
        second(
            recursion="def f():\n    return f()\n\nf()",
            memory="x = bytearray(10**15)",
            output="print('x' * 10_000_000)",
            shows="x = 1\n[0] * 10_000_000\n",
            many_outputs="from IPython.display import display\nfor n in range(500):\n    display(n)",
        ),
    ),
    StockCase(
        "asks",
        "Answers that ask for input: nobody answers.",
        THREE,
        second(
            asks="x = int(input('x? '))",
            password="import getpass\nx = getpass.getpass()",
            reads="import sys\nx = int(sys.stdin.readline() or 1)",
            catches="try:\n    x = input()\nexcept Exception as error:\n    x = 1 if 'raw_input' in str(error) else 2",
        ),
    ),
    StockCase(
        "magics",
        "Tests with IPython's magics, shell commands, help and history.",
        {
            "p1.ipynb": tested(
                "# YOUR CODE HERE",
                "%timeit -n 1 -r 1 double(1)",
                "%%bash\necho so",
                "%%bash\nexit 3",
                "!exit 3",
                "names = !echo so\nassert names == ['so']",
                "%load_ext autoreload\n%autoreload 2",
                "%%time\nassert double(2) == 4",
                "%%time\n0.5",
                "%%capture shown\nprint(double(1))",
                "assert shown.stdout.strip() == '2'",
                "%%writefile helper_made.py\nz = 3",
                "from helper_made import z\nassert z == 3",
                "%run helper_made.py\nassert z == 3",
                "double?",
                "%precision 2\n0.123456",
                "%who",
                "1 + 1\nassert In[-1] and _ is not None",
                "assert isinstance(Out, dict)",
                "%no_such_magic",
                "%%html\n<b>so</b>",
                "%%javascript\n1",
                "%%python\nprint(2)",
                "%env SO=3\nimport os\nassert os.environ['SO'] == '3'",
                "%pwd",
                "%cd ..\n%cd -\nassert double(1) == 2",
                "%%script false",
                "%time double(1)",
                "%prun -q double(1)",
                "%matplotlib inline",
                "get_ipython().run_line_magic('precision', '3')\nassert get_ipython() is not None",
                "%xmode Minimal\nassert False",
                "%debug",
                "%%no_such_cell_magic\nx",
                "%config InlineBackend.figure_format = 'svg'",
                "%reset -f\nassert 'double' not in globals()",
            )
        },
        hand_ins(
            right="def double(x):\n    return 2 * x",
            magic="%%time\ndef double(x):\n    return 2 * x",
            shell="import subprocess\n!echo so\n\n"
            "def double(x):\n    return int(subprocess.check_output(['expr', '2', '*', str(x)]))",
            none="pass",
        ),
    ),
    StockCase(
        "awaits",
        "Top-level await, tasks, and a loop that runs already.",
        {
            "p1.ipynb": tested(
                "# YOUR CODE HERE",
                "assert await double(2) == 4",
                "import asyncio\nassert await asyncio.gather(double(1), double(2)) == [2, 4]",
                "import asyncio\nassert asyncio.run(double(1)) == 2",
                "import asyncio\ntask = asyncio.get_running_loop().create_task(double(4))",
                "assert await task == 8",
                "import asyncio\nasync with asyncio.timeout(1):\n    await double(1)",
                "await double(1) / 4",
                "import asyncio\nassert asyncio.get_event_loop().is_running()",
            )
        },
        hand_ins(
            right="import asyncio\n\nasync def double(x):\n    await asyncio.sleep(0.01)\n    return 2 * x",
            plain="def double(x):\n    return 2 * x",
        ),
    ),
    StockCase(
        "widgets",
        "Widgets and figures: what they show, hold and return.",
        {
            "p1.ipynb": tested(
                "# YOUR CODE HERE",
                "slider",
                "assert slider.value == 3",
                "import ipywidgets\nipywidgets.interact(double, x=3)",
                "import ipywidgets\nout = ipywidgets.Output()\nwith out:\n    assert double(1) == 2\nout",
                "with out:\n    1 / 0",
                "slider.value = 4\nassert seen == [4]",
            )
        },
        hand_ins(
            right="import ipywidgets\nslider = ipywidgets.IntSlider(value=3)\nseen = []\n"
            "slider.observe(lambda change: seen.append(change.new), 'value')\n\ndef double(x):\n    return 2 * x",
            wrong="import ipywidgets\nslider = ipywidgets.IntSlider(value=5)\nseen = []\n\n"
            "def double(x):\n    return x",
        ),
    ),
    StockCase(
        "figures",
        "Figures that are shown inline and closed behind each cell.",
        {
            "p1.ipynb": tested(
                "# YOUR CODE HERE",
                "import matplotlib.pyplot as plt\nassert plt.get_fignums() == []",
                "import matplotlib\nassert 'inline' in matplotlib.get_backend()",
                "assert len(axes.lines) == 1",
                "plt.plot([1, 2])",
                "plt.plot([1, 2])\n0.5",
                "plt.show()",
                "plt.plot([1, 2])\nassert len(plt.gcf().axes[0].lines) == 1",
                "plt.title('so')",
                "import matplotlib\nmatplotlib.use('agg')\nplt.plot([1])\nplt.show()",
            )
        },
        hand_ins(
            draws="import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\naxes.plot([1, 2, 3])",
            magic="%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\naxes = plt.gca()",
            none="pass",
        ),
    ),
    StockCase(
        "random_numbers",
        "Random numbers with a seed that one cell sets and another uses.",
        {
            "p1.ipynb": tested(
                "# YOUR CODE HERE",
                "import random\nassert random.random() == 0.13436424411240122",
                "import numpy as np\nassert np.random.rand() == 0.417022004702574",
                "assert abs(np.random.default_rng(1).random() - 0.5118216247002567) < 1e-15",
                "assert random.randint(1, 100) == 98",
            )
        },
        hand_ins(
            seeds="import random\nimport numpy as np\nrandom.seed(1)\nnp.random.seed(1)",
            other="import random\nimport numpy as np\nrandom.seed(2)\nnp.random.seed(2)",
            none="pass",
        ),
    ),
    StockCase(
        "surroundings",
        "What a test can ask of where it runs: names, arguments, environment, modules, threads, processes and sockets.",
        {
            "p1.ipynb": tested(
                "x = 1",
                "assert __name__ == '__main__'",
                "import sys\nassert 'ipykernel' in sys.modules",
                "__file__",
                "import os\nassert os.environ.get('NBGRADER_EXECUTION') == 'autograde'",
                "import os\nassert 'NBGRADER_VALIDATING' not in os.environ",
                "import sys\nassert sys.argv[1:2] == ['-f']",
                "import sys\nsys.modules['__main__'].x = 2\nassert x == 2",
                "import threading\nseen = []\nt = threading.Thread(target=lambda: seen.append(1))\n"
                "t.start()\nt.join()\nassert seen",
                "import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as pool:\n"
                "    assert pool.map(abs, [-1, -2]) == [1, 2]",
                "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n"
                "    assert list(pool.map(abs, [-1])) == [1]",
                "import http.server, threading, urllib.request\n"
                "class Quiet(http.server.SimpleHTTPRequestHandler):\n    def log_message(self, *a):\n        pass\n"
                "server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Quiet)\n"
                "threading.Thread(target=server.serve_forever, daemon=True).start()\n"
                "page = urllib.request.urlopen(f'http://127.0.0.1:{server.server_port}/').status\n"
                "server.shutdown()\nassert page == 200",
                "import tempfile\nwith tempfile.TemporaryFile() as f:\n    f.write(b'so')",
                "from pathlib import Path\np = Path.home() / 'of-stock-equality'\np.write_text('so')\np.unlink()",
                "import sqlite3\nassert sqlite3.connect(':memory:').execute('select 1').fetchone() == (1,)",
                "import inspect\ndef f():\n    return 1\nassert 'return 1' in inspect.getsource(f)",
                "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nassert P(1) == P(1)",
                "import pickle\nassert pickle.loads(pickle.dumps(P(1))) == P(1)",
                "import doctest\ndef g():\n    '''\n    \x3e>> g()\n    1\n    '''\n    return 1\n"
                "assert doctest.testmod().failed == 0",
                "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(1, 1)\n"
                "import io\nr = unittest.TextTestRunner(io.StringIO()).run(\n"
                "    unittest.defaultTestLoader.loadTestsFromTestCase(T))\nassert r.wasSuccessful()",
                "from IPython import get_ipython\nassert get_ipython().__class__.__name__ == 'ZMQInteractiveShell'",
                "import locale, sys\nassert sys.stdout.encoding.lower() == 'utf-8'",
                "print('ä\\u2028\\ud83d\\ude00'.encode('utf-16', 'surrogatepass').decode('utf-16'))",
                "import os\nassert os.getcwd().endswith('ps1')",
                "import signal\nsignal.alarm(1)\nsignal.signal(signal.SIGALRM, lambda *a: None)\n"
                "import time\ntime.sleep(1.2)",
                "import atexit\natexit.register(print)",
                "assert 'x' in dir() and 'x' in globals() and 'x' in locals()",
                "import builtins\nassert callable(builtins.display)",
            )
        },
        hand_ins(any="x = 1"),
    ),
    StockCase(
        "attacks_on_tests",
        "Answers that make tests pass without the right result: they share the process with the tests.",
        {"p1.ipynb": tested("# YOUR CODE HERE", "assert double(2) == 4", "assert double(3) == 6\n1.5")},
        hand_ins(
            transformer="get_ipython().input_transformers_post.append(lambda lines: [])",
            hook="get_ipython().events.register(\n"
            "    'post_run_cell', lambda *a: __import__('IPython').display.clear_output()\n)",
            always="class Equal(int):\n    def __eq__(self, other):\n        return True\n\n"
            "def double(x):\n    return Equal()",
            ast="import ast\nclass Drop(ast.NodeTransformer):\n    def visit_Assert(self, node):\n"
            "        return None\n\n"
            "get_ipython().ast_transformers.append(Drop())",
            run_cell="shell = get_ipython().__class__\nrun = shell.run_cell_async\n\n"
            "async def quiet(self, code, *a, **k):\n    return await run(self, '2', *a, **k)\n\n"
            "shell.run_cell_async = quiet",
            source="import pathlib\npathlib.Path('../../../source/ps1/p1.ipynb').read_text()\ndouble = lambda x: 2 * x",
            honest="def double(x):\n    return x + x",
        ),
    ),
)
