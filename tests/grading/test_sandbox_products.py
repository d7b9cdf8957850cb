"""What is multiplied with a matrix is counted in the sandbox as at home."""

import numpy as np
from sandbox_tools import LIMITS, NEEDS_SANDBOX, ask, hold

from softlookup_grader.data.work import Limits

pytestmark = NEEDS_SANDBOX

ROOMY = Limits(**{**vars(LIMITS), "memory_mb": 1000, "answer_s": 20, "cell_s": 20, "cpu_s": 30})
X, W = np.ones((5, 3)), np.arange(6.0).reshape(3, 2)
WAYS = {
    "x @ w": "",
    "torch.einsum('td,de->te', x, w)": "",
    "torch.cat((x[:, :1] @ w[:1], x[:, :0]), 1) + x[:, 1:] @ w[1:]": "",
    "torch.stack([row @ w for row in x])": "fed-singly",
    "(torch.cat((x, x)) @ w)[:5]": "fed-again",
}


def test_rows_fed_again_and_rows_fed_singly_come_back_as_words(begin):
    session = begin(ROOMY)
    for way, kind in WAYS.items():
        hold(session, f"import torch\n\ndef f(x, w):\n    return {way}")
        answer = ask(session, X, W, frame="torch", fed=(1, 5, 1), seconds=20.0)
        assert (answer.failure.kind if answer.failure else "") == kind, way
        if not kind:
            np.testing.assert_allclose(answer.arrays[0], X @ W)
