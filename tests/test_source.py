"""Program files as editors leave them: marks, encodings, line ends, names."""

import pytest

import ppl
from ppl.errors import ModelError
from ppl.kernel.language.include import read_source

PROGRAM = "parameters { real y; }\nmodel { y ~ normal(0, 1); } // né\n"


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def written(path, held):
    path.write_bytes(held)
    return path


def test_a_byte_order_mark_is_skipped(tmp_path):
    path = written(tmp_path / "m.model", b"\xef\xbb\xbf" + PROGRAM.encode())
    assert read_source(path).text == PROGRAM
    assert ppl.compile_model(path).condition({}).param_unc_num() == 1


def test_line_ends_of_other_systems(tmp_path):
    for ends in ("\r\n", "\r"):
        assert (
            read_source(written(tmp_path / "m.model", PROGRAM.replace("\n", ends).encode())).text == PROGRAM
        )


def test_a_mark_of_an_included_file_is_skipped(tmp_path):
    written(tmp_path / "p.stan", b"\xef\xbb\xbfparameters { real y; }\n")
    path = written(tmp_path / "m.model", b"#include p.stan\nmodel { y ~ normal(0, 1); }\n")
    assert ppl.compile_model(path).condition({}).param_unc_num() == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le"])
def test_another_encoding_is_named(tmp_path, encoding):
    path = written(tmp_path / "m.model", PROGRAM.encode(encoding))
    with pytest.raises(ModelError) as refused:
        ppl.compile_model(path)
    assert encoding == "utf-16-le" or f"begins as {encoding.upper()} does" in refused.value.message
    assert refused.value.line in (1, 2)


def test_a_byte_of_another_encoding_has_its_place(tmp_path):
    path = written(tmp_path / "m.model", b"\xef\xbb\xbf" + PROGRAM.encode("latin-1"))
    with pytest.raises(ModelError, match="not UTF-8") as refused:
        ppl.compile_model(path)
    assert (refused.value.line, refused.value.column) == (2, 33)
    assert "// n" in str(refused.value)


@pytest.mark.parametrize("name", ["a" * 300, "a" * 5000, "/".join(["b"] * 3000), "nul\0"])
def test_a_name_that_no_file_can_have(tmp_path, name):
    path = written(tmp_path / "m.model", f'model {{ }}\n#include "{name}"\n'.encode())
    with pytest.raises(ModelError) as refused:
        ppl.compile_model(path)
    assert refused.value.line == 2 and len(refused.value.message) < 200
