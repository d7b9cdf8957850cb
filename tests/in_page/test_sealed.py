"""Another way to write an answer: it travels sealed, and the right results open it."""

import json

import numpy as np
import pytest

from softlookup_course.in_page.packing import pack
from softlookup_course.in_page.sealed import opened, sealed
from softlookup_judge import get_task
from softlookup_judge.checking.baked import read
from softlookup_judge.helping.helping import SETTING

RIGHTS = [(np.arange(6.0).reshape(2, 3),), (np.array(3), np.array([True, False]))]


@pytest.mark.parametrize("text", ["", "√H · k", "line\n" * 5000])
def test_right_results_open_a_text_and_others_do_not(text):
    seal = sealed(text, RIGHTS)
    assert opened(seal, [tuple(array.copy() for array in right) for right in RIGHTS]) == text
    assert not text or text[:5] not in seal
    if text:
        with pytest.raises(UnicodeDecodeError):
            opened(seal, RIGHTS[1:])


@pytest.mark.parametrize(
    ("course", "formula", "way"), [(None, True, True), ("formula", True, False), ("none", False, False)]
)
def test_pack_holds_the_help_that_a_course_allows(monkeypatch, course, formula, way):
    if course:
        monkeypatch.setenv(SETTING, course)
    file = pack(0)
    baked = read(file)
    for task_id, more in baked.more.items():
        texts = get_task(task_id).notebook.help_texts(task_id)
        assert more["formula"] == texts.formula * formula
        assert bool(more["way"]) == (way and bool(texts.other))
        if more["way"]:
            code, says = json.loads(opened(more["way"], baked.questions[task_id, 0].rights))
            assert says == texts.differs and f"def {get_task(task_id).name}" in code
            assert json.dumps(code)[1:-1].encode() not in file
