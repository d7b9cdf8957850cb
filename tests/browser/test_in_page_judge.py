"""The judge in a page's own Python: every task, with its published solution and every known mistake, as at home."""

import base64
import json
import pickle
from dataclasses import replace

import pytest

from softlookup_course.in_page.packing import chosen
from softlookup_inside.asking.calm import calm_torch
from softlookup_inside.asking.probe import run
from softlookup_judge import check
from softlookup_judge.checking.catalogue import CHAPTERS
from softlookup_judge.data.published import answer
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import questions_at_home

pytestmark = [pytest.mark.browser, pytest.mark.book, pytest.mark.slow]

WORKER = """async () => {
  const { worker: source, pieces, ...packed } = globalThis.softlookupPython;
  const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const waiting = new Map();
  worker.onmessage = ({ data }) => waiting.get(data.number)(data);
  let number = 0;
  globalThis.send = (message) => new Promise((done) => {
    number += 1;
    waiting.set(number, done);
    worker.postMessage({ ...message, number });
  });
  const begun = send({ begin: { ...packed, book: ".." } });
  for (const { script, file, part, parts } of pieces) {
    worker.postMessage({ file, part, parts, text: globalThis.softlookupPieces[script] });
  }
  return (await begun).failed ?? "";
}"""
ANSWER = """import base64, pickle
given = iter(pickle.loads(base64.b64decode("{given}")))

def {name}(*args):
    result = next(given)
    if result is None:
        raise ValueError("the mistake raises here")
    return result
"""


@pytest.fixture
def ask(html, visit):
    """A way to ask a page's Python."""
    with visit(f"{html.as_uri()}/book/playground.html") as seen:
        page = seen.page
        for script in sorted((html / "_static/python").glob("engine*.js")):
            page.add_script_tag(url=script.as_uri())
        assert page.evaluate(WORKER) == ""

        def ask_page(request):
            reply = page.evaluate("request => send({ request })", request)
            assert "failed" not in reply, reply
            return reply["result"]

        def load(chapter):
            page.add_script_tag(url=f"{html.as_uri()}/_static/python/tasks_{chapter}.js")
            packed = page.evaluate("chapter => globalThis.softlookupTasks[chapter]", chapter)
            return ask_page({"do": "load", "chapter": chapter, "file": packed})

        ask_page.load = load
        yield ask_page


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_verdicts_in_the_browser_are_those_of_check(chapter, ask):
    assert ask.load(chapter) == [task.id for task in chosen(chapter)]
    others = []
    for task in chosen(chapter):
        cases = [case for case in questions_at_home(variant_of(task)).cases if not case.gradients]
        if any(case.frame == "text" for case in cases):
            continue  # what a text was made of is not in its bytes
        with_gradients = len(cases) < len(questions_at_home(variant_of(task)).cases)
        for slugs in ((), *((mistake.slug,) for mistake in task.mistakes if mistake.symptom is None)):
            function = answer(variant_of(task), slugs)
            with calm_torch():
                plain_cases = [replace(case, fed=None, keeps_dtype=False) for case in cases]
                arrays = [run(function, case, len(task.returns)).arrays for case in plain_cases]
                home = check(task.id, function)
            if home.verdict == "error":
                continue
            results = [outputs if outputs is None or len(outputs) > 1 else outputs[0] for outputs in arrays]
            pickled = base64.b64encode(pickle.dumps([*results, results[0]], protocol=4)).decode()
            cell = {"task": task.id, "source": ANSWER.format(given=pickled, name=task.name)}
            reply = ask({"do": "check", "task_id": task.id, "cells": [cell]})
            verdict, named = reply["record"]["verdict"], reply["record"]["diagnosis"]
            expected = home.verdict == "pass", list(home.diagnosis)
            if (verdict == "pass", named) != expected and not (with_gradients and verdict == "pass"):
                others.append((task.id, slugs, verdict, named, expected))
    assert others == [], json.dumps(others, indent=1)
