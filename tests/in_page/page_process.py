"""A Python process that has what a page has, for tests that check answers there."""

import json
import subprocess
import sys

from packs import packed

from softlookup_course.in_page.packing import library

IN_PAGE = """
import json, pickle, sys

class Missing:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] in ("torch", "safetensors", "jupytext", "yaml"):
            raise ImportError(f"{name} is not in a page")

sys.meta_path.insert(0, Missing())
sys.path.insert(0, sys.argv[1])
from softlookup_course.in_page import session

assert session.__file__.startswith(sys.argv[1])

def by_table(given):
    left = iter((*given, given[0]))
    def answer(*args):
        result = next(left)
        if result is None:
            raise ValueError("the mistake raises here")
        return result
    return answer

for line in sys.stdin:
    asked = json.loads(line)
    if "given" in asked:
        task = session._session.catalogue.task(asked["task"])
        given = pickle.loads(bytes.fromhex(asked["given"]))
        result, _ = session._session._judged(task, by_table(given))
        said = {"verdict": result.verdict, "named": result.diagnosis, "html": len(session.panel(result))}
    else:
        said = json.loads(session.answer(line))
    print(json.dumps(said), flush=True)
assert "torch" not in sys.modules
"""


class Page:
    """A Python process that has what a page has."""

    def __init__(self, folder):
        self.folder = folder
        path = folder / "softlookup.zip"
        path.write_bytes(library())
        self.process = subprocess.Popen(
            [sys.executable, "-c", IN_PAGE, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.ask({"do": "begin", "book": "../.."})

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        assert "failed" not in reply, reply
        return reply.get("result", reply)

    def load(self, chapter, file=None):
        """Take up a chapter's tasks, or those of a file that was baked."""
        (self.folder / "load").write_bytes(packed(chapter) if file is None else file)
        return self.ask({"do": "load", "chapter": chapter, "path": str(self.folder / "load")})

    def check(self, task_id, source, *before):
        cells = [{"task": name, "source": text} for name, text in (*before, (task_id, source))]
        return self.ask({"do": "check", "task_id": task_id, "cells": cells})
