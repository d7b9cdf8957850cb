"""What the book of a course's folder is built from: its settings over the checkout's, and its released notebooks."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from softlookup_course.part.contents import files
from softlookup_grader.course.folder import Course
from softlookup_grader.course.releasing import Released
from softlookup_grader.data.disk import atomic_write
from softlookup_grader.data.errors import CourseError
from softlookup_judge.data.result import BOOK

CONFIG = "_build/_config.yml"
_VARIANT = re.compile(r'check\(\\?"([\w.-]+)\\?", \w+, variant=\d+\)')
_FACTS = "globalThis.softlookupFacts="


def prepare(root: Path, folder: Path) -> Path:
    """Put together what the book of a course is built from, its released notebooks too; the file with all settings."""
    course = Course.at(folder)
    for name in ("_toc.yml", "_config.yml"):
        if not (course.root / name).is_file():
            raise CourseError(f"{folder} has no {name}: 'softlookup course new' writes it")
    released = Released(course)
    page_names = {*files(yaml.safe_load((course.root / "_toc.yml").read_text(encoding="utf-8")))}
    for name in released.assignments:
        if f"exercises/{name}/{name}" not in page_names:
            continue  # an assignment of the course's own, without a page
        source = course.notebook("release", ".", name)
        if not source.is_file():
            raise CourseError(f"there is no {source}: 'softlookup release {name} --course {folder}' makes it")
        text = source.read_text(encoding="utf-8")
        if released.book:
            text = text.replace(released.book, BOOK)
        target = course.root / "exercises" / name / f"{name}.ipynb"
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            atomic_write(target, text.encode())
    config = settings(root, own_settings(course.root))
    atomic_write(course.root / CONFIG, yaml.safe_dump(config, sort_keys=False, allow_unicode=True).encode())
    return course.root / CONFIG


def own_settings(folder: Path) -> dict[str, Any]:
    """What a course's ``_config.yml`` says; nothing where there is none, a CourseError if it is no mapping."""
    path = folder / "_config.yml"
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except yaml.YAMLError as error:
        raise CourseError(f"{path} cannot be read as YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict | None):  # an empty file gives None
        raise CourseError(f"{path} holds {type(content).__name__}, wanted lines such as 'title: Transformers'")
    return content or {}


def settings(root: Path, course_settings: Mapping[str, Any]) -> dict[str, Any]:
    """A course's settings over those of the checkout, whose files are named by their whole paths."""
    whole = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    whole["logo"] = str(root / whole["logo"])
    whole["html"]["favicon"] = str(root / whole["html"]["favicon"])
    sphinx = whole["sphinx"]
    sphinx["local_extensions"] = {
        "left_out": str(root / "book/_ext"),
        **{name: str(root / path) for name, path in sphinx["local_extensions"].items()},
    }
    sphinx["config"]["extensions"].append("left_out")
    for key in ("html_static_path", "templates_path"):
        sphinx["config"][key] = [str(root / path) for path in sphinx["config"][key]]
    merged = _over(whole, {key: value for key, value in course_settings.items() if key != "session_minutes"})
    merged["sphinx"]["config"]["html_theme_options"]["logo"]["text"] = str(merged["title"])
    return merged


def _over(whole: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """One mapping over another, at any depth."""
    both = dict(whole)
    for key, value in overrides.items():
        deeper = isinstance(value, Mapping) and isinstance(both.get(key), Mapping)
        both[key] = _over(both[key], value) if deeper else value
    return both


def keep_to_notebook(folder: Path, facts: Path) -> list[str]:
    """Leave tasks to the notebook of which the course asks another variant: pages judge the published ones alone."""
    notebooks = (path.read_text(encoding="utf-8") for path in sorted((folder / "exercises").glob("*/*.ipynb")))
    varied = {task for text in notebooks for task in _VARIANT.findall(text)}
    page_facts = json.loads(facts.read_text(encoding="utf-8").removeprefix(_FACTS).removesuffix(";"))
    varied_tasks = [task for task in page_facts["tasks"] if task in varied]
    page_facts["tasks"] = [task for task in page_facts["tasks"] if task not in varied]
    page_facts["not"] |= dict.fromkeys(
        varied_tasks, "your course asks another variant of it than the one that pages can judge"
    )
    atomic_write(facts, f"{_FACTS}{json.dumps(page_facts)};".encode())
    return varied_tasks
