"""The reference's recurrent layer: against torch's, and every refusal."""

import numpy as np
import pytest
import torch

from softlookup.reference.recurrent import recurrent_states


@pytest.mark.parametrize(("tokens", "width", "state"), [(5, 3, 4), (1, 2, 2), (4, 6, 1)])
def test_states_equal_torchs_recurrent_layer(tokens, width, state):
    rng = np.random.default_rng(1)
    x, w_x, w_h = (rng.normal(size=shape) for shape in ((tokens, width), (width, state), (state, state)))
    b, start = rng.normal(size=(2, state))
    layer = torch.nn.RNN(width, state).double()
    with torch.no_grad():
        for name, array in (("weight_ih_l0", w_x.T), ("weight_hh_l0", w_h.T), ("bias_ih_l0", b)):
            getattr(layer, name).copy_(torch.from_numpy(array))
        layer.bias_hh_l0.zero_()
        for begun in (start, None):
            first = None if begun is None else torch.from_numpy(begun)[None]
            expected = layer(torch.from_numpy(x), first)[0]
            np.testing.assert_allclose(recurrent_states(x, w_x, w_h, b, start=begun), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"w_x": np.ones((4, 2))}, r"x has shape \(5, 3\) and w_x \(4, 2\); wanted \(T, D\) and \(D, M\)"),
        ({"w_h": np.ones((2, 3))}, r"w_h has shape \(2, 3\); wanted \(2, 2\), from a state to a state"),
        ({"b": np.ones(3)}, r"b has shape \(3,\); wanted \(2,\)"),
        ({"start": np.ones(1)}, r"start has shape \(1,\); wanted \(2,\)"),
    ],
)
def test_recurrent_layer_refuses_sizes_that_do_not_fit(changed, message, unchecked):
    fitting = {"x": np.ones((5, 3)), "w_x": np.ones((3, 2)), "w_h": np.ones((2, 2))}
    with pytest.raises(ValueError, match=message):
        recurrent_states(**{**fitting, **changed})
