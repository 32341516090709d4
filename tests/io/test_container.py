"""The bytes of a model file: layout, checksum, and what a reader must refuse."""

from __future__ import annotations

import json
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.io.model_makers import assert_same, put_together, sign, take_apart
from treewright.errors import ModelFileError
from treewright.io import _container
from treewright.io._container import MAX_HEADER_DEPTH, MAX_HEADER_ITEMS, pack, unpack

DTYPES = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]

any_array = hnp.arrays(
    st.sampled_from(DTYPES), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)
)


def write(header, arrays) -> bytes:
    return b"".join(bytes(piece) for piece in pack(header, arrays))


def read(data: bytes):
    return unpack(np.frombuffer(bytearray(data), np.uint8))


def entry(dtype="float64", shape=(2,), offset=0):
    return {"dtype": dtype, "shape": list(shape), "offset": offset}


def forge(*entries, n_bytes=16, **changes) -> bytes:
    header = {"format": 1, "arrays": list(entries)} | changes
    return put_together(header, bytes(n_bytes))


@given(st.lists(any_array, max_size=5), st.dictionaries(st.text(), st.text(), max_size=3))
def test_header_and_arrays_come_back_to_the_byte(arrays, content):
    header, loaded = read(write({"content": content}, arrays))
    assert header == {"content": content}
    assert_same(loaded, arrays)


@given(st.lists(any_array, max_size=3))
def test_arrays_start_at_multiples_of_64_and_the_file_ends_with_its_checksum(arrays):
    data = write({}, arrays)
    (size,) = struct.unpack_from("<I", data, 12)
    assert (16 + size) % 64 == 0
    assert all(array["offset"] % 64 == 0 for array in take_apart(data)[0]["arrays"])
    assert sign(data[:-32]) == data


def test_the_order_of_bytes_and_axes_in_memory_does_not_change_the_file():
    array = np.arange(12, dtype=np.float64).reshape(3, 4)
    swapped = np.asfortranarray(array.astype(">f8"))
    assert write({}, [swapped]) == write({}, [array])
    assert read(write({}, [swapped]))[1][0].dtype == np.float64


def test_loaded_arrays_are_aligned_and_writable():
    _, arrays = read(write({}, [np.ones(3, np.uint8), np.ones(3), np.ones(0)]))
    for array in arrays:
        assert array.flags.writeable
        assert array.flags.aligned
        assert array.flags.c_contiguous


@given(st.binary(max_size=300))
@example(b"")
@example(b"\x89TWM")
@example(b"\x89TWM\r\n\x1a\n")
@example(b"\x89TWM\r\n\x1a\n" + bytes(8))
@example(b"\x89TWM\r\n\x1a\n" + bytes(40))
def test_bytes_of_any_kind_are_refused(data):
    for candidate in (data, b"\x89TWM\r\n\x1a\n" + data, sign(b"\x89TWM\r\n\x1a\n" + data)):
        with pytest.raises(ModelFileError):
            read(candidate)


@given(st.binary(max_size=100), st.binary(max_size=100))
def test_signed_headers_of_any_bytes_are_refused(text, arrays):
    with pytest.raises(ModelFileError):
        read(put_together(text, arrays))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(json_values | st.builds(entry, shape=st.lists(st.integers(), max_size=3))))
def test_array_tables_of_any_values_are_refused_or_describe_the_bytes(table):
    try:
        _, arrays = read(put_together({"format": 1, "arrays": table}, bytes(16)))
    except ModelFileError:
        return
    assert sum(array.nbytes for array in arrays) == 16


def test_the_forged_file_that_the_next_tests_change_is_a_good_one():
    assert_same(read(forge(entry())), ({}, [np.zeros(2)]))


