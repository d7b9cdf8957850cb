"""What was found, for a peer's authors: Markdown with a program for each wrong answer that their judge accepts."""

import ast
from collections.abc import Iterator
from difflib import unified_diff
from importlib import import_module
from inspect import getsource
from typing import Any

from benchmarks.judges.answers import answers, functions
from benchmarks.judges.running import JUDGES

_ENDS = {
    "TorchCode": "from torch_judge import check\nfrom torch_judge.tasks import TASKS\n\n"
    'globals()[TASKS["{task}"]["function_name"]] = answer\ncheck("{task}")',
    "TorchLeet": "from torchleet import check\n\n"
    'check("{task}", **answer) if isinstance(answer, dict) else check("{task}", answer)',
    "CS336": "# at the end of tests/adapters.py; then: pytest {task}\nglobals().update(answer)",
}


def _adapter(module: Any, function: str) -> tuple[str, list[str], bool]:
    """How an answer gets a judge's signature: an expression, the definitions that it needs, whether it needs others."""
    tree = ast.parse(getsource(module))
    table = next(
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "ASKED"
    )
    assert isinstance(table, ast.Dict)
    call = next(v for k, v in zip(table.keys, table.values, strict=True) if ast.literal_eval(k) == function)  # type: ignore[arg-type]
    assert isinstance(call, ast.Call)
    defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    needed: list[str] = []

    def names(node: ast.AST) -> Iterator[str]:
        return (child.id for child in ast.walk(node) if isinstance(child, ast.Name))

    def need(node: ast.AST) -> None:
        for name in names(node):
            if name in defined and name not in needed:
                need(defined[name])
                if name not in needed:
                    needed.append(name)

    need(call.args[2])
    asks_right = any("right" in set(names(defined[name])) for name in needed)
    return ast.unparse(call.args[2]), [ast.unparse(defined[name]) for name in needed], asks_right


def program(judge: str, function: str, wrong: str) -> str:
    """A program that gives one wrong answer to a judge, without this course."""
    module = import_module(f"benchmarks.judges.{JUDGES[judge]}")
    expression, definitions, asks_right = _adapter(module, function)
    by_name = {answer.name: answer for answer in answers(function)}
    source = by_name[wrong].source.rstrip()
    name = source.partition("def ")[2].partition("(")[0]
    others: tuple[str, ...] = ()
    if asks_right:
        siblings = [
            sibling for sibling in ("temperature", "top_k", "top_p", "count_pairs", "merge_pair") if sibling != function
        ]
        used = [sibling for sibling in siblings if any(f"'{sibling}'" in text for text in definitions)]
        others = tuple(next(answers(sibling)).source.rstrip() for sibling in used) + ("right = globals().__getitem__",)
    head = (
        "import math\nfrom typing import Any, Callable\n\nimport torch\nimport torch.nn.functional as F\n"
        "from torch import nn\n\nFunction = Callable[..., Any]"
    )
    end = f"answer = ({expression})({name})\n" + _ENDS[judge].replace("{task}", module.ASKED[function].task)
    return "\n\n\n".join((head, source, *others, *definitions, end))


def issue(record: dict[str, Any], judge: str) -> str:
    """Write what ``bench_judges`` found of one judge, in Markdown, ready for its repository's list of issues.

    For each function the wrong answers that are accepted, each with the changed lines, and a whole program for the
    first of them. A record that has nothing on this judge is a ValueError.
    """
    row = next((entry for entry in record["judges"] if entry["judge"] == judge), None)
    if row is None or judge not in _ENDS:
        known = ", ".join(entry["judge"] for entry in record["judges"] if entry["judge"] in _ENDS)
        raise ValueError(f"the record has nothing on {judge!r}: name one of {known or 'no peer'}")
    parts = [
        f"# Wrong answers that {judge} {row['version']} accepts",
        f"We gave {judge} {row['wrong']} wrong answers to {row['functions']} functions, and {row['right']} right ones. "
        f"It accepts {row['accepted']} of the wrong ones and rejects {row['rejected']} of the right ones. An answer "
        "counts as wrong only if it violates the task's own text, signature or tests. If you read a task in another "
        "way, please tell us.",
    ]
    for function in functions():
        rows = {answer["name"]: answer for answer in record["answers"] if answer["function"] == function}
        taken = [name for name, answer in rows.items() if answer["verdicts"].get(judge) == "accepted"]
        if not taken:
            continue
        task = import_module(f"benchmarks.judges.{JUDGES[judge]}").ASKED[function].task
        parts.append(f"## `{task}`: {function.replace('_', ' ')}, {len(taken)} accepted")
        sources = {answer.name: answer.source.splitlines() for answer in answers(function)}
        for place, name in enumerate(taken):
            heading = f"**{name}** (differs from the right answer on: {', '.join(rows[name]['differs_on'])})"
            if place == 0:
                parts.append(f"{heading}\n\n```python\n{program(judge, function, name)}\n```")
            else:
                changed = list(unified_diff(sources["right-1"], sources[name], lineterm="", n=0))[2:]
                lines = "\n".join(line for line in changed if not line.startswith("@@"))
                parts.append(f"{heading}\n\n```diff\n{lines}\n```")
    return "\n\n".join(parts) + "\n"
