"""The translator that comes with the library, and the loading of any other."""

import json
import shutil

import pytest
import torch

from softlookup.model import load_translator
from softlookup.model.published.translator import SHIPPED, Translator

SENTENCES = [
    "A dog runs across a green field.",
    "Two women are talking in a small kitchen.",
    "A black cat sleeps on a white sofa.",
]


@pytest.fixture(scope="module")
def translator():
    return load_translator()


def test_shipped_translator_keeps_its_promises(translator):
    sizes = [p.numel() for p in translator.model.parameters()]
    assert sum(sizes) <= 10_000_000
    assert (SHIPPED / "model.safetensors").stat().st_size < 25_000_000
    assert all(p.dtype == torch.float32 for p in translator.model.parameters())
    card = (SHIPPED / "CARD.md").read_text(encoding="utf-8")
    for word in ("Multi30k", "terms", "seed", "BLEU", "hardware"):
        assert word.lower() in card.lower()


def test_card_tells_the_size_of_the_weights_beside_it(translator):
    card, config = (SHIPPED / "CARD.md").read_text(encoding="utf-8"), translator.model.config
    written = config.n_decoder_layers or config.n_layers
    sizes = (
        f"{config.n_layers} + {written} layers, D = {config.d_model}, N = {config.n_heads} heads, F = {config.d_hidden}"
    )
    assert sizes in card
    assert f"{sum(p.numel() for p in translator.model.parameters()):,}" in card


def test_shipped_translator_translates_our_own_sentences(translator):
    texts = [t.text for t in translator.translate_all(SENTENCES)]
    assert "chien" in texts[0] and texts[0].endswith(".")
    assert "femmes" in texts[1] and "cuisine" in texts[1]
    assert "chat noir" in texts[2] and "canapé blanc" in texts[2]


def test_one_sentence_alone_is_translated_as_in_company(translator):
    together = translator.translate_all(SENTENCES)
    for sentence, among in zip(SENTENCES, together, strict=True):
        alone = translator.translate(sentence)
        assert (alone.text, alone.tokens) == (among.text, among.tokens)
        assert alone.score == pytest.approx(among.score, abs=1e-4)


def test_score_is_the_log_probability_over_the_length_penalty(translator):
    translation = translator.translate(SENTENCES[0], length_penalty=0.6)
    assert translation.score == pytest.approx(
        translation.log_probability / ((5 + len(translation.tokens)) / 6) ** 0.6, abs=1e-4
    )
    source_ids = torch.tensor([translator.tokenizer.encode(SENTENCES[0], end=True)])
    target_ids = torch.tensor([translator.tokenizer.encode(translation.text, start=True, end=True)])
    with torch.no_grad():
        log_p = translator.model(source_ids, target_ids[:, :-1]).log_softmax(-1)
    expected = log_p.gather(2, target_ids[:, 1:, None]).sum()
    assert translation.log_probability == pytest.approx(float(expected), abs=1e-3)


def test_more_beams_never_find_a_likelier_first_choice_missing(translator):
    greedy = translator.translate(SENTENCES[2], beams=1, length_penalty=0.0)
    wide = translator.translate(SENTENCES[2], beams=8, length_penalty=0.0)
    assert wide.log_probability >= greedy.log_probability - 1e-4


def test_alignment_has_a_row_for_each_piece_written_and_rows_sum_to_one(translator):
    alignment = translator.alignment(SENTENCES[0])
    assert alignment.tokens == translator.translate(SENTENCES[0]).tokens
    config = translator.model.config
    assert alignment.weights.shape == (
        config.n_layers,
        config.n_heads,
        len(alignment.tokens),
        len(alignment.source_tokens),
    )
    torch.testing.assert_close(alignment.weights.sum(-1), torch.ones(alignment.weights.shape[:-1]))
    # The piece that says dog was written while looking at dog.
    row = next(i for i, token in enumerate(alignment.tokens) if "chien" in token)
    column = next(i for i, token in enumerate(alignment.source_tokens) if "dog" in token)
    assert alignment.weights[:, :, row].mean((0, 1)).argmax() == column


def test_alignment_of_a_given_translation_is_that_of_its_pieces(translator):
    alignment = translator.alignment("A cat sleeps.", "Un chat dort.")
    assert "".join(alignment.tokens[:-1]).replace("▁", " ").strip() == "Un chat dort."


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t: t.translate(""), ValueError, "holds no words"),
        (lambda t: t.translate("   "), ValueError, "holds no words"),
        (lambda t: t.translate(["a"]), TypeError, "wanted one string"),
        (lambda t: t.translate_all("a"), TypeError, "one string; wanted several"),
        (lambda t: t.translate_all([]), ValueError, "no sentences"),
        (lambda t: t.translate("a dog " * 300), ValueError, "the model takes 256"),
    ],
)
def test_bad_sentences_are_refused(translator, unchecked, call, error, message):
    with pytest.raises(error, match=message):
        call(translator)


def test_a_folder_that_lacks_a_file_is_named(tmp_path):
    shutil.copy(SHIPPED / "merges.txt", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"config\.json is missing; wanted a folder that `softlookup train`"):
        load_translator(tmp_path)


def test_a_model_of_another_vocabulary_is_refused(translator, tmp_path):
    for name in ("merges.txt", "config.json", "model.safetensors"):
        shutil.copy(SHIPPED / name, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    config["vocab_size"] += 1
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ValueError, match="shape|vocab"):
        load_translator(tmp_path)
    other = load_translator().model
    other.config = other.config.but(vocab_size=len(translator.tokenizer) + 1)
    with pytest.raises(ValueError, match="pieces of words, the tokenizer"):
        Translator(other, translator.tokenizer)
