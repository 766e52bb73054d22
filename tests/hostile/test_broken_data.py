"""Data files that are not what they seem: each is refused with file and variable, without a traceback."""

import gzip
import io
import json
import os
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest

import ppl
from ppl import memory
from ppl.data import load_data, with_arrays
from ppl.errors import DataError

MODEL = ppl.compile_model("data { int N; vector[N] x; } parameters { real m; } model { x ~ normal(m, 1); }")
DRAWS = np.array([1.0, 2.0, 3.0])


def npy(array, **how):
    held = io.BytesIO()
    np.save(held, array, **how)
    return held.getvalue()


def header(shape, descr="<f8"):
    held = io.BytesIO()
    about = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(held, about)
    return held.getvalue()


class Opens:
    """What a pickle would run."""

    def __reduce__(self):
        return (os.mkdir, ("unpickled",))


NOT_ARRAYS = {
    "text": b"hello world, this is no array",
    "nothing": b"",
    "a header for 10^13 numbers": header((10**13,)),
    "a header for more than 2^63 bytes": header((2**62, 2**62)),
    "a negative size": header((-3,)),
    "2^40 strings of no length": header((2**40,), "<U0"),
    "a cut": npy(DRAWS)[:-5],
    "objects": npy(np.array([1, "a", None], dtype=object), allow_pickle=True),
    "a pickle that acts": npy(np.array([Opens()], dtype=object), allow_pickle=True),
    "a header of code": npy(DRAWS).replace(b"'descr'", b"__import"),
    "an unknown version": npy(DRAWS)[:6] + b"\x09\x09" + npy(DRAWS)[8:],
    "strings": npy(np.array(["1", "2", "3"])),
    "complex numbers": npy(DRAWS + 1j),
    "dates": npy(np.array(["2020-01-01"] * 3, "M8[D]")),
    "records": npy(np.ones(3, [("a", "f8"), ("b", "O")]), allow_pickle=True),
}


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refused(read, file, variable="x"):
    with pytest.raises(DataError) as caught:
        MODEL.condition(read())
    assert file in str(caught.value) and caught.value.variable == variable, caught.value
    assert not os.path.exists("unpickled")
    return str(caught.value)


def archive(**members):
    with zipfile.ZipFile("d.npz", "w") as z:
        for name, held in {"N": npy(np.array(3)), **members}.items():
            z.writestr(f"{name}.npy", held)
    return "d.npz"


@pytest.mark.parametrize("what", NOT_ARRAYS)
def test_a_member_that_is_no_array(what):
    refused(lambda: archive(x=NOT_ARRAYS[what]), "d.npz")


@pytest.mark.parametrize("what", NOT_ARRAYS)
def test_a_file_that_is_no_array(what):
    with open("x.npy", "wb") as file:
        file.write(NOT_ARRAYS[what])
    refused(lambda: with_arrays(load_data({"N": 3}), {"x": "x.npy"}), "x.npy")


def test_a_header_says_what_it_promises():
    text = refused(lambda: archive(x=header((10**13,))), "d.npz")
    assert "declares 10000000000000 numbers, but the file has only 128 bytes" in text


def test_the_memory_that_is_free_is_not_asked_for_each_small_array(monkeypatch):
    """That takes a millisecond, and an archive may have 60,000 of them."""
    asked = []
    monkeypatch.setattr(memory, "available", lambda: asked.append(1) or 1 << 40)
    monkeypatch.setattr("ppl.data.bounded_read.available", memory.available)
    load_data(archive(**{f"v{k}": npy(np.zeros(1000)) for k in range(500)}))
    assert len(asked) <= 10


@pytest.mark.parametrize("value", ["null", "1" + 400 * "0"])
@pytest.mark.parametrize("name", ["N", "x"])
def test_one_value_for_a_whole_variable_where_missing_values_are_modelled(name, value):
    text = {"N": "3", "x": "[1, 2, 3]", name: value}
    with open("d.json", "w") as file:
        file.write("{" + ", ".join(f'"{key}": {each}' for key, each in text.items()) + "}")
    with pytest.raises(ppl.PPLError, match=name):
        MODEL.condition("d.json", missing="model")


@pytest.mark.parametrize(("second", "there"), [({"x": [0.5]}, "double"), ({"y": [1]}, "absent")])
def test_files_of_a_folder_with_other_columns_are_refused(second, there):
    """Reals were cut to integers where the first file had these."""
    arrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    os.mkdir("rows")
    write_table(arrow.table({"x": [1, 2]}), "rows/a.parquet")
    write_table(arrow.table(second), "rows/b.parquet")
    text = refused(lambda: with_arrays(load_data({"N": 3}), {"x": "rows:x"}), "rows")
    assert f"column x is int64 in the first file, {there} in rows/b.parquet" in text


@pytest.mark.parametrize("name", ["d.npz", "d.json", "d.json.gz"])
def test_an_empty_file(name):
    open(name, "wb").close()
    refused(lambda: name, name, None)


@pytest.mark.parametrize("name", ["x.npy", "x.parquet", "x.arrow", "x.feather"])
def test_an_empty_file_for_a_variable(name):
    open(name, "wb").close()
    refused(lambda: with_arrays(load_data({"N": 3}), {"x": name}), name)


def flipped(whole, rng):
    """A file with one byte inverted, or cut, or with a stretch twice."""
    at = rng.randrange(len(whole))
    how = rng.randrange(3)
    if how == 0:
        return whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]
    return whole[:at] if how == 1 else whole[:at] + whole[max(0, at - 20) :]