@pytest.mark.parametrize(
    "bad",
    [
        entry(dtype="object"),
        entry(dtype="O"),
        entry(dtype="complex128"),
        entry(dtype="float128"),
        entry(dtype="<f8"),
        entry(dtype="U2"),
        entry(dtype="datetime64[s]"),
        entry(dtype=None),
        entry(dtype=["float64"]),
        entry(shape=[3]),
        entry(shape=[1]),
        entry(shape=[-2]),
        entry(shape=[-1, -2]),
        entry(shape=[2.0]),
        entry(shape=[True, 2]),
        entry(shape=["2"]),
        entry(shape=[2**62]),
        entry(shape=[2**63]),
        entry(shape=[2**64 + 2]),
        entry(shape=[2**32, 2**32]),
        entry(shape=[2**61 + 2]),
        entry(shape=[2, 10**4000]),
        entry(shape=[2] + [1] * 40),
        entry(offset=8),
        entry(offset=-64),
        entry(offset=64),
        entry(offset=0.0),
        entry(offset=False),
        entry(offset=None),
        entry() | {"shape": 2},
        entry() | {"shape": None},
        entry() | {"more": 1},
        {"dtype": "float64", "shape": [2]},
        {"shape": [2], "dtype": "float64", "offset": 0},
        [0],
        None,
    ],
    ids=lambda bad: str(bad)[:60],
)
def test_an_impossible_entry_of_the_array_table_is_refused(bad):
    with pytest.raises(ModelFileError, match="array"):
        read(forge(bad))


@pytest.mark.parametrize("shape", [[0, 2**62, 2**62], [0, 2**63], [0, 10**300], [0] * 33])
def test_an_empty_array_of_impossible_shape_is_refused(shape):
    with pytest.raises(ModelFileError, match="shape"):
        read(forge(entry(shape=shape), n_bytes=0))


@pytest.mark.parametrize(
    "table",
    [
        [entry(), entry()],
        [entry(), entry(offset=8)],
        [entry(), entry(offset=64)],
        [entry(shape=[1]), entry(shape=[1], offset=8)],
        [entry(), entry(shape=[0], offset=16)],
        [],
    ],
    ids=["same place", "overlap", "beyond", "not aligned", "empty, not aligned", "uncovered"],
)
def test_arrays_that_overlap_or_leave_holes_are_refused(table):
    with pytest.raises(ModelFileError, match="array"):
        read(forge(*table))


def test_bytes_between_arrays_must_be_zero():
    data = write({}, [np.ones(1), np.ones(1)])
    header, arrays = take_apart(data)
    assert read(put_together(header, arrays))
    with pytest.raises(ModelFileError, match="zeros"):
        read(put_together(header, arrays[:8] + b"\1" + arrays[9:]))


def test_a_bool_of_two_is_refused():
    with pytest.raises(ModelFileError, match="bool"):
        read(put_together({"format": 1, "arrays": [entry("bool")]}, b"\1\2"))


@pytest.mark.parametrize("size", [0, 63, 2**16, 2**26 + 1, 2**31, 2**32 - 1])
def test_a_wrong_header_length_is_refused_at_no_cost(size):
    data = bytearray(forge(entry())[:-32])
    data[12:16] = struct.pack("<I", size)
    tracemalloc.start()
    with pytest.raises(ModelFileError):
        read(sign(bytes(data)))
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def test_a_header_above_the_limit_is_refused_whatever_it_says(monkeypatch):
    data = write({"x": "x" * 2000}, [])
    assert read(data)
    monkeypatch.setattr(_container, "MAX_HEADER_SIZE", 1000)
    with pytest.raises(ModelFileError, match="header"):
        read(data)


def test_a_newer_version_says_so():
    with pytest.raises(ModelFileError, match=r"newer treewright .*upgrade"):
        read(put_together({"format": 2, "whatever": None}, b"", version=2))


def test_a_damaged_version_number_is_called_damage():
    data = bytearray(forge(entry()))
    data[8] ^= 2
    with pytest.raises(ModelFileError, match="damaged"):
        read(bytes(data))


