"""Text for models: vocabularies, tokenizers, parallel corpora and a small grammar of our own."""

from softlookup.text import grammar
from softlookup.text.bpe import BytePairTokenizer
from softlookup.text.bpe_training import Merge, train_steps
from softlookup.text.byte_level import ByteLevelTokenizer, split_words_and_digits
from softlookup.text.characters import CharacterTokenizer
from softlookup.text.corpus import Corpus, length_buckets, pad, read_pairs
from softlookup.text.grammar import Pair, english_words, french_words
from softlookup.text.pieces import normalise, split_pieces
from softlookup.text.segmentations import SegmentationPool
from softlookup.text.tokenizer import Tokenizer
from softlookup.text.vocabulary import Specials, Vocabulary
from softlookup.text.wordpiece import WordPieceTokenizer
from softlookup.text.words import WordTokenizer, join_words, split_words

__all__ = [
    "ByteLevelTokenizer",
    "BytePairTokenizer",
    "CharacterTokenizer",
    "Corpus",
    "Merge",
    "Pair",
    "SegmentationPool",
    "Specials",
    "Tokenizer",
    "Vocabulary",
    "WordPieceTokenizer",
    "WordTokenizer",
    "english_words",
    "french_words",
    "grammar",
    "join_words",
    "length_buckets",
    "normalise",
    "pad",
    "read_pairs",
    "split_pieces",
    "split_words",
    "split_words_and_digits",
    "train_steps",
]
