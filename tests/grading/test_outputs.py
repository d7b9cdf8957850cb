"""Outputs that a submission tells of are text and pictures when they are kept, whatever they were."""

import base64
import io

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin
from small_class import picture_of

from attacks.markup import picture_bomb
from softlookup_grader.judging.outputs import (
    BESIDES,
    MAX_OUTPUTS,
    MAX_TEXT,
    as_outputs,
    clean,
    outputs_and_cut,
    picture,
    weight,
)
from softlookup_grader.judging.pictures import MAX_SIDE, stripped

PNG = picture_of("png", 3, 2)


def valid_outputs(*raw):
    outputs = as_outputs(raw)
    nbformat.validate(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=outputs)]))
    return outputs


def test_outputs_keep_text_exceptions_and_pictures():
    stream, error, shown = valid_outputs(
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
    assert valid_outputs({"output_type": "display_data", "data": data}) == []


def test_outputs_hold_no_control_characters_and_no_more_than_they_may():
    (output,) = valid_outputs(
        {"output_type": "stream", "name": "x", "text": "a\x1b[31mb\x07\x00\ud800c\nd\te" + "z" * 200_000}
    )
    assert output.name == "stdout" and output.text.startswith("a[31mbc\nd\te") and len(output.text) <= MAX_TEXT
    assert len(valid_outputs(*[{"output_type": "stream", "text": "x"}] * 1000)) == MAX_OUTPUTS
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
def test_outputs_of_any_kind_do_no_harm(raw):
    valid_outputs(raw)


@pytest.mark.parametrize("text", ["x" * 30_000, "x\n" * 100])
def test_outputs_of_a_cell_hold_no_more_than_its_limit_and_say_what_was_cut(text):
    raw = [{"output_type": "stream", "name": "stdout", "text": text}] * 1000
    raw += [{"output_type": "error", "ename": "E" * 900, "evalue": "v" * 9000, "traceback": ["t" * 9000] * 900}] * 9
    raw += [{"output_type": "display_data", "data": {"text/plain": text, "image/png": PNG}}] * 9
    outputs, cut = outputs_and_cut(raw, 20_000)
    nbformat.validate(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=outputs)]))
    assert 0 < sum(map(weight, outputs)) < 20_000 + BESIDES + 100 and len(outputs) <= MAX_OUTPUTS
    assert outputs[-1].text == f"... and {cut:,} characters more, which are not kept\n" and cut > 0


def test_outputs_within_the_limit_are_whole_and_end_with_nothing_of_ours():
    raw = [{"output_type": "stream", "text": "x" * 19_000}, {"output_type": "error", "ename": "E", "traceback": ["t"]}]
    outputs, cut = outputs_and_cut(raw, 20_000)
    assert [output.output_type for output in outputs] == ["stream", "error"] and cut == 0


@pytest.mark.parametrize("kind", ["png", "jpeg"])
def test_pictures_lose_what_is_written_into_them_and_stay_the_same_picture(kind):
    script = "<script>alert(1)</script>"
    image, file = Image.effect_mandelbrot((40, 30), (-2, -1, 1, 1), 50), io.BytesIO()
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", script)
    info.add_itxt("Title", script)
    more = {"pnginfo": info} if kind == "png" else {"comment": script, "exif": b"Exif\0\0" + script.encode()}
    image.save(file, kind, **more)
    assert script.encode() in file.getvalue()
    stripped_bytes = stripped(file.getvalue())
    assert script.encode() not in stripped_bytes
    assert Image.open(io.BytesIO(stripped_bytes)).tobytes() == Image.open(file).tobytes()


def test_pictures_that_are_larger_than_a_browser_can_bear_are_left_out():
    bomb = picture_bomb(20_000, 20_000)
    assert len(bomb) < 100_000 and stripped(bomb) is None
    assert picture("image/png", base64.b64encode(bomb).decode()) is None
    assert stripped(picture_bomb(MAX_SIDE, 1)) is not None and stripped(picture_bomb(MAX_SIDE + 1, 1)) is None
    for kind in ("png", "jpeg"):
        whole = base64.b64decode(picture_of(kind, 30, 20))
        assert stripped(whole) is not None and stripped(base64.b64decode(picture_of(kind, 1, MAX_SIDE + 1))) is None
        assert [at for at in range(20) if stripped(whole[:at]) is not None] == []


@given(st.sampled_from(["png", "jpeg"]), st.integers(0, 400), st.binary(max_size=8), st.booleans())
def test_pictures_with_any_bytes_changed_do_no_harm(kind, at, other, cut):
    whole = base64.b64decode(picture_of(kind, 30, 20))
    stripped(whole[:at] + other + (b"" if cut else whole[at + len(other) :]))
