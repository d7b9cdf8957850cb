"""The entries of a config.json, which remember which of them were read.

A reader takes what it needs and then calls ``refuse_the_rest``: an entry that was not read, and is not known to change
nothing, is refused by its name. Null is read like a missing entry: as the value that transformers takes for this
model_type where none is given.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

NO_EFFECT = frozenset(
    # Where the file comes from, and with what it is opened.
    "_name_or_path _commit_hash architectures transformers_version tokenizer_class "
    "torch_dtype dtype attn_implementation _attn_implementation _attn_implementation_autoset torchscript "
    "tf_legacy_loss use_cache output_past cache_implementation transformers.js_config unsloth_fixed "
    # How weights were drawn and trained: dropout, losses, and how they are cut for several machines.
    "initializer_range initializer_factor init_std attention_dropout activation_dropout attn_pdrop embd_pdrop "
    "attention_probs_dropout_prob classifier_dropout classif_dropout encoder_layerdrop decoder_layerdrop "
    "router_aux_loss_coef router_jitter_noise aux_loss_alpha seq_aux ep_size pretraining_tp gradient_checkpointing "
    # What is handed back, and in how many pieces it is computed.
    "return_dict output_hidden_states output_attentions output_router_logits output_scores "
    "return_dict_in_generate chunk_size_feed_forward "
    # Heads for other uses than the next or the hidden word.
    "id2label label2id num_labels _num_labels problem_type finetuning_task task_specific_params prefix "
    "summary_type summary_use_proj summary_activation summary_proj_to_labels summary_first_dropout "
    "directionality pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type "
    # How text is sampled, which older files keep here.
    "max_length min_length do_sample early_stopping num_beams num_beam_groups diversity_penalty temperature top_k "
    "top_p typical_p repetition_penalty length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size bad_words_ids "
    "num_return_sequences remove_invalid_values exponential_decay_length_penalty suppress_tokens begin_suppress_tokens "
    # Said a second time by some files, or of windows that a model_type without layer_types does not have.
    "n_ctx is_llama_config max_window_layers".split()
)
"""Entries that change neither the logits at inference nor a count, whatever their value."""

NO_EFFECT_WHILE_OFF = frozenset(
    "is_encoder_decoder is_decoder add_cross_attention cross_attention_hidden_size tie_encoder_decoder pruned_heads "
    "use_bfloat16 use_bidirectional_attention use_mrope rope_interleaved add_bias_logits".split()
)
"""Entries that change nothing while they are false, 0 or empty."""


MOST_LAYERS, MOST_SIZE, LARGEST = 10_000, 2**40, 1e30
"""The most layers that are read one by one, the largest size and the largest number.

Above them lists fill the memory, and products overflow.
"""

_COUNTS_OF_LAYERS = frozenset(
    "num_hidden_layers num_layers num_decoder_layers encoder_layers decoder_layers n_layer".split()
)


def finite_number(name: str, value: object) -> float:
    """Take an entry's value for a number.

    ValueError, which names the entry, if it is no number, infinite, NaN, or too large to compute with.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} is {value!r}; wanted a number")
    if not -LARGEST <= value <= LARGEST:
        raise ValueError(f"{name} is {value}; wanted a number between {-LARGEST:g} and {LARGEST:g}")
    return float(value)


