"""What the README shows is what happens."""

import ast
import re
import sys
import textwrap
from pathlib import Path

import pytest

from softlookup import check
from softlookup.model import load_translator

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_shows_what_a_check_says():
    block = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert block is not None
    shown = block.group(1).split("\n", 2)[2].strip()
    mix = eval("lambda weights, v: weights.transpose(-2, -1) @ v")  # noqa: S307 - as at a prompt, without a file
    message = check("04.mix", mix).text()
    number = r"\d+\.\d+(?:e-?\d+)?"  # the last digit of a product in float32 depends on the processor
    assert re.split(number, message) == re.split(number, shown)
    assert [float(digits) for digits in re.findall(number, message)] == pytest.approx(
        [float(digits) for digits in re.findall(number, shown)], rel=1e-5
    )


def test_readme_shows_what_the_library_answers():
    lines = README.split("## The library")[1].split("```python\n")[1].split("```")[0].splitlines()
    names: dict = {}
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith(">>> ") and not following.startswith(">>>") and following:
            assert repr(eval(line[4:], names)) == following  # noqa: S307 - the project's own page
        elif line.startswith(">>> "):
            exec(line[4:], names)  # noqa: S102


def test_readme_shows_lines_of_the_example():
    shown = README.split("## A transformer in one file")[1].split("```python\n")[1].split("```")[0]
    example = (ROOT / "examples" / "gpt.py").read_text(encoding="utf-8")
    assert textwrap.indent(shown, "    ") in example


@pytest.mark.parametrize("example", ["gpt", "translate"])
def test_readme_tells_the_size_and_the_imports_of_the_examples(example):
    text = (ROOT / "examples" / f"{example}.py").read_text(encoding="utf-8")
    assert "in 250 lines" in README and len(text.splitlines()) <= 250
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert imported <= {"torch", "safetensors", *sys.stdlib_module_names}


def test_readme_tells_the_size_of_the_translator():
    millions = sum(p.numel() for p in load_translator().model.parameters()) / 1e6
    assert f"{millions:.1f} million parameters" in README


def test_readme_names_files_and_targets_that_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)", README, re.MULTILINE):
        name = target[0] or target[1]
        assert re.search(rf"^{name}:", makefile, re.MULTILINE), f"make {name}"
    for link in re.findall(r"\]\((?!http|#)([^)#]+)\)", README):
        assert (ROOT / link).exists(), link
