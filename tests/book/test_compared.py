"""The comparison with other courses: every mark names its source, and every chapter named is a page."""

import json
import re

from built_book import HTML, ROOT, need_book, page_at

RECORD = json.loads((ROOT / "book" / "measured" / "courses.json").read_text(encoding="utf-8"))
KEYS = {course["key"] for course in RECORD["courses"]}
REPOSITORIES = {
    repository["repository"]: repository for course in RECORD["courses"] for repository in course["repositories"]
}


def test_every_mark_names_a_file_of_its_own_course():
    of = {
        course["key"]: {repository["repository"] for repository in course["repositories"]}
        for course in RECORD["courses"]
    }
    for topic in RECORD["topics"]:
        assert set(topic["where"]) <= KEYS, topic["topic"]
        for key, location in topic["where"].items():
            assert location["repository"] in of[key] and re.search(r"\.\w+$", location["path"]), (topic["topic"], key)
        re.compile(topic["words"])


def test_commits_are_whole_and_chapters_are_pages_of_the_book():
    assert all(re.fullmatch(r"[0-9a-f]{40}", repository["commit"]) for repository in REPOSITORIES.values())
    named = {topic["chapter"] for topic in RECORD["topics"]} - {"", "all"}
    assert named and all((ROOT / "book" / f"{name}.md").is_file() for name in named)


def test_the_table_links_each_mark_to_its_commit():
    need_book()
    links = page_at(HTML / "book" / "compared.html").links
    for topic in RECORD["topics"]:
        for location in topic["where"].values():
            commit = REPOSITORIES[location["repository"]]["commit"]
            assert f"https://github.com/{location['repository']}/blob/{commit}/{location['path']}" in links