def test_version_zero_and_versions_that_disagree_are_refused():
    for version, text in ((0, 0), (1, 2), (1, 1.0), (1, True), (1, None)):
        with pytest.raises(ModelFileError, match="version"):
            read(put_together({"format": text, "arrays": []}, b"", version=version))


@pytest.mark.parametrize(
    "text",
    [
        b'{"format":1,"arrays":[],"x":NaN}',
        b'{"format":1,"arrays":[],"x":Infinity}',
        b'{"format":1,"arrays":[],"x":-Infinity}',
        b'{"format":1,"arrays":[],"x":1e999}',
        b'{"format":1,"arrays":[],"x":' + b"9" * 5000 + b"}",
        b'{"format":1,"arrays":[],"arrays":[]}',
        b'{"format":1,"arrays":[],"x":{"a":1,"\\u0061":2}}',
        b'{"format":1,"arrays":[]',
        b'{"format":1,"arrays":[]} {}',
        b"{'format':1,'arrays':[]}",
        b'\xef\xbb\xbf{"format":1,"arrays":[]}',
        '{"format":1,"arrays":[]}'.encode("utf-16"),
        b'{"format":1,"arrays":[],"x":"\xff"}',
        b'{"format":1,"arrays":[],"x":"\n"}',
        b'{"format":1,"arrays":{}}',
        b'{"format":1}',
        b'[{"format":1,"arrays":[]}]',
        b"null",
        b"1",
        b'"text"',
    ],
    ids=lambda text: str(text[:50]),
)
def test_a_header_that_is_not_strict_json_is_refused(text):
    with pytest.raises(ModelFileError, match="header"):
        read(put_together(text, b""))


@pytest.mark.parametrize(
    "deep",
    [
        b"[" * 200 + b"]" * 200,
        b"[" * 1_000_000,
        b'{"a":' * 1_000_000,
        b'[{"a":' * 500_000,
        b'["]]]]"' * 200,
        b'["\\"]]"' + b',["]"' * 200,
        b"]" * 300 + b"[" * 500,
    ],
    ids=lambda text: str(text[:12]),
)
def test_a_deep_header_is_refused_before_it_is_parsed(deep, monkeypatch):
    monkeypatch.setattr(json, "loads", lambda *args, **kwargs: pytest.fail("it was parsed"))
    with pytest.raises(ModelFileError, match="nested deeper"):
        read(put_together(b'{"format":1,"arrays":[],"x":' + deep + b"}", b""))


def test_brackets_in_text_do_not_count_as_depth():
    text = '[{"' * 200 + '\\"'
    assert read(write({"x": text}, []))[0] == {"x": text}
    deep = value = []
    for _ in range(MAX_HEADER_DEPTH - 2):
        value.append([])
        value = value[0]
    assert read(write({"x": deep}, []))[0] == {"x": deep}


@pytest.mark.parametrize("piece", [b"[],", b"0,", b"{}", b'"",'])
def test_a_header_of_too_many_values_is_refused_before_it_is_parsed(piece, monkeypatch):
    monkeypatch.setattr(json, "loads", lambda *args, **kwargs: pytest.fail("it was parsed"))
    with pytest.raises(ModelFileError, match="values"):
        read(put_together(b'{"x":[' + piece * (MAX_HEADER_ITEMS + 1), b""))


@pytest.mark.parametrize(
    "text", [b'"' + b'\\"' * 500_000, b'"' + b'\\"' * 500_000 + b"\\", b'"' * 500_001]
)
def test_text_without_an_end_costs_no_more_than_other_text(text):
    with pytest.raises(ModelFileError, match="header"):
        read(put_together(b"{" + text.replace(b" ", b""), b""))


def test_what_could_not_be_read_again_is_not_written():
    with pytest.raises(ModelFileError, match="values"):
        pack({"x": [0] * (MAX_HEADER_ITEMS + 1)}, [])
    with pytest.raises(ModelFileError, match="bytes of text"):
        pack({"x": "x" * 2**26}, [])
