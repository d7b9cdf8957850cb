"""What travels between judge and submission: it comes back as it went, and nothing else gets through."""

import json
import socket
import struct
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from softlookup_inside.sandbox import frames
from softlookup_inside.sandbox.frames import Channel, ConnectionClosed, FrameError, TooLate

DTYPES = st.sampled_from(["?", "i1", "u1", "<i2", "<i4", "<i8", "<u8", "<f2", "<f4", "<f8", ">f8", ">i4"])
ARRAYS = DTYPES.flatmap(lambda d: hnp.arrays(d, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(
            st.text(max_size=3) | st.integers(0, 9) | st.tuples(st.text(max_size=2), st.integers()), inner
        )
    ),
    max_leaves=8,
)


@pytest.fixture
def ends():
    """The judge's end of a line, and the submission's."""
    pair = socket.socketpair()
    yield pair
    for end in pair:
        end.close()


def taken_apart(data):
    """Read a frame as the other side would."""
    n_header, n_body = frames.sizes(data[:16])
    rest = data[16:]
    assert len(rest) == n_header + n_body
    return frames.unpack(rest[:n_header], rest[n_header:])


@given(st.lists(ARRAYS, max_size=3))
def test_frames_bring_arrays_back_as_they_were(arrays):
    packed = frames.pack({"a": 1}, arrays)
    header, back = taken_apart(packed)
    assert header == {"a": 1} and frames.sizes(packed[:16])[1] == frames.weight(arrays)
    for before, after in zip(arrays, back, strict=True):
        assert after.shape == before.shape and after.dtype == before.dtype.newbyteorder("=")
        np.testing.assert_array_equal(after, before)
        assert after.flags.writeable and after.flags.owndata


@given(st.lists(ARRAYS, max_size=3))
def test_a_part_that_was_written_before_makes_the_same_frame(arrays):
    whole = frames.pack({"a": "ä", "cases": [1, {"b": None}]}, arrays)
    assert frames.pack({"a": "ä"}, frames.part({"cases": [1, {"b": None}]}, arrays)) == whole


@pytest.mark.slow
@given(VALUES)
def test_frames_bring_values_back_as_they_were(value):
    arrays = []
    encoded = json.loads(json.dumps(frames.plain(value, arrays)))
    assert frames.value_of(encoded, arrays) == value


def test_frames_keep_arrays_inside_values_and_refuse_what_is_nested_too_deep():
    arrays = []
    value = {"q": [np.ones((2, 3)), (np.int64(4), np.float32(0.5), None)]}
    back = frames.value_of(json.loads(json.dumps(frames.plain(value, arrays))), arrays)
    assert back["q"][1] == (4, 0.5, None) and back["q"][0].shape == (2, 3)
    deep, written = [], None
    for _ in range(20):
        deep, written = [deep], {"list": [written]}
    with pytest.raises(FrameError, match="deep"):
        frames.plain(deep, [])
    with pytest.raises(FrameError, match="deep"):
        frames.value_of(written, [])


@pytest.mark.parametrize("value", [object(), 1j, np.ones(2, complex), {1.5: 2}, {(1, (2,)): 3}, b"x", {"a": {3}}])
def test_frames_refuse_what_is_not_plain(value):
    arrays = []
    with pytest.raises(FrameError):
        frames.pack({"v": frames.plain(value, arrays)}, arrays)


@pytest.mark.parametrize(
    "encoded",
    [{"array": 1}, {"array": -1}, {"array": True}, {"array": "0"}, {"list": 3}, {"x": 1}, {"a": 1, "b": 2}, [1], {}],
)
def test_frames_refuse_values_that_are_written_otherwise(encoded):
    with pytest.raises(FrameError, match="not written"):
        frames.value_of(encoded, [np.ones(1)])


@pytest.mark.parametrize(
    ("listed", "body", "says"),
    [
        (None, b"", "lists no arrays"),
        ([["<f8", [0]]] * 1001, b"", "more than 1000"),
        ([["<f8", [2]]], b"12345678", "needs more bytes"),
        ([["<f8", [1]]], b"1" * 16, "belong to no array"),
        ([["|O", [1]]], b"1" * 8, "dtype"),
        ([["<c16", [1]]], b"1" * 16, "dtype"),
        ([["<U4", [1]]], b"1" * 16, "dtype"),
        ([[">f8", [1]]], b"1" * 8, "dtype"),
        ([[8, [1]]], b"", "dtype"),
        ([["<f8", [-1]]], b"", "side"),
        ([["<f8", [True]]], b"1" * 8, "side"),
        ([["<f8", [1.0]]], b"1" * 8, "side"),
        ([["<f8", "1"]], b"", "no shape"),
        ([["<f8", [1] * 17]], b"1" * 8, "16 axes"),
        ([["<f8", [10**9]]], b"", "side"),
        ([["<f8", [0, 50_000_000, 50_000_000]]], b"", "more cells"),
        (["<f8"], b"", "dtype and its shape"),
    ],
)
def test_frames_refuse_arrays_that_are_not_told_as_they_should(listed, body, says):
    with pytest.raises(FrameError, match=says):
        frames.unpack(json.dumps({"arrays": listed}).encode(), body)


