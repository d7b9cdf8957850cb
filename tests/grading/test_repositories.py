"""Repositories are a way to collect: cloned from a table of addresses, or side by side in a folder."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from arriving import FILE, collected, enter_class, notebook, unreadable, write, zipped
from small_class import NAME

from softlookup_grader import Course, CourseError
from softlookup_grader.course.arrived import arrivals
from softlookup_grader.data.tables import Table
from softlookup_grader.platforms import cloning
from softlookup_grader.platforms.cloning import address_trouble, takes_addresses, without_secret
from softlookup_grader.platforms.collecting import collect
from softlookup_grader.platforms.sources import Ways

ROSTER = "identifier,github_username\nada@example.org,Countess\nben,bb-1\nnobody,zed\n"


@pytest.fixture
def course(paper: Course) -> Course:
    enter_class(paper, "ada", "ben", "lin-ada", "7103")
    return paper


def git(folder: Path, *words: str, **more: str) -> str:
    who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "-c", "init.defaultBranch=main")
    return subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True, **more
    ).stdout.strip()


def on_server(server: Path, name: str, files: dict[str, bytes]) -> Path:
    """A repository as a server has it."""
    work = write(server / f"{name}-work", files)
    work.mkdir(exist_ok=True)
    git(work, "init", "-q")
    if files:
        git(work, "add", "-A")
        git(work, "commit", "-qm", "Answers")
    git(server, "clone", "-q", "--bare", f"{name}-work", f"{name}.git")
    shutil.rmtree(work)
    return server / f"{name}.git"


def test_names_of_repositories_end_in_a_students_name(course: Course, tmp_path: Path) -> None:
    write(tmp_path, {f"one-head-{name}/{FILE}": notebook() for name in ("ben", "guest")})
    write(tmp_path, {f"one-head-{name}/.git/HEAD": b"" for name in ("ben", "guest")})
    write(tmp_path, {f"7103/exercises/{NAME}/{FILE}": notebook("")})
    done = collect(course, NAME, [tmp_path])
    assert collected(course) == {"ben": notebook(), "7103": notebook("")}
    assert list(done.summary.strangers) == ["one-head-guest"]


def test_name_that_fits_two_needs_a_prefix(course: Course, tmp_path: Path) -> None:
    write(tmp_path, {f"one-head-lin-ada/{FILE}": notebook(), "one-head-lin-ada/.git/HEAD": b""})
    done = collect(course, NAME, [tmp_path])
    assert collected(course) == {} and "fits ada and lin-ada" in done.summary.strangers["one-head-lin-ada"]
    done = collect(course, NAME, [tmp_path], Ways(prefix="one-head-"))
    assert set(collected(course)) == {"lin-ada"} and done.summary.strangers == {}
    other = write(tmp_path / "other", {f"two-ada/{FILE}": notebook(), f"one-head-zed/{FILE}": notebook()})
    strangers = collect(course, NAME, [other], Ways(prefix="one-head-")).summary.strangers
    assert "does not begin with one-head-" in strangers["two-ada"] and "zed is no student" in strangers["one-head-zed"]


def test_a_folder_that_is_no_clone_is_matched_as_a_whole(course: Course, tmp_path: Path) -> None:
    enter_class(course, "lee", ben="7102")
    names = ("ann-lee", "group-7102", "one-head-ben.txt", "7102", "ada@example.org")
    write(tmp_path, {f"p/{name}/{FILE}": notebook() for name in names})
    strangers = collect(course, NAME, [tmp_path / "p"]).summary.strangers
    assert set(collected(course)) == {"ben", "ada"} and set(strangers) == {"ann-lee", "group-7102", "one-head-ben.txt"}
    assert "as that of lee: give the part before the name as --prefix" in strangers["ann-lee"]
    collect(course, NAME, [tmp_path / "p"], Ways(prefix="ann-"))
    assert set(collected(course)) == {"ben", "ada", "lee"}


def test_a_bare_repository_and_clones_in_one_folder_more_are_known_as_clones(course: Course, tmp_path: Path) -> None:
    write(tmp_path, {"one-head-ben/HEAD": b"ref: refs/heads/main", "one-head-ben/objects/aa/bb": b"x"})
    collect(course, NAME, [tmp_path])
    assert "HEAD is not a notebook" in unreadable(course, "ben")
    write(tmp_path / "in", {f"clones/one-head-7103/{FILE}": notebook(), "clones/one-head-7103/.git/HEAD": b""})
    collect(course, NAME, [tmp_path / "in"])
    assert set(collected(course)) == {"7103"}
    names = (f"ada/{FILE}", "ada/.git/HEAD", f"ben/{FILE}")
    raw = zipped({f"all/one-head-{name}": notebook() for name in names})
    (tmp_path / "all.zip").write_bytes(raw)
    collect(course, NAME, [tmp_path / "all.zip"])
    assert set(collected(course)) == {"7103", "ada"}


@pytest.mark.parametrize("rows", ["https://g.org/ada/hw.git,ada\nhttps://g.org/ben/hw.git,ben", "HW,ben\nhw,ada"])
@pytest.mark.parametrize("place", ["hw/", "one-head-hw/", "hw.zip"])
def test_a_name_that_the_roster_has_for_two_is_nobodys(course: Course, tmp_path: Path, rows: str, place: str) -> None:
    files = {f"{place}{FILE}": notebook(), f"{place}.git/HEAD": b""}
    write(tmp_path, {place: zipped({FILE: notebook()})} if place == "hw.zip" else files)
    write(tmp_path, {f"team-1/{FILE}": notebook("return 2.0")})
    roster = Table(f"repository,id\n{rows}\nteam-1,7103\n")
    done = collect(course, NAME, [tmp_path], Ways(roster=roster))
    assert set(collected(course)) == {"7103"}
    (why,) = done.summary.strangers.values()
    assert "ada and ben" in why


@pytest.mark.parametrize("names", [("hw", "ben-hw"), ("1-hw", "2-hw")])
def test_two_forks_of_the_same_name_are_told_apart_by_their_remotes(course, tmp_path, names):
    for name, user in zip(names, ("Ada", "ben"), strict=True):
        config = f'[core]\n\tbare = false\n[remote "origin"]\n\turl = git@g.org:{user}/hw.git\n\tfetch = +refs\n'
        write(tmp_path, {f"{name}/{FILE}": notebook(f"return '{user}'"), f"{name}/.git/config": config.encode()})
    roster = Table("repository,id\nhttps://g.org/ada/hw.git,ada\nhttps://g.org/ben/hw.git,ben\n")
    assert collect(course, NAME, [tmp_path], Ways(roster=roster)).summary.strangers == {}
    assert collected(course) == {"ada": notebook("return 'Ada'"), "ben": notebook("return 'ben'")}


def test_roster_says_whose_a_repository_is(course: Course, tmp_path: Path) -> None:
    for name in ("a1-countess", "a1-bb-1", "a1-zed", "a1-7103"):
        write(tmp_path, {f"{name}/{FILE}": notebook(), f"{name}/.git/HEAD": b""})
    done = collect(course, NAME, [tmp_path], Ways(roster=Table(ROSTER)))
    assert set(collected(course)) == {"ada", "ben"} and set(done.summary.strangers) == {"a1-zed", "a1-7103"}
    assert "the roster: read 3 rows" in done.understood[0]
    with pytest.raises(CourseError, match="the roster needs a column"):
        collect(course, NAME, [tmp_path], Ways(roster=Table("a,b\n1,2\n")))
    with pytest.raises(CourseError, match="names nobody of the class list; it was read 1 row .*github_username"):
        collect(course, NAME, [tmp_path], Ways(roster=Table("identifier,github_username\nnobody,zed\n")))


def test_repositories_are_cloned_from_a_table_in_any_form(course: Course, tmp_path: Path) -> None:
    first = on_server(tmp_path, "countess", {f"work/{FILE}": notebook()})
    second = on_server(tmp_path, "b", {"final.ipynb": notebook("return 2.0")}).as_uri()
    text = f"E-Mail;Gruppe;Adresse\r\nADA@example.org;1;{first}\r\nben@example.org;1;{second}\r\n"
    (tmp_path / "list.csv").write_bytes(text.encode("utf-16"))
    done = collect(course, NAME, [tmp_path / "list.csv"])
    assert collected(course) == {"ada": notebook(), "ben": notebook("return 2.0")}
    assert "'Adresse' is the repository" in done.understood[0]
    assert arrivals(course, NAME).by_student["ada"].source == f"{first}/work/{FILE}"


def test_each_repository_that_cannot_be_cloned_is_named(course: Course, tmp_path: Path) -> None:
    good = on_server(tmp_path, "good", {FILE: notebook()})
    empty = on_server(tmp_path, "empty", {})
    rows = f"ada,{tmp_path}/none.git\nben,ext::sh -c id\n7103,{empty}\nlin-ada,{good}\nguest,{good}\n"
    (tmp_path / "list.csv").write_text("id,address\n" + rows)
    done = collect(course, NAME, [tmp_path / "list.csv"])
    assert set(collected(course)) == {"lin-ada"}
    assert f"{tmp_path}/none.git could not be cloned (" in unreadable(course, "ada")
    assert "is no address of a repository" in unreadable(course, "ben")
    assert unreadable(course, "7103") == "the repository is empty"
    assert list(done.summary.strangers) == ["guest"]


def test_a_column_of_ids_that_is_not_known_is_named(course: Course, tmp_path: Path) -> None:
    good = on_server(tmp_path, "good", {FILE: notebook()})
    (tmp_path / "list.csv").write_text(f"Wer?,nr,url\nada,ben,{good}\nzed,zed,{good}\nyan,yan,{good}\n")
    with pytest.raises(CourseError, match="no column of ids.*--id"):
        collect(course, NAME, [tmp_path / "list.csv"])
    collect(course, NAME, [tmp_path / "list.csv"], Ways(ids="Wer?"))
    assert set(collected(course)) == {"ada"}


@pytest.mark.parametrize(
    "address",
    ["--upload-pack=touch x", "-x", "ext::sh -c touch% x", "http://example.org/a.git", "ftp://h/a", "a\nb", "fd::17"],
)
def test_addresses_that_are_no_repositories_do_not_reach_git(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "refused" in address_trouble(address)
    monkeypatch.setattr(cloning, "_clone", None)
    people = [cloning.Person("ada")]
    table = Table("id,address\nada,x\n")
    table.rows[0][1] = address
    (clone,) = cloning.clones(table, 1, people, None, Path("nowhere"))
    assert "refused" in clone.why


ADDRESSES = (
    *("https://example.org/ada/x.git", "https://me:pass@example.org/x", "ssh://git@h/x", "git://h/x", "file:///srv/x"),
    *("git@host:ada/x.git", "host:x.git", "/srv/git/ada.git", "../ada", "~/my repos/ada.git"),
)


def test_addresses_of_repositories_are_known_and_other_tables_are_no_lists_of_them() -> None:
    for address in ADDRESSES:
        assert address_trouble(address) == "", address
        assert takes_addresses(Table(f"id,x\nada,{address}\nben,{address}\n")) == 1, address
    for text in ("id,address\nada,a@x.org\n", "id,date\nada,2026/12/01\n", "Identifier,b\nTeilnehmer/in81,-\n"):
        assert takes_addresses(Table(text)) is None


def test_git_may_use_no_transport_that_runs_a_command(tmp_path: Path) -> None:
    why_not = cloning._clone("ext::sh -c touch% " + str(tmp_path / "x"), tmp_path / "clone")
    assert "could not be cloned" in why_not and "not allowed" in why_not and not (tmp_path / "x").exists()


def test_a_repository_runs_and_writes_nothing(course: Course, tmp_path: Path) -> None:
    work = write(tmp_path / "r-work", {FILE: notebook(), ".gitattributes": b"* filter=evil", "x/a.txt": b"x"})
    os.symlink("/etc/passwd", work / "other.ipynb")
    git(work, "init", "-q")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "x")
    git(tmp_path, "clone", "-q", "--bare", "r-work", "r.git")
    template = tmp_path / "template" / "hooks"
    template.mkdir(parents=True)
    for hook in ("post-checkout", "post-update"):
        (template / hook).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (template / hook).chmod(0o755)
    shutil.copytree(template, tmp_path / "r.git" / "hooks", dirs_exist_ok=True)
    (tmp_path / "list.csv").write_text(f"id,address\nada,{tmp_path}/r.git\n")
    collect(course, NAME, [tmp_path / "list.csv"])
    assert collected(course) == {"ada": notebook()} and not (tmp_path / "ran").exists()


def test_a_tree_that_unfolds_without_end_stops_nobody(course: Course, tmp_path: Path) -> None:
    work = write(tmp_path / "bomb", {"a": b"x"})
    git(work, "init", "-q")
    kind, name = "100644 blob", git(work, "hash-object", "-w", "a")
    for _ in range(12):
        lines = "".join(f"{kind} {name}\tf{n}\n" for n in range(10))
        kind, name = "040000 tree", git(work, "mktree", input=lines)
    git(work, "update-ref", "HEAD", git(work, "commit-tree", name, "-m", "x"))
    good = on_server(tmp_path, "good", {FILE: notebook()})
    (tmp_path / "list.csv").write_text(f"id,address\nada,{work}\nben,{good}\n")
    collect(course, NAME, [tmp_path / "list.csv"])
    assert set(collected(course)) == {"ben"} and "f0 is not a notebook" in unreadable(course, "ada")


def test_a_clone_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert cloning._clone("/srv/x.git", tmp_path / "x", 0.05) == "could not be cloned within 0.05 seconds"


def test_passwords_in_addresses_are_not_shown() -> None:
    assert without_secret("https://me:secret@example.org/a.git") == "https://example.org/a.git"
    assert without_secret("git@host:a.git") == "git@host:a.git"
