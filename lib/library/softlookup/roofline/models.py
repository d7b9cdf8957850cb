"""Published models, by their sizes.

Each is reconciled by a test with a number of parameters that its authors or its published weights give.
"""

from softlookup.roofline.sizes import TransformerSizes

_LLAMA = {"gated": True, "activation": "silu", "norm": "rms", "rotary": True, "tied": False}
_GPT = {"activation": "gelu", "attention_bias": True, "hidden_bias": True}


def _llama(name: str, **sizes: int) -> TransformerSizes:
    return TransformerSizes(name, **sizes, **_LLAMA)  # type: ignore[arg-type]


def _gpt(name: str, **more: object) -> TransformerSizes:
    return TransformerSizes(name, **{**_GPT, **more})  # type: ignore[arg-type]


_ALL = (
    # Vaswani et al. 2017, table 3; one vocabulary of about 37,000 pieces for both languages, one table for all.
    TransformerSizes(
        "Transformer base",
        D=512,
        N=8,
        F=2048,
        V=37_000,
        L=6,
        decoder_layers=6,
        hidden_bias=True,
        last_norm=False,
    ),
    # Radford et al. 2019.
    _gpt("GPT-2 small", D=768, N=12, F=3072, V=50_257, L=12, positions=1024),
    _gpt("GPT-2 XL", D=1600, N=25, F=6400, V=50_257, L=48, positions=1024),
    # Zhang et al. 2022; two rows of positions are never used.
    _gpt("OPT 6.7B", D=4096, N=32, F=16_384, V=50_272, L=32, positions=2050, activation="relu"),
    # Brown et al. 2020.
    _gpt("GPT-3 175B", D=12_288, N=96, F=49_152, V=50_257, L=96, positions=2048),
    # Touvron et al. 2023.
    _llama("Llama 2 7B", D=4096, N=32, F=11_008, V=32_000, L=32),
    _llama("Llama 2 70B", D=8192, N=64, K=8, F=28_672, V=32_000, L=80),
    # Jiang et al. 2023.
    _llama("Mistral 7B", D=4096, N=32, K=8, F=14_336, V=32_000, L=32),
    # Grattafiori et al. 2024.
    _llama("Llama 3 8B", D=4096, N=32, K=8, F=14_336, V=128_256, L=32),
    _llama("Llama 3 405B", D=16_384, N=128, K=8, F=53_248, V=128_256, L=126),
)

MODELS: dict[str, TransformerSizes] = {model.name: model for model in _ALL}
"""Published models by name."""