@pytest.mark.parametrize("header", [b"{", b"[]", b"\xff", b"[" * 100_000, b"1" * 5000, b'{"arrays": []} x'])
def test_frames_refuse_headers_that_are_no_objects(header):
    with pytest.raises(FrameError):
        frames.unpack(header, b"")


@pytest.mark.parametrize(
    ("begins", "says"),
    [
        (struct.pack(">4sIQ", frames.MARK, frames.HEADER_BYTES + 1, 0), "too large"),
        (struct.pack(">4sIQ", frames.MARK, 0, 101), "too large"),
        (struct.pack(">4sIQ", b"HTTP", 1, 1), "no frame"),
        (b"short", "16 bytes"),
    ],
)
def test_frames_refuse_what_announces_too_much(begins, says):
    with pytest.raises(FrameError, match=says):
        frames.sizes(begins, 100)
    assert frames.sizes(struct.pack(">4sIQ", frames.MARK, 7, 100), 100) == (7, 100)
    with pytest.raises(FrameError, match="too large"):
        frames.pack({}, [np.zeros(frames.BODY_BYTES // 8 + 1)])


@settings(max_examples=400)
@given(st.binary(max_size=200), st.data())
def test_frames_of_any_bytes_raise_nothing_but_frame_errors(noise, data):
    sound = frames.pack({"token": "x", "list": [1, 2]}, [np.arange(6.0).reshape(2, 3), np.ones(2, bool)])
    at = data.draw(st.integers(0, len(sound)))
    for mangled in (noise, sound[:at] + noise, sound[:at] + noise + sound[at + len(noise) :]):
        try:
            n_header, n_body = frames.sizes(mangled[:16])
            header, arrays = frames.unpack(mangled[16 : 16 + n_header], mangled[16 + n_header : 16 + n_header + n_body])
            for value in header.values():
                frames.value_of(value, arrays)
        except FrameError:
            pass


@pytest.mark.slow
@settings(max_examples=300)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["arrays", "array", "list", "x"]), inner)
        ),
        max_leaves=12,
    ),
    st.binary(max_size=64),
)
def test_frames_of_any_json_raise_nothing_but_frame_errors(header, body):
    try:
        unpacked_header, arrays = frames.unpack(json.dumps(header).encode(), body)
        frames.value_of(unpacked_header, arrays)
    except FrameError:
        pass


def test_line_gives_frames_over_in_pieces(ends):
    judge_end, worker_end = ends
    data = frames.pack({"n": 1}, [np.arange(100_000.0)])

    def dribble():
        for start in range(0, len(data), 50_000):
            worker_end.sendall(data[start : start + 50_000])

    thread = threading.Thread(target=dribble)
    thread.start()
    header, (array,) = Channel(judge_end).receive(time.monotonic() + 10)
    thread.join()
    assert header == {"n": 1} and array[-1] == 99_999


def test_line_waits_no_longer_than_it_is_told(ends):
    judge_end, worker_end = ends
    worker_end.send(frames.pack({})[:10])
    begun = time.monotonic()
    with pytest.raises(TooLate):
        Channel(judge_end).receive(begun + 0.2)
    assert 0.15 < time.monotonic() - begun < 5
    with pytest.raises(TooLate):
        Channel(judge_end).receive(begun)
    with pytest.raises(TooLate):
        Channel(judge_end).send({}, [np.zeros(4_000_000)], time.monotonic() + 0.2)


def test_line_says_that_the_other_side_is_gone(ends):
    judge_end, worker_end = ends
    worker_end.send(frames.pack({})[:20])
    worker_end.close()
    with pytest.raises(ConnectionClosed):
        Channel(judge_end).receive(time.monotonic() + 5)
    with pytest.raises(ConnectionClosed):
        Channel(judge_end).send({}, [np.zeros(1_000_000)], time.monotonic() + 5)
