"""A ready-made function is found inside the sandbox as it is at home, whichever library it is from."""

import pytest
from sandbox_tools import ABOUT, NEEDS_SANDBOX

from softlookup.checking import get_task

pytestmark = NEEDS_SANDBOX


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import torch\ndef f(q, k): return torch.cosine_similarity(q, k)", "torch.cosine_similarity"),
        ("from scipy.spatial.distance import cdist\ndef f(q, k): return cdist(q, k)", "scipy.spatial.distance.cdist"),
        ("def f(q, k): return q @ k.T", None),
    ],
)
def test_a_ready_made_cosine_is_found_inside_the_sandbox(begin, source, found):
    session = begin()
    session.run(source)
    held = session.check("", {**ABOUT, "forbids": list(get_task("02.similarity").forbids)})
    assert held.shortcut == found
