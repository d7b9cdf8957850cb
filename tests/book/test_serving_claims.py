"""What chapter 16 claims beside its records: what a step takes at least."""

from pathlib import Path

import pytest

from softlookup import roofline

PAGE = (Path(__file__).resolve().parents[2] / "book" / "16_serving.md").read_text(encoding="utf-8")
LLAMA = roofline.MODELS["Llama 3 8B"]
H100 = roofline.hardware("H100 SXM")


def _least_ms(tokens: int, logits: int, caches: int = 0) -> float:
    """The page's own function."""
    cell = PAGE[PAGE.index("counted = roofline.parameters(llama)") :]
    peak, bandwidth = H100.peak_flops_per_s("bfloat16"), H100.bandwidth_bytes_per_s
    namespace = {"roofline": roofline, "llama": LLAMA, "peak": peak, "bandwidth": bandwidth}
    exec(compile(cell[: cell.index("\nsteps = ")], "<page>", "exec"), namespace)
    return 1e3 * max(namespace["least_s"](tokens, logits, caches))


def test_least_decoding_step_reads_no_table_of_embeddings():
    assert _least_ms(1, 1, 1000) == pytest.approx(4.52, abs=0.005)


def test_least_prefill_makes_logits_for_its_last_token_alone():
    counted = roofline.total(roofline.prefill(LLAMA, 1, 1000, causal=True)).product_flops
    with_scores_ms = 1e3 * counted / H100.peak_flops_per_s("bfloat16")
    assert with_scores_ms == pytest.approx(14.4, abs=0.05)
    assert 0.97 * with_scores_ms < _least_ms(1000, 1) < with_scores_ms
