"""A ready-made function is found inside the sandbox as it is at home, whichever library it is from."""

import pytest
from sandbox_tools import ABOUT, NEEDS_SANDBOX

from softlookup_judge import get_task

pytestmark = NEEDS_SANDBOX


@pytest.mark.parametrize(
    ("source", "shortcut"),
    [
        ("import torch\ndef f(q, k): return torch.cosine_similarity(q, k)", "torch.cosine_similarity"),
        ("from scipy.spatial.distance import cdist\ndef f(q, k): return cdist(q, k)", "scipy.spatial.distance.cdist"),
        ("def f(q, k): return q @ k.T", None),
    ],
)
def test_a_ready_made_cosine_is_found_inside_the_sandbox(begin, source, shortcut):
    session = begin()
    session.run(source)
    student_object = session.check("", {**ABOUT, "forbids": list(get_task("02.similarity").forbids)})
    assert student_object.shortcut == shortcut
