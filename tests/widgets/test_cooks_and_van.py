"""The steps of a layer in Python: their formulas are their counts, and what the page says of them holds."""

import itertools
import re

import pytest

from softlookup import roofline as rl
from softlookup_course.widgets import CooksAndVan, cooks_and_van
from softlookup_course.widgets.cooks_and_van import CONTEXT, FUSED, STEPS, TOKENS

MODEL, MACHINE = "Llama 3 8B", "A100 80GB SXM"
WORD = re.compile(r"[A-Z]+")


@pytest.mark.parametrize("model", ["Llama 2 7B", MODEL])
@pytest.mark.parametrize("tokens", [1, 50, CONTEXT])
def test_formulas_give_what_is_counted(model, tokens):
    sizes = rl.MODELS[model]
    letters = {"T": tokens, "S": CONTEXT, "D": sizes.D, "N": sizes.N, "K": sizes.kv_heads, "H": sizes.head_width}
    letters |= {"F": sizes.F, "NH": sizes.wide, "KH": sizes.narrow}
    for name, (flops, moved) in cooks_and_van.counted(model, tokens).items():
        formulas = [
            WORD.sub(lambda word: str(letters[word[0]]), formula.replace("·", "*")) for formula in STEPS[name][1:]
        ]
        assert [flops, moved / 2] == [eval(formula) for formula in formulas], name


@pytest.mark.parametrize("model", ["Llama 2 7B", MODEL, "Llama 2 70B", "Mistral 7B"])
@pytest.mark.parametrize("machine", [MACHINE, "A100 80GB PCIe", "H100 SXM", "H200"])
def test_times_add_up_to_those_of_the_whole_layer_kernel_by_kernel(model, machine):
    card = rl.hardware(machine)
    for fused, tokens in itertools.product((False, True), TOKENS):
        hidden = ("scores", "softmax", "mix") if fused else (FUSED,)
        times = cooks_and_van.step_seconds(model, machine, tokens)
        kernels = rl.layer(rl.MODELS[model], 1, tokens, cached=CONTEXT - tokens, fused=fused)
        whole = sum(rl.predicted_time_s(card, kernel.flops, kernel.bytes, "bfloat16") for kernel in kernels)
        assert sum(max(pair) for name, pair in times.items() if name not in hidden) == pytest.approx(whole)


def test_times_are_longest_where_the_ridge_says():
    ridge = rl.ridge(rl.hardware(MACHINE), "bfloat16")
    for tokens in TOKENS:
        times = cooks_and_van.step_seconds(MODEL, MACHINE, tokens)
        for name, (flops, moved) in cooks_and_van.counted(MODEL, tokens).items():
            assert (times[name][0] > times[name][1]) == (flops / moved > ridge), (name, tokens)


def test_stand_in_holds_formulas_and_times_of_a_whole_prompt():
    html = CooksAndVan([MODEL], [MACHINE]).fallback
    for name, (cooks, van) in cooks_and_van.step_seconds(MODEL, MACHINE, CONTEXT).items():
        cells = f"<td>{STEPS[name][1]}</td><td>{STEPS[name][2]}</td><td>{1e6 * cooks:.3g}</td><td>{1e6 * van:.3g}</td>"
        assert cells in html
    assert "With scripts switched on" in html and FUSED in html


def test_unknown_names_are_refused():
    with pytest.raises(KeyError, match="GPT-9"):
        CooksAndVan(["GPT-9"], [MACHINE])
    with pytest.raises(KeyError, match="no data sheet for 'A900'"):
        CooksAndVan([MODEL], ["A900"])
