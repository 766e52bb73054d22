"""JSON in pieces reads what the standard library reads, and places what it refuses."""

import json
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppl.data import json_text
from ppl.data.bounded_read import BadText, read_bytes
from ppl.data.json_text import parse_json

numbers = st.integers(-(2**40), 2**40) | st.floats(allow_nan=False)
leaves = numbers | st.none() | st.booleans() | st.text(max_size=5)
values = st.recursive(
    leaves, lambda v: st.lists(v, max_size=6) | st.dictionaries(st.text(max_size=3), v, max_size=3)
)
objects = st.dictionaries(st.text(max_size=4), values, max_size=4)
windows = st.integers(1, 40)


def plain(value):
    """Arrays back to lists."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list | np.ndarray):
        return [plain(v) for v in (value.tolist() if isinstance(value, np.ndarray) else value)]
    return value


def parse(text: bytes, window: int):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_text, "PARSED_BYTES", window)
        return parse_json(text)


@pytest.mark.rotate
@given(objects, windows, st.sampled_from([None, 1]))
def test_agrees_with_the_standard_library_for_any_window(value, window, indent):
    text = json.dumps(value, indent=indent).encode()
    assert same(plain(parse(text, window)), numeric(json.loads(text)))


def same(a, b):
    """Equality under which nan is itself."""
    match a, b:
        case dict(), dict():
            return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
        case list(), list():
            return len(a) == len(b) and all(map(same, a, b))
        case _:
            return a == b or (a != a and b != b)


def numeric(value, in_array=False):
    """ "NaN" and its like are numbers in arrays."""
    match value:
        case dict():
            return {k: numeric(v) for k, v in value.items()}
        case list():
            return [numeric(v, in_array=True) for v in value]
        case _:
            return json_text.numeric(value) if in_array else value


@pytest.mark.rotate
@given(objects, windows, st.data())
def test_a_damaged_text_is_read_or_refused_at_a_place_in_it(value, window, data):
    text = bytearray(json.dumps(value).encode())
    at = data.draw(st.integers(0, len(text) - 1))
    match data.draw(st.sampled_from(["drop", "set", "cut"])):
        case "drop":
            del text[at]
        case "set":
            text[at] = data.draw(st.sampled_from(list(b'[]{},:"\\x1-.\xff \n')))
        case "cut":
            del text[at:]
    try:
        expected = json.loads(bytes(text))
    except ValueError:
        expected = None
    try:
        read = parse(bytes(text), window)
    except BadText as error:
        assert 1 <= error.line <= text.count(b"\n") + 1
        assert 1 <= error.column <= len(text) + 1
        assert expected is None or not isinstance(expected, dict) or repeats_a_name(bytes(text))
    else:
        assert plain(read) == numeric(expected)


def repeats_a_name(text: bytes) -> bool:
    try:
        json.loads(text, object_pairs_hook=json_text.unique)
    except json_text.Repeated:
        return True
    return False


@pytest.mark.parametrize("window", [4, 1 << 16])
@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("", 1, 1, "found nothing"),
        ("[1, 2]", 1, 1, "one JSON object"),
        ('[{"x": 1}]', 1, 1, "of rows pandas makes it by frame.to_dict('list')"),
        ('{"N": 3', 1, 8, "`,` or `}`"),
        ('{"N": 3}\n{}', 2, 1, "unexpected text after"),
        ('{"N": 1,\n "N": 2}', 2, 2, "`N` appears twice"),
        ('{"N": three}', 1, 7, "not JSON"),
        ('{"N": }', 1, 7, "a value is expected"),
        ('{"N" 3}', 1, 6, "`:` is expected"),
        ("{N: 3}", 1, 2, 'in double quotes, is expected; write "N"'),
        ("{'N': 3}", 1, 2, "in double quotes, is expected; write double quotes, not single ones"),
        ('{"N": 3,}', 1, 9, "in double quotes, is expected; remove the comma before it"),
        ('{"N": 3, // y\n"y": 1}', 1, 10, "JSON has no comments"),
        ('{"y": [1, 2,\n]}', 2, 1, "remove the comma before it"),
        ("{\"y\": [1, 'a']}", 1, 11, "write double quotes, not single ones"),
        ('{"y": c(1, 2)}', 1, 7, "write an array as [1, 2]"),
        ('{"y": [1, 2}', 1, 12, "`]`"),
        ('{"y": [1, 2', 1, 12, "`]`"),
        ('{"é": [1,\n  ö]}', 2, 3, "not JSON"),
        ('{"y": [[1, 2], [3, 04]]}', 1, 21, "`04` is not a number"),
        ('{"y": [1, NA]}', 1, 11, "found `NA`; in JSON a missing value is null"),
        ('{"y": None}', 1, 7, "found `None`; in JSON a missing value is null"),
        ('{"y": [TRUE, 1]}', 1, 8, "found `TRUE`; write 1 or 0"),
        ('{"y": [-inf, 1]}', 1, 8, "found `-inf`; write -Infinity"),
        ('{"y": [1.5, .5]}', 1, 13, "`.5` is not a number"),
        ('{"y": 1e999999}', 1, 7, "1e999999 is beyond double precision"),
        ('{"y": [[1, Infinity],\n [3, -1e400]]}', 2, 6, "-1e400 is beyond double precision"),
        ('{"y": {"1": ["1e999", 1e999]}}', 1, 23, "1e999 is beyond double precision"),
    ],
)
def test_a_mistake_is_placed(text, line, column, says, window):
    with pytest.raises(BadText) as caught:
        parse(text.encode(), window)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"y": [1, 2,]}',
        '{"y": [,1]}',
        '{"y": [1,,2]}',
        '{"y": [1 2]}',
        '{"y": [+1]}',
        '{"y": [.5]}',
        '{"y": ["a\nb"]}',
        '{"y": [{"1": 2, "1": 3}]}',
        '{"y": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"y": ' + "9" * 5000 + "}",
    ],
)
@pytest.mark.parametrize("window", [3, 1 << 16])
def test_refused(text, window):
    with pytest.raises(BadText):
        parse(text.encode(), window)


def test_bytes_that_are_not_utf8_are_placed():
    with pytest.raises(BadText, match="UTF-8") as caught:
        parse_json(b'{"y": [1, 2, "\xff"]}')
    assert caught.value.column == 15


def test_a_byte_order_mark_is_no_mistake():
    assert parse_json(b'\xef\xbb\xbf{"N": 3}') == {"N": 3}


@pytest.mark.parametrize("window", [5, 1 << 16])
def test_words_for_what_is_not_finite(window):
    text = b'{"y": [1, NaN, Infinity, -Infinity, Inf, -Inf, "NaN", "+inf", "-Infinity", "Inf"], "z": -Inf}'
    read = parse(text, window)
    assert isinstance(read["y"], np.ndarray)
    np.testing.assert_array_equal(
        read["y"],
        [1, math.nan, math.inf, -math.inf, math.inf, -math.inf, math.nan, math.inf, -math.inf, math.inf],
    )
    assert read["z"] == -math.inf


def test_text_that_says_inf_stays_as_it_is():
    assert parse_json(b'{"y": ["to Inf and beyond"]}') == {"y": ["to Inf and beyond"]}


SIZE = 300_000


@pytest.mark.rotate
@pytest.mark.parametrize(
    ("row", "shape"),
    [("0.5", ()), ("7", ()), ("[1,2]", (2,)), ("-0.12345678901", ()), ('0.5,"Inf"', None)],
)
def test_memory_stays_under_eight_times_the_text(row, shape):
    """The text itself included; rows this short are the worst case."""
    text = ('{"y": [' + ",".join([row] * (SIZE // len(row))) + "]}").encode()
    tracemalloc.start()
    try:
        read = parse_json(text)["y"]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(read, np.ndarray)
    assert shape is None or read.shape == (SIZE // len(row), *shape)
    assert len(text) + peak < 8 * len(text)


def test_a_small_file_is_read_without_a_look_at_the_memory_that_is_free(tmp_path, monkeypatch):
    (tmp_path / "d.json").write_text('{"N": 3}')
    monkeypatch.setattr("ppl.data.bounded_read.available", None)
    assert read_bytes(tmp_path / "d.json", packed=False) == b'{"N": 3}'
