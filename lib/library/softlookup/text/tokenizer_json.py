"""Reads a tokenizer.json of SmolLM2's kind, and refuses whatever in it would give other ids than the tokenizer here."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from softlookup.text.byte_level import ByteLevelTokenizer
from softlookup.text.pieces import byte_characters
from softlookup.text.vocabulary import Specials, Vocabulary
from softlookup_inside.untrusted_files import is_pair_list, is_text_list, shortened

# Parts of the file that are looked at; of any other, and of any entry in them that is not read, nothing may be set.
_PARTS = {"version", "added_tokens", "pre_tokenizer", "post_processor", "decoder", "model"}
_MODEL = {"type", "vocab", "merges", "unk_token", "fuse_unk", "byte_fallback"}
_UNSET = (None, False, "")
# The template that transformers 5 writes where nothing stands before or behind a text.
_TEXT_ALONE = {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}]}


def published_tokenizer(content: Mapping[str, Any], description: Mapping[str, Any]) -> ByteLevelTokenizer:
    """Make the tokenizer that a tokenizer.json describes, where it is of SmolLM2's kind.

    ``content`` is tokenizer.json's, ``description`` config.json's, which names the ids of special tokens. ValueError,
    which names the entry and its value, if it is another kind of tokenizer or sets anything that would give other ids.

    Source: Radford et al. 2019 (bytes and merges); Allal et al. 2025 (single digits).
    """
    model, cutting = content.get("model") or {}, content.get("pre_tokenizer") or {}
    _check_types(model, cutting, added := content.get("added_tokens") or [])
    _check_kind(model, cutting)
    if (version := content.get("version", "1.0")) != "1.0":
        raise ValueError(f"tokenizer.json has the version {shortened(version)}; wanted 1.0")
    _refuse_the_rest(content, _PARTS)
    for name, types in (("post_processor", (None, "ByteLevel")), ("decoder", ("ByteLevel",))):
        part = content.get(name)
        part_type = part.get("type") if isinstance(part, dict) else part
        if part_type not in types and not (isinstance(part, dict) and part.items() >= _TEXT_ALONE.items()):
            raise ValueError(f"tokenizer.json has the {name} {shortened(part)}; wanted {' or '.join(map(repr, types))}")
    _refuse_the_rest(model, _MODEL)
    lacks_bytes = not all(character in model["vocab"] for character in byte_characters())
    for name in ("unk_token", "byte_fallback"):  # they say what becomes of a byte without a token
        if lacks_bytes and model.get(name) not in (None, False):
            raise ValueError(
                f"tokenizer.json has {name} {shortened(model[name])} and no token for some bytes, which are left out "
                "here"
            )
    number_of = _numbers(model["vocab"], added)
    tokens = sorted(number_of, key=number_of.__getitem__)
    if [number_of[token] for token in tokens] != list(range(len(tokens))):
        raise ValueError("tokenizer.json leaves ids out, or gives some of them twice; wanted 0, 1, 2 and so on")
    end: Any
    end, start = (description.get(name) for name in ("eos_token_id", "bos_token_id"))
    ids = [description.get("pad_token_id"), start, start, end]
    for name, token_id in (("eos_token_id", end), ("bos_token_id", start), ("pad_token_id", ids[0])):
        if (token_id is None and name == "eos_token_id") or not _is_id_or_none(token_id, len(tokens)):
            raise ValueError(f"config.json has {name} {shortened(token_id)}; wanted an id from 0 to {len(tokens) - 1}")
    specials = Specials(*(tokens[end if token_id is None else token_id] for token_id in ids))
    pairs = (pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"])
    merges = [(first, second) for first, second in pairs]
    _check_order(merges)
    names = [entry["content"] for entry in added]
    _check_characters(tokens, set(names))
    return ByteLevelTokenizer(Vocabulary(tokens, specials), merges, names)


def check_settings(settings: Mapping[str, Any], content: Mapping[str, Any]) -> None:
    """Refuse a tokenizer_config.json with which transformers gives other ids than those of tokenizer.json.

    ``settings`` are tokenizer_config.json's, ``content`` is what published_tokenizer has read. ValueError, which names
    the entry and its value, if a special token is another one, or an entry asks for other ids.
    """
    for name in ("split_special_tokens", "add_prefix_space"):
        if settings.get(name):
            raise ValueError(f"it has {name} {shortened(settings[name])}, which is not read here")
    added = {str(entry["id"]): entry for entry in content.get("added_tokens") or []}
    repeated = settings.get("added_tokens_decoder") or {}
    for token_id, token in repeated.items() if isinstance(repeated, dict) else [("", repeated)]:
        if token_id not in added or not isinstance(token, dict) or _set_entries(token) != _set_entries(added[token_id]):
            raise ValueError(
                f"it has the added token {shortened(token_id)} with {shortened(token, 200)}, which is not the one of "
                "tokenizer.json"
            )
    special_tokens = [(name, token) for name, token in settings.items() if name.endswith("_token")]
    for name in ("additional_special_tokens", "extra_special_tokens"):
        further = settings.get(name)
        further = list(further.values()) if isinstance(further, dict) else further
        special_tokens += [(name, token) for token in (further if isinstance(further, list) else [])]
    contents = {entry["content"] for entry in added.values()}
    for name, token in special_tokens:
        text = token.get("content") if isinstance(token, dict) else token
        if isinstance(text, str) and text not in contents:
            raise ValueError(f"it has {name} {shortened(text)!r}, which tokenizer.json does not add")


def _set_entries(token: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what an entry of added_tokens does not set, and its id, which stands elsewhere in the other file."""
    return {name: value for name, value in token.items() if name != "id" and value not in _UNSET}


