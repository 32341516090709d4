"""Python values as JSON and arrays."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.io.model_makers import assert_same
from treewright.errors import ModelFileError
from treewright.io._container import pack, unpack
from treewright.io._values import MAX_DEPTH, PACK_FROM, Decoder, Encoder

int64 = st.integers(-(2**63), 2**63 - 1)
scalars = st.none() | st.booleans() | st.integers(-(2**64) + 1, 2**64 - 1) | st.floats() | st.text()
arrays = hnp.arrays(
    st.sampled_from(["bool", "i1", "i8", "u8", "f2", "f4", "f8", "U3"]),
    hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3),
) | hnp.arrays(object, hnp.array_shapes(min_dims=1, min_side=0, max_side=3), elements=scalars)
names = st.text() | st.sampled_from(["$", "$array", "$tuple", "$$", "parameters", "state"])
values = st.recursive(
    scalars | arrays,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(names, inner, max_size=4)
        | st.dictionaries(scalars, inner, max_size=4)
    ),
    max_leaves=12,
)


def to_file(value):
    """JSON text and arrays."""
    encoder = Encoder()
    encoded = encoder.encode(value, "x")
    return json.dumps(encoded, allow_nan=False), encoder.arrays


def from_file(text, arrays=()):
    decoder = Decoder(list(arrays))
    value = decoder.decode(json.loads(text))
    decoder.finish()
    return value


@given(values)
def test_any_value_comes_back_with_its_types_and_bits(value):
    assert_same(from_file(*to_file(value)), value)


@given(
    st.sampled_from([st.booleans(), int64, st.floats(), st.text()]).flatmap(
        lambda kind: st.lists(kind, min_size=PACK_FROM, max_size=PACK_FROM + 5)
    )
)
def test_long_lists_of_one_type_become_arrays_and_come_back(value):
    text, arrays = to_file(value)
    assert len(arrays) in (1, 2)
    assert len(text) < 30
    assert_same(from_file(text, arrays), value)
    assert_same(from_file(*to_file(tuple(value))), tuple(value))


@pytest.mark.parametrize(
    "value",
    [
        [True] * PACK_FROM + [1],
        [1] * PACK_FROM + [True],
        [1] * PACK_FROM + [1.0],
        [1] * PACK_FROM + [2**63],
        ["a"] * PACK_FROM + [None],
        [""] * PACK_FROM,
        [-0.0, math.nan, math.inf] * PACK_FROM,
        {0: 1.0, 1: 5.0},
        {True: 1, "a": 2, None: 3, 2.5: 4, np.int64(7): 5},
        {"$array": 0},
        {"$dict": [["a", 1]]},
        {"$tuple": [{"$array": 0}]},
        {"a": {"$": {"$$float": "nan"}}},
        [{"$ints": 0}, np.arange(3)],
        np.float32(0.1),
        np.float64(0.1),
        np.bool_(True),
        np.str_("größe"),
        np.str_(""),
        np.array("x"),
        np.array(["", "a\0b", "𝔘"]),
        np.array([], "U4"),
        np.array([["a", "b"], ["c", None]], object),
        np.array(["a", np.str_("b"), np.float64(1)], object),
        np.array([], object).reshape(0, 3),
        np.array([math.nan, 1, "x", True], object),
    ],
    ids=lambda value: re.sub(r"(?i) at 0x.*", "", repr(value))[:40],
)
def test_values_that_are_easily_confused_are_kept_apart(value):
    assert_same(from_file(*to_file(value)), value)


def test_arrays_of_other_layouts_come_back_as_plain_ones():
    for array in (np.arange(6.0).reshape(2, 3).T, np.arange(9)[::-2], np.arange(3).astype(">i4")):
        text, arrays = to_file(array)
        _, arrays = unpack(np.frombuffer(b"".join(map(bytes, pack({}, arrays))), np.uint8))
        loaded = from_file(text, arrays)
        assert loaded.dtype == array.dtype.newbyteorder("=")
        np.testing.assert_array_equal(loaded, array)
    text = np.array([["äb", "c"], ["d", "e"]]).astype(">U2").T
    np.testing.assert_array_equal(from_file(*to_file(text)), text)


class Words(str):
    """Stands for any type that only looks plain."""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda: None, "code"),
        (math.sin, "code"),
        (int, "code"),
        (np.random.RandomState(0), "RandomState instance"),
        (np.random.default_rng(0), "Generator instance"),
        ({1, 2}, "a set"),
        (b"bytes", "a bytes"),
        (Words("x"), "a Words"),
        (1j, "a complex"),
        (object(), "an object"),
        (slice(1), "a slice"),
        (np.array([1j]), "complex128"),
        (np.array(["2020-01-01"], "M8[D]"), "datetime64"),
        (np.array([b"x"]), "bytes"),
        (np.array([(1, 2)], [("a", int), ("b", int)]), "array of"),
        (np.array([[], {}], object), "dict"),
        (np.ma.masked_array([1]), "MaskedArray"),
        ({(1, 2): 3}, "key"),
        (2**64, "65 bits"),
        ("\ud800", "Unicode"),
        ({"\udfff": 1}, "Unicode"),
        (["\ud800"] * PACK_FROM, "Unicode"),
        (np.array(["\ud800"]), "Unicode"),
    ],
    ids=lambda value: re.sub(r"(?i) at 0x.*", "", repr(value))[:30],
)
def test_what_a_file_cannot_hold_is_refused_by_name(value, words):
    for wrapped, name in ((value, "cv"), ({"a": [0, value]}, r"cv\.a\[1\]")):
        with pytest.raises(ModelFileError, match=name) as caught:
            Encoder().encode(wrapped, "cv")
        assert words in str(caught.value)


def test_values_nested_without_end_are_refused():
    endless: list = []
    endless.append(endless)
    with pytest.raises(ModelFileError, match="nested deeper"):
        Encoder().encode(endless, "cv")


def test_the_deepest_value_that_is_taken_can_be_read_again():
    value: dict = {}
    for _ in range(MAX_DEPTH):
        value = {0: value}
    encoder = Encoder()
    pack({"model": encoder.encode(value)}, encoder.arrays)
    with pytest.raises(ModelFileError, match="nested deeper"):
        Encoder().encode({0: value}, "x")


bad_references = [
    {"$array": 1},
    {"$array": -1},
    {"$array": True},
    {"$array": 0.0},
    {"$array": None},
    {"$array": [0]},
    {"$array": 0, "x": 1},
    {"x": 1, "$array": 0},
    [{"$array": 0}, {"$array": 0}],
    [],
    {"$strings": [0, 0]},
    {"$strings": [0]},
    {"$strings": 0},
    {"$ints": 0},
    {"$bools": 0},
    {"$unicode": 0},
    {"$object": [[1], {"$array": 0}]},
    {"$tuple": {"$array": 0}},
    {"$scalar": {"$array": 0}},
    {"$dict": [[{"$array": 0}, 1]]},
]


@pytest.mark.parametrize("encoded", bad_references, ids=str)
def test_a_wrong_reference_to_an_array_is_refused(encoded):
    with pytest.raises(ModelFileError):
        from_file(json.dumps(encoded), [np.zeros(3)])


@pytest.mark.parametrize(
    "encoded",
    [
        {"$unknown": 1},
        {"$": 1},
        {"$$array": 1},
        {"$tuple": 1},
        {"$tuple": {}},
        {"$tuple": {"a": 1}},
        {"$tuple": None},
        {"$dict": {}},
        {"$dict": [1]},
        {"$dict": [[1]]},
        {"$dict": [[[], 1]]},
        {"$dict": [[{}, 1]]},
        {"$dict": [[{"$tuple": [1, 2]}, 1]]},
        {"$dict": [[1, 2], [1, 3]]},
        {"$dict": [[1, 2], [True, 3]]},
        {"$float": "nan "},
        {"$float": "1.0"},
        {"$float": 1.0},
        {"$float": ["nan"]},
        {"$object": [[2], [1]]},
        {"$object": [[-1], [1]]},
        {"$object": [[0, 2**63], []]},
        {"$object": [[2**32, 2**32], []]},
        {"$object": [[1.0], [1]]},
        {"$object": [None, [1]]},
        {"$object": [[1], [[]]]},
        {"$object": [[1], 1]},
        {"$object": [[1]]},
        {"$object": 1},
        {"$scalar": 1},
        {"$scalar": {"$tuple": []}},
        {"$scalar": {"$object": [[0], []]}},
        2**64,
        -(2**64),
        "\ud800",
        {"\ud800": 1},
        {"$tree": {}},
    ],
    ids=str,
)
def test_a_malformed_value_is_refused(encoded):
    with pytest.raises(ModelFileError):
        from_file(json.dumps(encoded))


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        (b"abc", [1, 1]),
        (b"abc", [1, 3]),
        (b"abc", [-1, 4]),
        (b"abc", [4, -1]),
        (b"abc", []),
        (b"abc", [2**62, 2**62, 2**62, 2**62, 3]),
        (b"abc", [2**63 - 1]),
        ("ä".encode(), [1, 1]),
        (b"\xff", [1]),
        (b"\xed\xa0\x80", [3]),
    ],
)
def test_texts_of_impossible_lengths_or_bytes_are_refused(text, lengths):
    arrays = [np.frombuffer(text, np.uint8), np.array(lengths, np.int64)]
    with pytest.raises(ModelFileError, match="text"):
        from_file('{"$strings": [0, 1]}', arrays)


@pytest.mark.parametrize("point", [0xD800, 0xDFFF, 0x110000, 2**32 - 1])
def test_a_text_array_with_an_impossible_character_is_refused(point):
    with pytest.raises(ModelFileError, match="Unicode"):
        from_file('{"$unicode": 0}', [np.array([[65, point]], np.uint32)])


@given(
    st.recursive(
        st.none() | st.integers(-1, 3) | st.floats(allow_nan=False) | st.sampled_from(["nan", "a"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "$array",
                        "$unicode",
                        "$object",
                        "$scalar",
                        "$tuple",
                        "$dict",
                        "$float",
                        "$bools",
                        "$ints",
                        "$floats",
                        "$strings",
                        "a",
                    ]
                ),
                inner,
                min_size=1,
                max_size=2,
            )
        ),
        max_leaves=10,
    )
)
def test_json_of_any_kind_is_refused_or_gives_a_plain_value(encoded):
    arrays = [np.zeros(2), np.zeros((1, 2), np.uint32), np.array(3), np.ones(1, np.int64)]
    try:
        value = Decoder(arrays).decode(encoded)
    except ModelFileError:
        return
    assert_same(from_file(*to_file(value)), value)
