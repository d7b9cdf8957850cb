"""A model as a text that a page can load from the disk: a header, and the numbers in characters of seven bits."""

import zlib
from typing import Any

import numpy as np

from softlookup.live.rounding import matrices, quantise
from softlookup.model.parts.config import SIZES, check_parts
from softlookup.model.published.translator import Translator
from softlookup.model.published.writer import Writer

UNSAFE = (0, *b'\n\r"\\')
"""Seven-bit numbers whose characters cannot stand in a string of a script; they are written 128 higher."""


_SIZES = ("d_model", "n_heads", "n_kv_heads", "n_layers", "max_length", "rotary_base", "norm_eps", "start_id", "end_id")

_KNOWN = {
    "Translator": SIZES | {"pre_norm": (True,)},
    "Writer": SIZES
    | {
        "n_kv_heads": (),
        "positions": ("rotary",),
        "norm": ("rms",),
        "pre_norm": (True,),
        "activation": ("swiglu",),
        "hidden_bias": (False,),
        "scale_embeddings": (False,),
    },
}
"""What the page's code computes of each of the two: fields that are not listed have their defaults."""


def pack(shipped: Translator | Writer) -> tuple[dict[str, Any], bytes]:
    """Write a translator or a writer as a header and bytes.

    The model is in float32. The header: its sizes, the tokenizer's alphabet and merges, and names and shapes of what
    the bytes hold. The bytes: all matrices in int8, zeros up to a multiple of four, then the scales of all matrices,
    the norms and the biases in float32, the least byte first. ValueError, which names it, for a part that the page's
    code does not know.
    """
    model, tokenizer = shipped.model, shipped.tokenizer
    check_parts(model.config, _KNOWN[type(shipped).__name__], "the page's code")
    quantised = {name: quantise(w) for name, w in matrices(model).items()}
    vectors = {name: parameter.detach().numpy() for name, parameter in model.named_parameters() if parameter.ndim == 1}
    whole = b"".join(numbers.numpy().tobytes() for numbers, _ in quantised.values())
    floats = [*(scales.numpy() for _, scales in quantised.values()), *vectors.values()]
    config = model.config
    header = {
        "config": {name: getattr(config, name) for name in _SIZES},
        "alphabet": "".join(tokenizer.alphabet),
        "merges": tokenizer.merges,
        "matrices": [[name, *numbers.shape] for name, (numbers, _) in quantised.items()],
        "vectors": [[name, len(vector)] for name, vector in vectors.items()],
    }
    return header, whole + bytes(-len(whole) % 4) + b"".join(array.astype("<f4").tobytes() for array in floats)


def as_text(data: bytes) -> str:
    """Write bytes as text for a string in a script: gzip, then seven bits to a character.

    Base64 would be a fifth longer: there, four bytes of a file carry three of the data.

    In UTF-8 all but a few characters of the text are one byte.
    """
    # Hardly anything repeats: Huffman coding alone gives a shorter result than a search for repetitions, and sooner.
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS + 16, strategy=zlib.Z_HUFFMAN_ONLY)
    bits = np.unpackbits(np.frombuffer(packer.compress(data) + packer.flush(), dtype=np.uint8))
    sevens = np.packbits(np.pad(bits, (0, -len(bits) % 7)).reshape(-1, 7), axis=1)[:, 0] >> 1
    sevens[np.isin(sevens, UNSAFE)] += 128
    return sevens.tobytes().decode("latin-1")
