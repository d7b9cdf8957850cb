"""Outputs that a submission tells of are text and pictures when they are kept, whatever they were."""

import base64

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.grading.outputs import MAX_OUTPUTS, MAX_TEXT, as_outputs, clean

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"rest").decode()


def kept(*told):
    outputs = as_outputs(told)
    nbformat.validate(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=outputs)]))
    return outputs


def test_outputs_keep_text_exceptions_and_pictures():
    stream, error, shown = kept(
        {"output_type": "stream", "name": "stderr", "text": "hm\n"},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["a", "b"]},
        {"output_type": "execute_result", "data": {"text/plain": "3", "image/png": PNG, "text/html": "<script>"}},
    )
    assert stream.name == "stderr" and stream.text == "hm\n"
    assert error.traceback == ["a", "b"] and error.evalue == "v"
    assert dict(shown.data) == {"text/plain": "3", "image/png": PNG}


@pytest.mark.parametrize(
    "data",
    [
        {"text/html": "<script>alert(1)</script>"},
        {"application/javascript": "alert(1)"},
        {"image/svg+xml": "<svg onload=alert(1)>"},
        {"text/markdown": "<img onerror=alert(1)>"},
        {"image/png": "not base64!"},
        {"image/png": base64.b64encode(b"GIF89a").decode()},
        {"image/png": 3},
        {"text/plain": 3},
        3,
    ],
)
def test_outputs_leave_out_what_a_browser_might_run(data):
    assert kept({"output_type": "display_data", "data": data}) == []


def test_outputs_hold_no_control_characters_and_no_more_than_they_may():
    (one,) = kept({"output_type": "stream", "name": "x", "text": "a\x1b[31mb\x07\x00\ud800c\nd\te" + "z" * 200_000})
    assert one.name == "stdout" and one.text.startswith("a[31mbc\nd\te") and len(one.text) <= MAX_TEXT
    assert len(kept(*[{"output_type": "stream", "text": "x"}] * 1000)) == MAX_OUTPUTS
    assert clean(3) == "" and clean("abc", 2) == "ab"


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5) | st.floats(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["output_type", "name", "text", "data", "ename", "traceback"]), inner)
            | st.fixed_dictionaries(
                {"output_type": st.sampled_from(["stream", "error", "display_data", "x"]), "data": inner}
            )
        ),
        max_leaves=10,
    )
)
def test_outputs_of_any_kind_do_no_harm(told):
    kept(told)
