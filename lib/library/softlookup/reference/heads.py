"""Projections, one head, and many heads side by side; grouped heads and cross-attention included."""

import numpy as np
from jaxtyping import Bool, Float64, Real

from softlookup.reference._sizes import check_mask, to_float64
from softlookup.reference.attention import scaled_dot_product_attention


def project(
    x: Real[np.ndarray, "*rows D"],
    w: Real[np.ndarray, "D M"],
    b: Real[np.ndarray, " M"] | None = None,
) -> Float64[np.ndarray, "*rows M"]:
    """Read every token through one matrix: y = x w + b, the same w at each position.

    Args:
        x: Token vectors, one row each; a single vector will do.
        w: The matrix; its rows belong to the D numbers of a token. (torch's Linear keeps the transpose.)
        b: A bias for each of the M columns, or None.

    Returns:
        One row of M numbers for each token.

    Raises:
        ValueError: If x's width is not w's number of rows, or b's length not w's number of columns.

    >>> project(np.array([[1, 2]]), np.array([[1, 0], [0, 10]]))
    array([[ 1., 20.]])
    """
    x_TD, w_DM = to_float64(x), to_float64(w)
    if w_DM.ndim != 2 or x_TD.ndim < 1 or x_TD.shape[-1] != w_DM.shape[0]:
        raise ValueError(f"x has shape {x_TD.shape}, w has {w_DM.shape}: x's last axis must be w's first, its D rows")
    y_TM = x_TD @ w_DM
    if b is None:
        return y_TM
    b_M = to_float64(b)
    if b_M.shape != w_DM.shape[1:]:
        raise ValueError(f"b has shape {b_M.shape}; w has {w_DM.shape[1]} columns, so wanted {w_DM.shape[1:]}")
    return y_TM + b_M


def one_head(
    x: Real[np.ndarray, "*batch T D"],
    w_q: Real[np.ndarray, "D H"],
    w_k: Real[np.ndarray, "D H"],
    w_v: Real[np.ndarray, "D Hv"],
    mask: Bool[np.ndarray, "..."] | None = None,
) -> Float64[np.ndarray, "*batch T Hv"]:
    """Let a sequence look at itself through one head of attention.

    Args:
        x: Token vectors.
        w_q: Makes the queries: what each token asks for.
        w_k: Makes the keys: what each token can be found by.
        w_v: Makes the values: what each token hands over.
        mask: Boolean, True = may attend; (T, T), or with all batch axes too.

    Returns:
        One mixed value for each token.

    Raises:
        ValueError: If sizes do not fit together; the message names them.
        TypeError: If the mask is not boolean.

    Source: Vaswani et al. 2017, section 3.2.
    """
    return scaled_dot_product_attention(project(x, w_q), project(x, w_k), project(x, w_v), mask)


def split_heads(x: Real[np.ndarray, "*batch T M"], n_heads: int) -> Float64[np.ndarray, "*batch {n_heads} T H"]:
    """Cut every token's row into equal pieces, one for each head.

    Head i gets columns i*H up to, not including, (i+1)*H. The columns are cut first and the axes swapped after: a
    reshape alone would give one head numbers of several tokens.

    Args:
        x: Projected tokens, all heads side by side: M = N*H.
        n_heads: How many heads to cut into.

    Returns:
        The same numbers with a head axis before the positions.

    Raises:
        ValueError: If the width cannot be cut into that many equal pieces.

    >>> split_heads(np.array([[1, 2, 3, 4]]), 2).tolist()
    [[[1.0, 2.0]], [[3.0, 4.0]]]
    """
    x_TM = to_float64(x)
    if x_TM.ndim < 2:
        raise ValueError(f"x has shape {x_TM.shape}; wanted at least two axes, (..., T, N*H)")
    if n_heads < 1 or x_TM.shape[-1] % n_heads:
        raise ValueError(f"width {x_TM.shape[-1]} cannot be cut into {n_heads} heads of equal width")
    cut_TNH = x_TM.reshape(*x_TM.shape[:-1], n_heads, x_TM.shape[-1] // n_heads)
    return np.swapaxes(cut_TNH, -2, -3)


def merge_heads(x: Real[np.ndarray, "*batch N T H"]) -> Float64[np.ndarray, "*batch T N*H"]:
    """Lay the heads' outputs side by side again: the way back from split_heads.

    Args:
        x: One output for each head.

    Returns:
        One row of N*H numbers for each token.

    Raises:
        ValueError: If there are fewer than three axes.

    >>> merge_heads(split_heads(np.array([[1, 2, 3, 4]]), 2))
    array([[1., 2., 3., 4.]])
    """
    x_NTH = to_float64(x)
    if x_NTH.ndim < 3:
        raise ValueError(f"x has shape {x_NTH.shape}; wanted at least three axes, (..., N, T, H)")
    x_TNH = np.swapaxes(x_NTH, -2, -3)
    return x_TNH.reshape(*x_TNH.shape[:-2], x_TNH.shape[-2] * x_TNH.shape[-1])


def multi_head_attention(
    x: Real[np.ndarray, "*batch T D"],
    w_q: Real[np.ndarray, "D NH"],
    w_k: Real[np.ndarray, "D KH"],
    w_v: Real[np.ndarray, "D KHv"],
    w_o: Real[np.ndarray, "NHv D"],
    n_heads: int,
    n_kv_heads: int | None = None,
    x_kv: Real[np.ndarray, "*batch S D"] | None = None,
    mask: Bool[np.ndarray, "..."] | None = None,
) -> Float64[np.ndarray, "*batch T D"]:
    """Look in several ways at once, then blend what the heads found.

    N*H need not be D. With fewer key-value heads than query heads, neighbouring query heads share: query head
    i reads key-value head i // (N / K). K = N is the usual form, K = 1 multi-query attention.

    Args:
        x: The tokens that look.
        w_q: Query matrix, (D, N*H).
        w_k: Key matrix, (D, K*H).
        w_v: Value matrix, (D, K*H); its head width may differ from that of the keys.
        w_o: Output matrix, (N*H, D).
        n_heads: N.
        n_kv_heads: K, a divisor of N; None means K = N.
        x_kv: The tokens that are looked at, where they are others (cross-attention); None means x itself.
        mask: Boolean, True = may attend; (T, S), or as many axes as (*batch, N, T, S), each 1 or of that size.

    Returns:
        One row of D numbers for each token that looks.

    Raises:
        ValueError: If sizes do not fit together; the message names them.
        TypeError: If the mask is not boolean.

    Source: Vaswani et al. 2017, section 3.2.2; Shazeer 2019 (K = 1); Ainslie et al. 2023 (groups).
    """
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} query heads cannot share {n_kv_heads} key-value heads evenly")
    x_kv = x if x_kv is None else x_kv
    q_NTH = split_heads(project(x, w_q), n_heads)
    k_KSH = split_heads(project(x_kv, w_k), n_kv_heads)
    v_KSH = split_heads(project(x_kv, w_v), n_kv_heads)
    k_NSH = np.repeat(k_KSH, n_heads // n_kv_heads, axis=-3)
    v_NSH = np.repeat(v_KSH, n_heads // n_kv_heads, axis=-3)
    if mask is not None:
        mask = check_mask(mask, (*q_NTH.shape[:-1], k_NSH.shape[-2]))
    z_NTH = scaled_dot_product_attention(q_NTH, k_NSH, v_NSH, mask)
    return project(merge_heads(z_NTH), w_o)
