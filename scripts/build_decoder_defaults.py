"""Write what transformers takes for the entries that a config.json of a decoder leaves out.

Run it with a new version of transformers: .venv/bin/python scripts/build_decoder_defaults.py
"""

import dataclasses
import json
import logging
from pathlib import Path

from softlookup.describing.entries import NO_EFFECT
from softlookup.describing.filled_entries import DEFAULTS, PLAIN_ROPE
from softlookup.describing.read_layers import DECODERS


def defaults_of(model_type: str) -> dict[str, dict[str, object]]:
    """The entries of a model_type that transformers knows with their defaults, and other names that entries have.

    "entries" and "names", and "rope" where rotary positions are not the plain ones with a base of 10,000.
    """
    from transformers import CONFIG_MAPPING, PreTrainedConfig

    kind = CONFIG_MAPPING[model_type]
    fields = dataclasses.fields(kind)
    general = {field.name for field in dataclasses.fields(PreTrainedConfig)}
    names, general = dict(kind.attribute_map), general | (NO_EFFECT - {"max_window_layers"})
    entries = {
        names.get(field.name, field.name): None if field.default is dataclasses.MISSING else field.default
        for field in fields
        if field.name not in general and not field.name.endswith("_token_id")
    }
    if any(field.name == "tie_word_embeddings" for field in fields):
        entries["tie_word_embeddings"] = kind().tie_word_embeddings
    made = {"entries": json.loads(json.dumps(entries)), "names": names}
    rope = getattr(kind(), "rope_parameters", None)
    return made if rope in (None, PLAIN_ROPE) else made | {"rope": json.loads(json.dumps(rope))}


def wrappers() -> dict[str, bool]:
    """The model_types whose text decoder is one of those, and whether their output matrix is the table of tokens."""
    from transformers import CONFIG_MAPPING

    ties = {}
    for name, kind in CONFIG_MAPPING.items():
        fields = {field.name for field in dataclasses.fields(kind)}
        if {"text_config", "tie_word_embeddings"} <= fields and "text_config" in kind.sub_configs:
            try:
                whole = kind()
            except Exception:  # some need an entry
                continue
            if getattr(whole.text_config, "model_type", None) in DECODERS:
                ties[name] = bool(whole.tie_word_embeddings)
    return dict(sorted(ties.items()))


def main(file: Path = DEFAULTS) -> None:
    """Write the file of defaults."""
    import transformers

    logging.disable(logging.WARNING)
    lines = [f'  "{name}": {json.dumps(defaults_of(name), sort_keys=True)}' for name in DECODERS]
    head = f'{{"transformers": "{transformers.__version__}",\n"wrappers": {json.dumps(wrappers())},\n"families": {{\n'
    text = head + ",\n".join(lines) + "\n}}\n"
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
