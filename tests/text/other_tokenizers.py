"""The `tokenizers` library, set up to do what ours do."""

import json

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from softlookup.text.pieces import PIECE, SPACE, byte_characters, split_pieces

SPECIALS = ["<pad>", "<unk>", "<s>", "</s>"]


def trained_elsewhere(texts, vocab_size, min_count=2, byte_level=False):
    """Give the merges and the vocabulary that the other library learns from the same pieces."""
    other = Tokenizer(models.BPE(unk_token="<unk>"))
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_count,
        special_tokens=SPECIALS,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if byte_level else [],
    )
    steps = [pre_tokenizers.Split("\n", "removed")]
    if byte_level:
        steps.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))
    other.pre_tokenizer = pre_tokenizers.Sequence(steps)
    lines = ("\n".join(split_pieces(text)) for text in texts)
    other.train_from_iterator((line.replace(SPACE, " ") if byte_level else line for line in lines), trainer)
    merges = json.loads(other.to_str())["model"]["merges"]
    return [tuple(pair) for pair in merges], other.get_vocab()


def same_merges_elsewhere(tokenizer):
    """Build the other library's tokenizer from our merges, with its own cutting into pieces."""
    vocabulary = {token: number for number, token in enumerate(tokenizer.vocabulary.tokens)}
    other = Tokenizer(models.BPE(vocabulary, list(tokenizer.merges), unk_token="<unk>"))
    marker = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
    other.pre_tokenizer = pre_tokenizers.Sequence([marker, pre_tokenizers.Split(Regex(PIECE), "isolated")])
    return other


def byte_level_json(texts, names, vocab_size=700):
    """Give the tokenizer.json that the other library learns with single digits before bytes, as SmolLM2's has them."""
    other = Tokenizer(models.BPE())
    digits, pieces = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    other.pre_tokenizer = pre_tokenizers.Sequence([digits, pieces])
    other.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=names, initial_alphabet=list(byte_characters()), show_progress=False
    )
    other.train_from_iterator(texts, trainer)
    return json.loads(other.to_str())
