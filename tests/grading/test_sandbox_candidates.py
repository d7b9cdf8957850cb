"""A test as an answer is asked in the sandbox as at home: it is handed something to call, made on its own side."""

import numpy as np
from sandbox_tools import LIMITS, NEEDS_SANDBOX, ask, hold

from softlookup_grader.data.work import Limits
from softlookup_judge import get_task
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import draw

pytestmark = NEEDS_SANDBOX

ROOMY = Limits(**{**vars(LIMITS), "memory_mb": 1000, "answer_s": 20, "cell_s": 20, "cpu_s": 30})


def test_candidates_are_made_beside_the_students_code(begin):
    session = begin(ROOMY)
    source = "import torch\ndef f(model, x):\n    model.eval()\n    return not torch.equal(model(x), model(x))"
    assert hold(session, source).callable
    task = get_task("09.find-dropout")
    for case in draw(variant_of(task), 2):
        expected = any(use > 0 for _, use in case.args[0]["shares"])
        answer = ask(session, *case.args, frame=case.frame, seconds=20.0)
        assert answer.failure is None and answer.arrays[0] == np.array(expected), case.label


def test_losses_and_models_can_be_called_in_the_sandbox(begin):
    session = begin(ROOMY)
    source = "def f(loss_of, n):\n    import torch\n    ids = torch.ones(2, 5).long()\n"
    hold(session, source + "    return loss_of(lambda inputs: torch.zeros(*inputs.shape, n), ids)")
    case = draw(variant_of(get_task("09.find-shift")), 2)[0]
    answer = ask(session, *case.args, frame=case.frame, seconds=20.0)
    assert abs(float(answer.arrays[0]) - np.log(case.args[1])) < 1e-6
