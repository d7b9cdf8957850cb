"""Reads what a layer with linear attention or a state space is made of."""

from collections.abc import Callable

from softlookup.describing.filled_entries import FilledEntries
from softlookup.describing.layer_sizes import DeltaSizes, LightningSizes, Mamba2Sizes, MixerSizes


def gated_delta(entries: FilledEntries) -> MixerSizes:
    """Linear attention by the gated delta rule, of entries that begin with linear_."""
    n = entries.size("num_attention_heads")
    key_heads = entries.maybe("linear_num_key_heads") or n
    width = entries.maybe("linear_key_head_dim") or int(0.75 * entries.size("hidden_size") / key_heads)
    return DeltaSizes(
        key_heads=key_heads,
        heads=entries.maybe("linear_num_value_heads") or n,
        key_width=width,
        value_width=entries.maybe("linear_value_head_dim") or 2 * width,
        kernel=entries.size("linear_conv_kernel_dim"),
    )


def _first_said(entries: FilledEntries, name: str, otherwise: str) -> str:
    return name if entries.says(name) else otherwise


def kimi_delta(gates: str) -> Callable[[FilledEntries], MixerSizes]:
    """Linear attention by the delta rule with a decay for each channel; gates as in ``DeltaSizes``."""

    def mixer(entries: FilledEntries) -> MixerSizes:
        if gates == "channel":
            return DeltaSizes(
                key_heads=(n := entries.size(_first_said(entries, "linear_num_heads", "num_attention_heads"))),
                heads=n,
                key_width=(width := entries.size(_first_said(entries, "linear_head_dim", "head_dim"))),
                value_width=width,
                kernel=entries.size(_first_said(entries, "linear_conv_kernel_dim", "short_conv_kernel_size")),
                gates=gates,
            )
        inner = entries.inside("linear_attn_config")
        width = inner.size("head_dim", entries.size("linear_head_dim"))
        n = inner.size("num_heads", entries.size("linear_num_heads"))
        kernel = inner.size("short_conv_kernel_size", entries.size("linear_conv_kernel_dim"))
        return DeltaSizes(key_heads=n, heads=n, key_width=width, value_width=width, kernel=kernel, gates=gates)

    return mixer


def lightning(entries: FilledEntries) -> MixerSizes:
    """Lightning attention, whose heads are those of attention."""
    n = entries.size("num_attention_heads")
    return LightningSizes(n, entries.maybe("head_dim") or entries.size("hidden_size") // n)


def mamba2(entries: FilledEntries) -> MixerSizes:
    """A Mamba-2 part whose entries begin with mamba_."""
    width, n = entries.get("mamba_d_head"), entries.size("mamba_n_heads")
    inner = entries.maybe("mamba_d_ssm") if entries.knows("mamba_d_ssm") else None
    inner = entries.size("mamba_expand") * entries.size("hidden_size") if inner is None else inner
    if inner % n or (width != "auto" and entries.size("mamba_d_head") * n != inner):
        raise ValueError(f"mamba_n_heads {n} and mamba_d_head {width!r} do not give the {inner} channels of the state")
    return Mamba2Sizes(
        heads=n,
        width=inner // n,
        state=entries.size("mamba_d_state"),
        groups=entries.size("mamba_n_groups"),
        kernel=entries.size("mamba_d_conv"),
        convolution_bias=entries.flag("mamba_conv_bias", True),
        bias=entries.flag("mamba_proj_bias", False),
        norm=entries.flag("mamba_rms_norm", True),
    )
