"""What a run shows, and what a translation scores."""

import io
import sys

import pytest
from rich.console import Console

from softlookup.training.bleu import Bleu, corpus_bleu
from softlookup.training.loop import Progress
from softlookup.training.progress import show_progress


def step(number):
    return Progress(number, 2, 1.23456, 500, 0.00123, 0.5678, 98765.4)


def shown(total, steps, terminal=False, notes=(), every=10):
    console = Console(file=io.StringIO(), force_terminal=terminal, width=160)
    with show_progress(total, console=console, every=every) as show:
        for note in notes:
            show.note(note)
        for number in steps:
            show(step(number))
    return console.file.getvalue()


def test_without_a_terminal_there_are_plain_lines_now_and_then():
    lines = shown(25, range(1, 26)).splitlines()
    assert [line.split()[1] for line in lines] == ["1/25", "10/25", "20/25", "25/25"]
    assert lines[0] == "step 1/25  epoch 3  loss 1.235  rate 1.23e-03  gradient 0.57  98,765 tokens/s"
    assert len(shown(None, range(1, 4), every=1).splitlines()) == 3
    assert [line.split()[1] for line in shown(None, range(1, 26)).splitlines()] == ["1", "10", "20"]


def test_in_a_terminal_there_is_a_bar_that_ends_at_the_last_step():
    text = shown(25, range(1, 26), terminal=True)
    assert "25/25" in text and "loss 1.235" in text and "step 1/25" not in text


def test_a_run_that_goes_on_begins_its_bar_where_it_was():
    assert "20/25" in shown(25, [20], terminal=True)


@pytest.mark.parametrize("terminal", [True, False])
def test_a_note_stays_as_it_was_written_even_if_it_is_long_or_has_brackets(terminal):
    note = "validation [bold]1.109[/bold] " + "x" * 200
    assert note in shown(2, [1], terminal=terminal, notes=[note])


def test_a_line_for_every_zeroth_step_is_refused():
    with pytest.raises(ValueError, match="every is 0"):
        shown(1, [1], every=0)


def test_the_default_console_is_where_output_goes(capsys):
    with show_progress(3) as show:
        show(step(3))
    assert capsys.readouterr().out.startswith("step 3/3")


SAID = ["The black cat sleeps on the warm stones.", "Two children fly a kite, over there!"]
WANTED = ["A black cat sleeps on the warm stones.", "Two children fly a red kite, over there!"]


def test_bleu_is_that_of_sacrebleus_own_function_with_its_signature():
    import sacrebleu

    got = corpus_bleu(SAID, WANTED)
    assert got.score == sacrebleu.corpus_bleu(SAID, [WANTED]).score and 50 < got.score < 90
    assert "case:mixed" in got.signature and "tok:13a" in got.signature and "nrefs:1" in got.signature
    assert corpus_bleu(WANTED, WANTED).score == pytest.approx(100)
    assert corpus_bleu([sentence.lower() for sentence in SAID], WANTED).score < got.score
    assert corpus_bleu(tuple(SAID), tuple(WANTED)) == Bleu(got.score, got.signature)


def test_bleu_refuses_unequal_numbers_and_lone_strings():
    with pytest.raises(ValueError, match="2 hypotheses, 1 references"):
        corpus_bleu(SAID, WANTED[:1])
    with pytest.raises(ValueError, match="0 hypotheses, 0 references"):
        corpus_bleu([], [])
    with pytest.raises(TypeError, match="references is one string"):
        corpus_bleu(["a"], "b")


def test_bleu_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    with pytest.raises(ImportError, match="pip install sacrebleu"):
        corpus_bleu(SAID, WANTED)