def _is_id_or_none(value: object, n_tokens: int) -> bool:
    return value is None or (type(value) is int and 0 <= value < n_tokens)


def _refuse_the_rest(entries: Mapping[str, Any], names: set[str], subject: str = "tokenizer.json") -> None:
    """Refuse an entry that is set and is not among these."""
    for name, value in entries.items():
        if name not in names and value not in _UNSET:
            raise ValueError(f"{subject} has {shortened(name)} {shortened(value)}, which is not read here")


def _check_types(model: object, cutting: object, added: object) -> None:
    """Refuse parts of a tokenizer.json that are not of the type that every such file has there."""
    if not isinstance(model, dict) or not isinstance(cutting, dict):
        raise ValueError("tokenizer.json has a model or a pre_tokenizer that is no object")
    ids, merges, steps = model.get("vocab"), model.get("merges"), cutting.get("pretokenizers", [])
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise ValueError(f"tokenizer.json has the pretokenizers {shortened(steps)}; wanted a list of objects")
    if model.get("type") != "BPE":
        return  # what another type has is not looked at
    if not isinstance(ids, dict) or not all(type(token_id) is int for token_id in ids.values()):
        raise ValueError(f"tokenizer.json has the vocab {shortened(ids)}; wanted an object with an id for each token")
    is_text = is_text_list(merges) and all(pair.count(" ") == 1 for pair in merges or [])
    if not is_text and not is_pair_list(merges):
        raise ValueError(f"tokenizer.json has the merges {shortened(merges)}; wanted a list of pairs of tokens")
    if not isinstance(added, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("content"), str) and type(entry.get("id")) is int
        for entry in added
    ):
        raise ValueError(f"tokenizer.json has the added_tokens {shortened(added)}; wanted objects with content and id")


def _check_kind(model: Mapping[str, Any], cutting: Mapping[str, Any]) -> None:
    steps = [{"use_regex": True} | dict(step) for step in cutting.get("pretokenizers", [])]
    for step in steps:
        step.pop("trim_offsets", None)  # says where in the text a token stands, not which it is
    digits = {"type": "Digits", "individual_digits": True, "use_regex": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
    if model.get("type") != "BPE" or cutting.get("type") != "Sequence" or steps != [digits, byte_level]:
        raise ValueError(
            f"tokenizer.json describes a {shortened(model.get('type'))!r} tokenizer with the pre_tokenizer "
            f"{shortened(cutting, 300)}; wanted 'BPE' with single digits before bytes, as SmolLM2 has it"
        )


def _numbers(ids: Mapping[str, int], added: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Give each token its id, those of added_tokens among them."""
    number_of = dict(ids)
    for entry in added:
        name = entry["content"]
        if not name or entry.get("special") is not True:
            raise ValueError(
                f"tokenizer.json has the added token {shortened(name)!r}, and special is "
                f"{shortened(entry.get('special'))}; wanted special tokens alone, with true"
            )
        _refuse_the_rest(entry, {"id", "content", "special"}, f"the added token {shortened(name)!r} of tokenizer.json")
        if number_of.setdefault(name, len(number_of)) != entry["id"]:
            raise ValueError(
                f"tokenizer.json has the added token {shortened(name)!r} with id {entry['id']}; its place in the "
                f"vocabulary gives {number_of[name]}: it leaves ids out, or gives some of them twice"
            )
    return number_of


def _check_order(merges: Sequence[tuple[str, str]]) -> None:
    """Refuse merges that another order of work would join otherwise: a part that a later merge makes again."""
    parts: set[str] = set()
    for rank, (first, second) in enumerate(merges):
        if first + second in parts:
            raise ValueError(
                f"tokenizer.json has merge {rank}, {shortened(first)!r} + {shortened(second)!r}, behind a merge that "
                "needs its result; wanted merges in the order in which they were learned"
            )
        parts |= {first, second}


def _check_characters(tokens: Sequence[str], names: Set[str]) -> None:
    """Refuse a token that stands for no bytes, and a special one whose name the decoder takes for other bytes."""
    characters = set(byte_characters())
    for token in tokens:
        if token in names and characters.issuperset(token) and not token.isascii():
            raise ValueError(
                f"tokenizer.json has the added token {shortened(token)!r}, which its decoder writes as other "
                "characters; wanted special tokens in ASCII, or with a character that stands for no byte"
            )
        if token not in names and not characters.issuperset(token):
            raise ValueError(
                f"tokenizer.json has the token {shortened(token)!r} in its vocab, which stands for no bytes and is "
                "not in added_tokens"
            )
