"""A run in a notebook: the picture says where it is, an interruption keeps what was learned, and it goes on."""

import pytest
from tiny_translation import TINY

from softlookup.training import live
from softlookup.training.live import LiveCurve, watch_grammar_run
from softlookup.training.loop import Progress

SIZES = {"n_pairs": 700, "n_validation": 10, "n_test": 10}


def step(number, loss):
    return Progress(number, 0, loss, 10, 1e-3, 1.0, 100.0)


@pytest.fixture
def shown(monkeypatch):
    pictures = []
    monkeypatch.setattr(LiveCurve, "show", lambda self: pictures.append(self.html()))
    return pictures


def test_live_curve_says_step_and_loss_and_draws_every_point(shown):
    curve = LiveCurve(4, seconds=0.0)
    curve.note("a < b")
    for number, loss in ((1, 4.0), (2, 2.0), (3, 1.0), (4, 1.0)):
        curve(step(number, loss))
    assert len(shown) == 4
    assert 'value="4"' in shown[-1] and "step 4 of 4, loss 2.00 nats" in shown[-1] and "a &lt; b" in shown[-1]
    assert 'points="160.0,0.0 320.0,90.0 480.0,135.0 640.0,135.0"' in shown[-1]


def test_live_curve_draws_seldom_and_always_at_the_end(shown):
    curve = LiveCurve(3, seconds=1000.0)
    for number in (1, 2, 3):
        curve(step(number, 1.0))
    assert len(shown) == 2
    assert LiveCurve(1).html() == "<p>The run begins …</p>"
    with pytest.raises(ValueError, match="total_steps is 0; wanted at least 1"):
        LiveCurve(0)


@pytest.mark.slow
def test_an_interrupted_run_says_how_to_go_on_and_goes_on(shown, tmp_path, monkeypatch, capsys):
    class Interrupted(LiveCurve):
        def __call__(self, progress):
            super().__call__(progress)
            if progress.step == 9:
                raise KeyboardInterrupt

    monkeypatch.setattr(live, "EVERY", 4)
    monkeypatch.setattr(live, "LiveCurve", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        watch_grammar_run(tmp_path, TINY, **SIZES)
    assert "run the cell again" in capsys.readouterr().out
    first = []

    class Watched(LiveCurve):
        def __call__(self, progress):
            first.append(progress.step)
            super().__call__(progress)

    monkeypatch.setattr(live, "LiveCurve", Watched)
    translator = watch_grammar_run(tmp_path, TINY, **SIZES)
    assert first[0] == 9 and first[-1] == TINY.steps
    assert translator.translate("A young child closes the big white window.").tokens