def a_table(kind, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    table = arrow.table({"x": DRAWS})
    path = f"whole.{kind}"
    parquet.write_table(table, path) if kind == "parquet" else feather.write_feather(table, path)
    return Path(path).read_bytes()


@pytest.mark.rotate
@pytest.mark.parametrize("kind", ["npz", "npy", "json", "json.gz", "parquet", "arrow"])
def test_bytes_turned_over_are_refused_or_read(kind, tmp_path):
    """Whatever is left of a file, the answer is numbers or a DataError."""
    rng = random.Random(kind)
    text = json.dumps({"N": 3, "x": [1.0, 2.0, 3.0]}).encode()
    match kind:
        case "npz":
            whole = Path(archive(x=npy(DRAWS))).read_bytes()
        case "npy":
            whole = npy(DRAWS)
        case "json" | "json.gz":
            whole = text if kind == "json" else gzip.compress(text)
        case _:
            whole = a_table(kind, tmp_path)
    for _ in range(150):
        with open(f"f.{kind}", "wb") as file:
            file.write(flipped(whole, rng))
        of_its_own = kind in ("npy", "parquet", "arrow")
        try:
            data = with_arrays(load_data({"N": 3}), {"x": f"f.{kind}"}) if of_its_own else f"f.{kind}"
            MODEL.condition(data)
        except DataError as error:
            assert str(error)


@pytest.mark.parametrize("depth", [33, 64, 65, 200, 900, 100_000])
def test_lists_nested_without_end(depth):
    with open("d.json", "w") as file:
        file.write('{"N": 3, "x": ' + "[" * depth + "1" + "]" * depth + "}")
    with pytest.raises(DataError, match=r"d\.json.*x"):
        MODEL.condition("d.json")


@pytest.mark.parametrize("depth", [64, 5000])
def test_objects_nested_without_end(depth):
    with open("d.json", "w") as file:
        file.write('{"N": 3, "x": ' + '{"1": ' * depth + "1" + "}" * depth + "}")
    with pytest.raises(DataError, match=r"d\.json.*x"):
        MODEL.condition("d.json")


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(memory, "limits", lambda: iter([64 << 20]))


def test_a_text_that_unpacks_to_more_than_memory(little_memory):
    with gzip.open("d.json.gz", "wb") as file:
        file.write(b'{"N": 3, "y": [')
        for _ in range(40):
            file.write(b"0," * 500_000)
        file.write(b'1], "x": [1, 2, 3]}')
    assert os.path.getsize("d.json.gz") < 100_000
    text = refused(lambda: "d.json.gz", "d.json.gz", None)
    assert "more than 16.0 MiB, a quarter of the memory that is free" in text


def test_an_array_that_unpacks_to_more_than_memory(little_memory):
    np.savez_compressed("d.npz", N=3, x=np.zeros(4_000_000))
    text = refused(lambda: "d.npz", "d.npz")
    assert "30.5 MiB" in text and "16.0 MiB" in text


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no such device")
def test_a_device_without_an_end():
    refused(lambda: "/dev/zero", "/dev/zero", None)


def test_a_device_that_begins_like_data(little_memory):
    """As /dev/zero would, behind a brace."""
    os.mkfifo("d.json")
    if os.fork() == 0:
        try:
            with open("d.json", "wb") as file:
                file.write(b"{" + b" " * (40 << 20))
        finally:
            os._exit(0)
    refused(lambda: "d.json", "d.json", None)
    os.wait()


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_unsigned_integers_do_not_wrap(kind):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    def write(values):
        table = arrow.table({"x": arrow.array(values, arrow.uint64())})
        parquet.write_table(table, f"x.{kind}") if kind == "parquet" else feather.write_feather(
            table, f"x.{kind}"
        )
        return with_arrays(load_data({"N": 3}), {"x": f"x.{kind}"})

    text = refused(lambda: write([1, 2, 2**64 - 1]), f"x.{kind}")
    assert "column x has 18446744073709551615" in text
    np.testing.assert_array_equal(write([1, 2, 2**63 - 1]).values["x"], [1, 2, 2**63 - 1])


def test_a_table_that_unpacks_into_more_than_there_is_room_for(little_memory):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    write_table(arrow.table({"x": np.zeros(4_000_000)}), "d.parquet")
    text = refused(lambda: "d.parquet", "d.parquet", None)
    assert os.path.getsize("d.parquet") < 100_000 and "30.5 MiB" in text


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_arrays_of_one_name_are_refused():
    with zipfile.ZipFile("d.npz", "w") as archive:
        for value in (DRAWS, -DRAWS):
            archive.writestr("x.npy", npy(value))
    refused(lambda: "d.npz", "`x` names two arrays")


def test_two_columns_of_one_name_are_refused():
    frame = pytest.importorskip("pandas").DataFrame([[1, 2], [3, 4]], columns=["x", "x"])
    refused(lambda: frame, "`x` names two columns")
    arrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    write_table(arrow.table([[1.0], [2.0]], names=["x", "x"]), "d.parquet")
    refused(lambda: "d.parquet", "d.parquet: `x` names two columns")


def test_unsigned_integers_of_an_array_do_not_wrap():
    np.savez("d.npz", N=3, x=np.array([1, 2, 2**64 - 1], np.uint64))
    assert ppl.compile_model("data { int N; vector[N] x; }").condition("d.npz").d.x__[2] == 2.0**64
    np.savez("n.npz", N=np.uint64(2**64 - 1), x=DRAWS)
    refused(lambda: "n.npz", "n.npz", "N")
