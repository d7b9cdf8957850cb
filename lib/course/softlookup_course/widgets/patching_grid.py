"""Recorded experiments of activation patching: one vector or head from one prompt in the pass of another, cell by cell.

The record is that of ``softlookup bench patching``. P is its number of prompts.
"""

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import traitlets

from softlookup_course.widgets.interactive import InteractiveFigure, number_table


def unpack(recording: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Unpack the arrays of a record, each in its own unit: shares and probabilities, logits, ranks, tokens."""
    data, at, arrays = np.frombuffer(zlib.decompress(base64.b64decode(recording["packed"])), np.uint8), 0, {}
    for entry in recording["arrays"]:
        count, width = int(np.prod(entry["shape"])), 1 if entry["kind"] == "u1" else 2
        chunk = data[at : at + count * width]
        whole = chunk if width == 1 else np.ascontiguousarray(chunk.reshape(2, count).T).view("<i2")[:, 0]
        arrays[entry["name"]] = (whole / entry["per"] if entry["per"] > 1 else whole.astype(int)).reshape(
            entry["shape"]
        )
        at += count * width
    arrays["ranks"] = arrays["ranks"] % 2**16
    return arrays


class PatchingGrid(InteractiveFigure):
    """Put a vector or a head's output from one sentence into another, cell by cell, and see what the model says next.

    ``head`` is the one of which the page claims something, as (layer, head) counted from 0, and ``first`` the clean and
    the corrupted prompt that are shown first.
    """

    prompts = traitlets.List(traitlets.Unicode(), help="the sentences").tag(sync=True)
    token_rows = traitlets.List(traitlets.List(traitlets.Unicode()), help="their tokens").tag(sync=True)
    answers = traitlets.List(traitlets.Unicode(), help="what the model says next").tag(sync=True)
    vocabulary = traitlets.List(traitlets.Unicode(), help="the tokens that the arrays count in").tag(sync=True)
    arrays = traitlets.List(traitlets.Dict(), help="name, kind, shape, and what makes 1").tag(sync=True)
    packed = traitlets.Unicode(help="the arrays, compressed, in base64").tag(sync=True)
    first = traitlets.List(traitlets.Int(), help="the clean prompt and the corrupted one at first").tag(sync=True)
    head = traitlets.List(traitlets.Int(), help="layer and head of the page's claim, from 0").tag(sync=True)

    def __init__(self, recording: Mapping[str, Any], head: tuple[int, int], first: tuple[int, int] = (0, 1)) -> None:
        arrays = unpack(recording)
        n_prompts, n_layers, n_heads = arrays["heads"].shape[1:]
        if not (0 <= head[0] < n_layers and 0 <= head[1] < n_heads):
            raise ValueError(f"head is {head}; the record has {n_layers} layers of {n_heads} heads")
        clean, corrupted = first
        if clean == corrupted or not {*first} <= {*range(n_prompts)}:
            raise ValueError(f"first is {first}; wanted two different ones of {n_prompts} prompts")
        caption = f"Recovered share by layers passed: “{recording['prompts'][corrupted]}” is read, the vector is from “"
        super().__init__(
            prompts=recording["prompts"],
            token_rows=[[token.strip() for token in row] for row in recording["pieces"]],
            answers=[answer.strip() for answer in recording["answers"]],
            vocabulary=recording["vocabulary"],
            arrays=recording["arrays"],
            packed=recording["packed"],
            first=[clean, corrupted],
            head=list(head),
            fallback=number_table(
                f"{caption}{recording['prompts'][clean]}”.",
                [str(layer) for layer in range(n_layers + 1)],
                [token.strip() for token in recording["pieces"][corrupted]],
                arrays["shares"][corrupted, clean],
            ),
        )
