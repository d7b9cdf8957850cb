"""Dictionaries and text travel into the sandbox, and a change to them is seen from outside."""

from sandbox_tools import NEEDS_SANDBOX, ask, hold

from softlookup_judge.data.variant import variant_of

pytestmark = NEEDS_SANDBOX
PRICES = {"apple": 30, "pineapple": 250, "free": 0}


def test_a_dictionary_and_a_name_arrive_as_they_were(begin):
    session = begin()
    hold(session, "def f(prices, name, otherwise): return prices.get(name, otherwise)")
    prices = [ask(session, PRICES, name, -7, frame="plain").arrays[0] for name in ("pineapple", "free", "orange")]
    assert [float(price) for price in prices] == [250, 0, -7]


def test_a_dictionary_that_is_changed_is_reported(begin):
    session = begin()
    hold(session, "def f(prices, name, otherwise): return prices.setdefault(name, otherwise)")
    assert ask(session, PRICES, "apple", -7, frame="plain").failure is None
    assert ask(session, PRICES, "orange", -7, frame="plain").failure.kind == "inputs-changed"
    assert "orange" not in PRICES


def test_every_question_of_chapter_11_arrives_as_it_was_asked(begin):
    """Its sheets are dictionaries in dictionaries, its programs lists in lists."""
    import json

    from softlookup_judge import tasks
    from softlookup_judge.judging.questions import draw

    session = begin()
    hold(session, "import json\ndef f(*args): return [ord(one) for one in json.dumps(args)]")
    for task in tasks(11):
        for case in draw(variant_of(task), 3)[:3]:
            answer = ask(session, *case.args, frame=case.frame)
            assert answer.failure is None, task.id
            assert "".join(map(chr, answer.arrays[0].astype(int))) == json.dumps(case.args), task.id