class Entries:
    """A description whose entries are read one by one.

    Each method that reads takes the entry's name and, as ``default``, what a missing one and null mean; without a
    default the description has to say it. It raises a ValueError that names the entry, its value and what was wanted.

    ``description`` is a mapping or has to_dict(), or else a TypeError; ``kinds`` are the values of model_type that the
    reader knows: ValueError if it is missing or another one.
    """

    def __init__(self, description: Any, kinds: Iterable[str]) -> None:
        if not isinstance(description, Mapping):
            if not hasattr(description, "to_dict"):
                type_name = type(description).__name__
                raise TypeError(f"the description is a {type_name}; wanted the mapping that a config.json holds")
            description = description.to_dict()
        self._all: Mapping[str, Any] = description
        self._read: set[str] = set()
        self.model_type: str = self.one_of("model_type", {model_type: model_type for model_type in kinds})

    def says(self, name: str) -> bool:
        """Whether the description has this entry; null counts."""
        return name in self._all

    def get(self, name: str, default: Any = None) -> Any:
        """Read an entry, whatever it is."""
        self._read.add(name)
        value = self._all.get(name)
        return default if value is None else value

    def __getitem__(self, name: str) -> Any:
        if (value := self.get(name)) is None:
            null = "entry that is not null for" if name in self._all else "field"
            raise ValueError(f"the description has no {null} {name}")
        return value

    def size(self, name: str, default: int | None = None, *, least: int = 1) -> int:
        """Read a whole number of at least ``least``, and not of a size that no model has."""
        value = self[name] if default is None else self.get(name, default)
        if type(value) is not int or value < least:
            raise ValueError(f"{name} is {value!r}; wanted a whole number of at least {least}")
        if value > (most := MOST_LAYERS if name in _COUNTS_OF_LAYERS else MOST_SIZE):
            raise ValueError(f"{name} is {value}; wanted at most {most}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        """Read true or false."""
        value = self.get(name, default)
        if type(value) is not bool:
            raise ValueError(f"{name} is {value!r}; wanted true or false")
        return value

    def number(self, name: str, default: float) -> float:
        """Read a number."""
        value = self.get(name, default)
        return finite_number(name, value)

    def one_of(self, name: str, known: Mapping[str, T], default: str | None = None) -> T:
        """Read an entry that is one of a few names, and give what ``known`` has for it; the default is a name, too."""
        value = self[name] if default is None else self.get(name, default)
        if not isinstance(value, str) or value not in known:
            alone = " alone" if len(known) == 1 else ""
            raise ValueError(f"{name} is {value!r}; this library has {', '.join(map(str, known))}{alone}")
        return known[value]

    def only(self, **known: object) -> None:
        """Refuse an entry with another value than the one that this library has; null is taken for that one."""
        for name, value in known.items():
            if (got := self.get(name, value)) != value:
                raise ValueError(f"{name} is {got!r}; this library has {value!r} alone")

    def same(self, *names: str) -> str:
        """Find out by which of its names an entry goes: the first that has a value, or else the first of all.

        ValueError if several have values that differ.
        """
        stated = {name: value for name in names if (value := self.get(name)) is not None}
        if any(value != next(iter(stated.values())) for value in stated.values()):
            raise ValueError(f"{' and '.join(stated)} are names of one entry, but their values differ: {stated}")
        return next(iter(stated), names[0])

    def token_id(self, name: str, otherwise: int | None = None, *, or_first: bool = False) -> int:
        """Read a special token's id, within vocab_size; ``otherwise`` stands in where there is none.

        With ``or_first`` there may be a list of ids, of which the first is taken.
        """
        value = self.get(name, otherwise)
        if or_first and isinstance(value, list | tuple) and value:
            value = value[0]
        if type(value) is not int:
            raise ValueError(f"{name} is {value!r}; wanted one id")
        vocab_size = self.size("vocab_size")
        if not 0 <= value < vocab_size:
            raise ValueError(f"{name} is {value}; the vocabulary has ids 0 to {vocab_size - 1}")
        return value

    def refuse_the_rest(self, without_effect: Iterable[str] = ()) -> None:
        """Refuse what was not read and is not known to change nothing.

        ``without_effect`` are further entries that change nothing of what the caller makes of the description.
        ValueError with all other entries and their values.
        """
        known = self._read | NO_EFFECT | set(without_effect)
        unread_entries = {
            name: value
            for name, value in self._all.items()
            if name not in known
            and value is not None
            and not name.endswith(("_token_id", "_token_ids", "_token_index"))
            and (value or name not in NO_EFFECT_WHILE_OFF)
        }
        if unread_entries:
            text = ", ".join(f"{name} = {_short(value)}" for name, value in sorted(unread_entries.items()))
            raise ValueError(
                f"{text}: not understood for model_type {self.model_type!r}. If it changes nothing, take it out of the "
                "description; otherwise the published model is another one than this library would make of it"
            )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
