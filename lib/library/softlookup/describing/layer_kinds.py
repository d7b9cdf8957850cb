"""Which type each layer of a decoder has, and which layers have experts, where no list of a config.json says so.

Each rule takes the entries of a config and the number of layers, and returns a type, or whether there are experts, for
each layer; it raises a ValueError that names the entry that it cannot use.
"""

from collections.abc import Callable

from softlookup.describing.filled_entries import FilledEntries

Types = Callable[[FilledEntries, int], list[str]]
Sparse = Callable[[FilledEntries, int], list[bool]]


def window_size(entries: FilledEntries, entry: str = "sliding_window") -> int | None:
    """The size of the window that an entry has; None where there is none, or use_sliding_window turns it off."""
    is_off = entries.knows("use_sliding_window") and not entries.flag("use_sliding_window", False)
    return None if is_off else entries.maybe(entry)


def every(entry: str | int, otherwise: int = 4, other: str = "sliding_attention") -> Types:
    """Layers of full attention at each n-th place, n from an entry; the others are of another type."""

    def types(entries: FilledEntries, n_layers: int) -> list[str]:
        n = entry if isinstance(entry, int) else entries.get(entries.same(entry, f"_{entry}"), otherwise)
        if type(n) is not int or n < 1:
            raise ValueError(f"{entry} is {n!r}; wanted a whole number of at least 1, or the list layer_types")
        return [other if (layer + 1) % n else "full_attention" for layer in range(n_layers)]

    return types


def even_slide(entries: FilledEntries, n_layers: int) -> list[str]:
    """Every other layer has the window, the first one among them."""
    return ["full_attention" if layer % 2 else "sliding_attention" for layer in range(n_layers)]


def all_slide(entries: FilledEntries, n_layers: int) -> list[str]:
    """All layers have the window, if there is one."""
    return ["full_attention" if entries.get("sliding_window") is None else "sliding_attention"] * n_layers


def slide_after(entries: FilledEntries, n_layers: int) -> list[str]:
    """The layers behind the first max_window_layers have the window, if there is one."""
    first = n_layers if window_size(entries) is None else entries.size("max_window_layers", least=0)
    return ["sliding_attention" if layer >= first else "full_attention" for layer in range(n_layers)]


def even_slide_before(entries: FilledEntries, n_layers: int) -> list[str]:
    """Of the first max_window_layers every other has the window, the first one among them, if there is one."""
    last = 0 if window_size(entries) is None else entries.size("max_window_layers", least=0)
    return ["full_attention" if layer % 2 or layer >= last else "sliding_attention" for layer in range(n_layers)]


def exaone_types(entries: FilledEntries, n_layers: int) -> list[str]:
    """Each n-th layer has full attention, where there is a window."""
    if entries.get("sliding_window") is None:
        raise ValueError("sliding_window is None, and there is no layer_types; give the list")
    return every("sliding_window_pattern")(entries, n_layers)


def cwm_types(entries: FilledEntries, n_layers: int) -> list[str]:
    """Each fourth layer has full attention, the first one among them."""
    return ["sliding_attention" if layer % 4 else "full_attention" for layer in range(n_layers)]


def muse_types(entries: FilledEntries, n_layers: int) -> list[str]:
    """Each fourth layer has full attention, counted from the last."""
    return ["sliding_attention" if (n_layers - 1 - layer) % 4 else "full_attention" for layer in range(n_layers)]


def mimo_types(entries: FilledEntries, n_layers: int) -> list[str]:
    """The first layer and each sixth have full attention."""
    return ["sliding_attention" if layer and (layer + 1) % 6 else "full_attention" for layer in range(n_layers)]


def rotary_layers(entries: FilledEntries, n_layers: int) -> list[bool]:
    """Rotary positions in all layers but each n-th, or where no_rope_layers has a 1."""
    if not (flags := entries.a_list("no_rope_layers")):
        return [(layer + 1) % entries.size("no_rope_layer_interval") != 0 for layer in range(n_layers)]
    if len(flags) < n_layers:  # transformers takes a longer list
        raise ValueError(f"no_rope_layers has {len(flags)} values; wanted num_hidden_layers of them, {n_layers}")
    return [bool(flag) for flag in flags[:n_layers]]


def chunked_types(entries: FilledEntries, n_layers: int) -> list[str]:
    """Layers with rotary positions attend within chunks (Llama 4)."""
    return ["chunked_attention" if flag else "full_attention" for flag in rotary_layers(entries, n_layers)]


def smollm3_types(entries: FilledEntries, n_layers: int) -> list[str]:
    """Layers without rotary positions have the window, if there is one."""
    slides = window_size(entries) is not None
    rotary = rotary_layers(entries, n_layers)
    return ["sliding_attention" if slides and not flag else "full_attention" for flag in rotary]


