"""Token embeddings: one row of a table for each word, and the same table read backwards for the output."""

import numpy as np
from jaxtyping import Float64, Integer, Real

from softlookup.reference._sizes import to_float64


def one_hot(ids: Integer[np.ndarray, "*shape"], vocab_size: int) -> Float64[np.ndarray, "*shape V"]:
    """Write each id as a row of zeros with a single one, at the id's place.

    Args:
        ids: Token ids.
        vocab_size: V, words in the vocabulary.

    Returns:
        One row of V numbers for each id.

    Raises:
        ValueError: If an id is outside 0 to V - 1; the message names it.
        TypeError: If ids holds no integers.

    >>> one_hot(np.array([2, 0]), 3)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    ids = np.asarray(ids)
    if not np.issubdtype(ids.dtype, np.integer):
        raise TypeError(f"ids has dtype {ids.dtype}; wanted integers")
    outside = ids[(ids < 0) | (ids >= vocab_size)]
    if outside.size:
        raise ValueError(
            f"ids holds {outside[0]}; the vocabulary has V = {vocab_size} words, ids 0 to {vocab_size - 1}"
        )
    return (ids[..., None] == np.arange(vocab_size)).astype(np.float64)


def embed(
    ids: Integer[np.ndarray, "*batch T"], table: Real[np.ndarray, "V D"], scale: float = 1.0
) -> Float64[np.ndarray, "*batch T D"]:
    """Look each token's row up. It is the product of a one-hot row and the table, and is written so here.

    Args:
        ids: Token ids.
        table: One row of D numbers for each word.
        scale: What the rows are multiplied by; sqrt(D) in the paper.

    Returns:
        One row for each token.

    Raises:
        ValueError: If the table is no matrix, or an id has no row in it; the message names the id.
        TypeError: If ids holds no integers.

    Source: Vaswani et al. 2017, section 3.4.

    >>> embed(np.array([1, 1, 0]), np.array([[5.0, 6.0], [7.0, 8.0]]))
    array([[7., 8.],
           [7., 8.],
           [5., 6.]])
    """
    table_VD = to_float64(table)
    if table_VD.ndim != 2:
        raise ValueError(f"table has shape {table_VD.shape}; wanted a matrix, (V, D)")
    return one_hot(ids, table_VD.shape[0]) @ table_VD * scale


def tied_logits(x: Real[np.ndarray, "*batch T D"], table: Real[np.ndarray, "V D"]) -> Float64[np.ndarray, "*batch T V"]:
    """Score every word by the dot product of its row with a state: the table of the input serves the output too.

    Args:
        x: States.
        table: One row of D numbers for each word.

    Returns:
        x @ table^T, one score for each word.

    Raises:
        ValueError: If x's width is not that of the table.

    Source: Press & Wolf 2017; Vaswani et al. 2017, section 3.4.
    """
    x_TD, table_VD = to_float64(x), to_float64(table)
    if table_VD.ndim != 2 or x_TD.shape[-1:] != table_VD.shape[1:]:
        raise ValueError(f"x has shape {x_TD.shape}, table has {table_VD.shape}: their last axes must be equal, D")
    return x_TD @ table_VD.T
