"""Tables of groups: rows of groups, or a column of ids and one of groups, whatever other columns there are."""

import json
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from paper_class import in_class, paper_course
from small_class import NAME

from softlookup_command.commands import main
from softlookup_grader import Course, CourseError
from softlookup_grader.course.groups import names_in, set_table, tables
from softlookup_grader.data.tables import Table
from softlookup_grader.platforms.group_table import read_groups

CLASS = ("ada", "ben", "carl", "dora")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory, source: nbformat.NotebookNode) -> Course:
    made = paper_course(tmp_path_factory, source)
    for student in CLASS:
        in_class(made, student)
    return made


@pytest.mark.parametrize(
    "text",
    [
        "ada,ben\ncarl,dora\n",
        "Group;First;Second\r\n1;ada;ben\r\n2;carl;dora\r\n",
        "id,group\nada,red\nben,red\ncarl,blue\ndora,blue\n",
        "Gruppe\tE-Mail\nrot\tADA@x.org\nrot\tben@x.org\nblau\tcarl@x.org\nblau\tdora@x.org\n",
        'group,members\nred,"ada, ben"\nblue,"carl; dora"\n',
        "id,email,group\nada,ada@x.org,1\nben,,1\ncarl,,2\ndora,dora@x.org,2\n",
        "id,first name,tutor,group\nada,Dora,ben,1\nben,Ada,ben,1\ncarl,x,,2\ndora,y,,2\n",
        "first name,who,with\nDora,ada,ben\nX,carl,dora\n",
        "id,email,team\nada,ada@x.org,1\nben,ben@x.org,1\ncarl,carl@x.org,2\ndora,dora@x.org,2\n",
    ],
)
def test_read_groups_takes_rows_of_groups_and_columns_of_ids(course: Course, text: str) -> None:
    for student in CLASS:
        in_class(course, student, email=f"{student}@x.org")
    assert read_groups(course, Table(text)).groups == (("ada", "ben"), ("carl", "dora"))


def test_read_groups_names_who_is_not_in_the_class(course: Course) -> None:
    with pytest.raises(CourseError, match="nobody in the class has the id 'bem'; did you mean ben"):
        read_groups(course, Table("a,b\nada,bem\n"))
    with pytest.raises(CourseError, match="no cell of the table is the id of a student"):
        read_groups(course, Table("x,y\n1,2\n"))


@pytest.mark.parametrize("text", ["id,email,group\nada,ada@x.org,1\nben,,2\n", "id\nada\nben\n"])
def test_groups_refuses_a_table_without_a_group_and_the_earlier_one_stays(
    course: Course, text: str, tmp_path: Path
) -> None:
    set_table(course, NAME, [("carl", "dora")])
    (tmp_path / "groups.csv").write_text(text)
    done = CliRunner().invoke(main, ["groups", NAME, str(tmp_path / "groups.csv"), "--course", str(course.root)])
    assert done.exit_code and "no group of two or more students, so nothing was changed" in done.output
    assert tables(course) == {NAME: (("carl", "dora"),)}


def test_names_in_reads_the_first_cells_alone() -> None:
    cells = [{"cell_type": "markdown", "source": ["Group: ", f"student{at}\n"], "metadata": {}} for at in range(7)]
    raw = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()
    assert names_in(raw) == [f"student{at}" for at in range(5)]