def lfm2_types(entries: FilledEntries, n_layers: int) -> list[str]:
    """Convolutions, but where full_attn_idxs says attention."""
    full = entries.a_list("full_attn_idxs", range(n_layers))
    return ["full_attention" if layer in full else "conv" for layer in range(n_layers)]


def lfm3_types(entries: FilledEntries, n_layers: int) -> list[str]:
    """Convolutions, and between them full and sliding attention in turn."""
    return [
        "full_attention" if layer % 4 == 2 else "sliding_attention" if layer % 4 == 0 and layer else "conv"
        for layer in range(n_layers)
    ]


def olmo_types(entries: FilledEntries, n_layers: int) -> list[str]:
    """OLMo hybrid: every fourth layer has full attention, and the last where there is no such layer."""
    types = every(4, other="linear_attention")(entries, n_layers)
    return types if "full_attention" in types else [*types[:-1], "full_attention"]


def stated_types(entries: FilledEntries, n_layers: int) -> list[str]:
    """Refuse a config without layer_types."""
    raise ValueError("the description has no layer_types; give the list, a type for each layer")


def minimax_types(entries: FilledEntries, n_layers: int) -> list[str]:
    """Full and linear attention in turn."""
    return ["linear_attention" if layer % 2 else "full_attention" for layer in range(n_layers)]


def always(name: str) -> Types:
    """Layers of one type."""
    return lambda entries, n_layers: [name] * n_layers


def kimi_types(entries: FilledEntries, n_layers: int) -> list[str]:
    """Linear attention, but where linear_attn_config says full attention."""
    inner = entries.inside("linear_attn_config")
    layer_numbers = inner.a_list("full_attn_layers", [layer + 1 for layer in range(4, n_layers, 4)])  # counted from 1
    full = {layer - 1 for layer in layer_numbers}
    return ["full_attention" if layer in full else "linear_attention" for layer in range(n_layers)]


def bamba_types(entries: FilledEntries, n_layers: int) -> list[str]:
    """State spaces, but where attn_layer_indices says attention."""
    full = entries.a_list("attn_layer_indices")
    return ["full_attention" if layer in full else "linear_attention" for layer in range(n_layers)]


def from_layer(entry: str) -> Sparse:
    """Experts in all layers but the first few, whose number an entry has."""

    def sparse(entries: FilledEntries, n_layers: int) -> list[bool]:
        return [layer >= entries.size(entry, least=0) for layer in range(n_layers)]

    return sparse


def by_type(first: int | str = 1) -> Sparse:
    """Experts where mlp_layer_types says so, and without it behind the first few layers."""

    def sparse(entries: FilledEntries, n_layers: int) -> list[bool]:
        dense: int
        if entries.get("mlp_layer_types") is None:
            if isinstance(first, str):
                return from_layer(first)(entries, n_layers)
            dense = first
            if entries.says("first_k_dense_replace"):
                dense = entries.size("first_k_dense_replace", least=0)
            return [layer >= dense for layer in range(n_layers)]
        types = entries.for_each("mlp_layer_types", n_layers)
        if strange := sorted({str(name) for name in types} - {"dense", "sparse"}):
            raise ValueError(f"mlp_layer_types has {', '.join(strange)}; this library has dense and sparse")
        return [name == "sparse" for name in types]

    return sparse


def in_all(entries: FilledEntries, n_layers: int) -> list[bool]:
    """Experts in all layers."""
    return [True] * n_layers


def by_step(entries: FilledEntries, n_layers: int) -> list[bool]:
    """Experts in each n-th layer that mlp_only_layers does not name."""
    step, dense = entries.size("decoder_sparse_step"), entries.a_list("mlp_only_layers")
    return [(layer + 1) % step == 0 and layer not in dense for layer in range(n_layers)]


def llama4_experts(entries: FilledEntries, n_layers: int) -> list[bool]:
    """Experts in the layers of moe_layers, or else in each n-th."""
    step = entries.size("interleave_moe_layer_step")
    expert_layers = entries.a_list("moe_layers", range(step - 1, n_layers, step))
    return [layer in expert_layers for layer in range(n_layers)]


def ernie_experts(entries: FilledEntries, n_layers: int) -> list[bool]:
    """Experts in each n-th layer between a first and a last."""
    first, last = entries.size("moe_layer_start_index", least=0), entries.size("moe_layer_end_index", least=-1)
    every_nth = entries.size("moe_layer_interval")
    last = n_layers - 1 if last == -1 else last
    return [first <= layer <= last and (layer + 1) % every_nth == 0 for layer in range(n_layers)]
