"""What Python sends to the map: against the model run another way."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from softlookup.model import Transformer, Translator, load_translator
from softlookup_course.widgets import MachineMap
from softlookup_course.widgets.machine_map import NORMS, SHOWN_NUMBERS, SHOWN_WORDS, compute, plain, sizes
from softlookup_course.widgets.machine_parts import PARTS

BOOK = Path(__file__).resolve().parents[2] / "book"
SENTENCE = "A cat sleeps on a red chair."


@pytest.fixture(scope="module")
def translator():
    return load_translator()


@pytest.fixture(scope="module")
def run(translator):
    return compute(translator, SENTENCE)


def test_probabilities_are_those_of_writing_word_by_word(translator, run):
    """The map runs all steps at once, with the mask; here each word is written in a pass of its own, with a cache."""
    state = translator.model.start(torch.tensor([run["source_ids"]]))
    with torch.no_grad():
        for step, token in enumerate(run["target_ids"][:-1]):
            logits, state = translator.model.step(torch.tensor([[token]]), state)
            best = logits[0].softmax(-1).topk(SHOWN_WORDS)
            assert int(best.indices[0]) == run["target_ids"][step + 1]
            assert run["probabilities"][step] == pytest.approx(best.values.tolist(), abs=1e-5)
            names = [plain(translator.tokenizer.vocabulary.token(int(i))) for i in best.indices]
            assert run["best"][step] == names
            assert run["logits"][step] == pytest.approx(logits[0][best.indices].tolist(), abs=1e-4)


def test_cross_attention_is_the_mean_of_the_heads_of_the_translators_own_alignment(translator, run):
    weights_LNTS = translator.alignment(SENTENCE, run["translation"]).weights
    torch.testing.assert_close(
        torch.tensor(run["weights"]["cross-attention"]), weights_LNTS.mean(dim=1), rtol=1e-5, atol=1e-6
    )


def test_rows_of_all_weights_sum_to_one_and_no_word_looks_ahead(run):
    for tables in run["weights"].values():
        for table in tables:
            assert [sum(row) for row in table] == pytest.approx([1.0] * len(table), abs=1e-5)
    for table in run["weights"]["masked-attention"]:
        assert all(share == 0 for i, row in enumerate(table) for share in row[i + 1 :])


def test_vectors_are_rows_of_the_table_then_with_positions_then_read(translator, run):
    model = translator.model
    rows = model.embedder.tokens.table[run["source_ids"]] * model.config.d_model**0.5
    torch.testing.assert_close(torch.tensor(run["vectors"]["embedding"]), rows[:, :SHOWN_NUMBERS], check_dtype=False)
    first = torch.tensor(run["vectors"]["positions"]) - torch.tensor(run["vectors"]["embedding"])
    place = torch.arange(len(run["source_ids"]))
    torch.testing.assert_close(first[:, 0], place.sin(), check_dtype=False, rtol=1e-4, atol=1e-4)
    memory, _ = model.encode(torch.tensor([run["source_ids"]]))
    shown = memory[0, :, :SHOWN_NUMBERS].detach()
    torch.testing.assert_close(torch.tensor(run["vectors"]["memory"]), shown, check_dtype=False, rtol=1e-5, atol=1e-5)


def test_hidden_units_are_counted_once_for_each_layer_and_token(translator, run):
    layers = translator.model.config.n_layers
    for name, tokens in (("feed-forward", run["source"]), ("decoder-feed-forward", run["target"][:-1])):
        counts = run["active"][name]
        assert [len(row) for row in counts] == [len(tokens)] * layers
        assert all(0 < count < translator.model.config.d_hidden for count in counts[0])
    x = translator.model.embedder(torch.tensor([run["source_ids"]]))
    for layer, counts in zip(translator.model.encoder.layers, run["active"]["feed-forward"], strict=True):
        x = x + layer.attention(layer.attention_residual.norm(x))
        inside = layer.feed_forward_residual.norm(x)
        hidden = inside @ layer.feed_forward.w_1 + layer.feed_forward.b_1
        assert counts == (hidden[0] > 0).sum(-1).tolist()
        x = x + layer.feed_forward(inside)


def test_every_sublayer_has_a_norm_whose_lengths_are_the_models(translator, run):
    model = translator.model
    x = model.embedder(torch.tensor([run["source_ids"]]))
    expected = {"attention-norm": [], "feed-forward-norm": [], "encoder-norm": []}

    def through(slug, norm):
        expected[slug].append([x[0].double().norm(dim=-1).tolist(), norm(x)[0].double().norm(dim=-1).tolist()])
        return norm(x)

    for layer in model.encoder.layers:
        x = x + layer.attention(through("attention-norm", layer.attention_residual.norm))
        x = x + layer.feed_forward(through("feed-forward-norm", layer.feed_forward_residual.norm))
    through("encoder-norm", model.encoder.norm)
    for slug, lengths in expected.items():
        torch.testing.assert_close(torch.tensor(run["norms"][slug]), torch.tensor(lengths), rtol=1e-5, atol=1e-5)
    layers, steps = model.config.n_layers, len(run["target"]) - 1
    for slug in NORMS["decoder"]:
        assert torch.tensor(run["norms"][slug]).shape == (1 if slug == "decoder-norm" else layers, 2, steps)
    first_BTD = model.embedder(torch.tensor([run["target_ids"][:-1]]))
    before = torch.tensor(run["norms"]["masked-norm"][0][0])
    torch.testing.assert_close(before, first_BTD[0].norm(dim=-1), check_dtype=False)


def test_path_goes_through_a_norm_before_every_sublayer_and_after_every_stack():
    for side, norms in NORMS.items():
        parts = [part for part in PARTS if part.side == side]
        assert tuple(part.slug for part in parts if part.name == "Norm") == norms
        inside = [part for part in parts if part.block]
        assert [part.name == "Norm" for part in inside[:-1]] == [True, False] * (len(norms) - 1)
        assert inside[-1].slug.endswith("residual")
        after = parts[parts.index(inside[-1]) + 1]
        assert after.slug == norms[-1] and not after.block


def test_parameters_of_the_parts_are_all_there_are(translator):
    counts = sizes(translator)
    assert sum(counts["parameters"].values()) == counts["all"]
    assert counts["all"] == sum(p.numel() for p in translator.model.parameters())
    assert set(counts["parameters"]) <= {part.slug for part in PARTS}
    d, f, layers = (counts["letters"][letter] for letter in "DFL")
    assert counts["parameters"]["cross-attention"] == layers * 4 * d * d
    assert counts["parameters"]["cross-norm"] == layers * 2 * d and counts["parameters"]["decoder-norm"] == 2 * d
    assert counts["parameters"]["feed-forward"] == layers * (2 * d * f + f + d)


@pytest.mark.parametrize("layers", [1, 6])
def test_machine_of_any_number_of_layers_has_a_map(translator, layers):
    torch.manual_seed(0)
    config = replace(translator.model.config, d_model=8, n_heads=2, n_layers=layers, d_hidden=12)
    figure = MachineMap(Translator(Transformer(config), translator.tokenizer), [SENTENCE])
    run = figure.runs[0]
    assert figure.sizes["letters"]["L"] == layers and 0 <= figure.layer < layers
    assert {len(tables) for tables in (*run["weights"].values(), *run["active"].values())} == {layers}
    assert {len(states) for states in run["lengths"].values()} == {layers + 1}
    assert {len(run["norms"][slug]) for norms in NORMS.values() for slug in norms[:-1]} == {layers}
    assert sum(figure.sizes["parameters"].values()) == figure.sizes["all"]


def test_map_opens_where_cross_attention_is_most_decided(translator, run):
    weights_LNTS = translator.alignment(SENTENCE, run["translation"]).weights
    largest_L = weights_LNTS.mean(dim=1).amax(dim=-1).mean(dim=-1)
    assert MachineMap(translator, [SENTENCE]).layer == int(largest_L.argmax())


def test_every_link_of_a_part_leads_to_a_label_of_a_page():
    links = [part.link for part in PARTS if part.link]
    assert links
    for link in links:
        page, label = link.split(".html#")
        assert f"({label})=" in (BOOK / f"{page}.md").read_text(encoding="utf-8"), link
