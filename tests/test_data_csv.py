"""CSV with a header as data: a variable a column, as its declaration wants it."""

import gzip

import numpy as np
import pytest

import ppl
from ppl.data import load_data
from ppl.data.inputs import merged, renamed
from ppl.errors import DataError

PROGRAM = """
data { int<lower=0> N; vector[N] y; array[N] int<lower=1, upper=2> g; }
parameters { vector[2] mu; }
model { mu ~ normal(0, 1); y ~ normal(mu[g], 1); }
"""
MODEL = ppl.compile_model(PROGRAM)
GIVEN = MODEL.condition({"N": 3, "y": [0.5, 1.5, -1.0], "g": [1, 2, 2]})
U = np.array([0.2, -0.4])
TEXT = 'name,y,g\n"a, b",0.5,1\nc,1.5,2\n"d",-1,2.0\n'


def condition(folder, text, name="d.csv", model=MODEL):
    content = text.encode() if isinstance(text, str) else text
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return model.condition(folder / name)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.replace("\n", "\r\n"),
        "\ufeff" + TEXT + "\n\n",
        TEXT.replace(",", ", "),
        TEXT.replace("name", '""'),
        TEXT.replace("1.5", "15e-1").removesuffix("\n"),
    ],
)
@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz"])
def test_columns_are_read_by_their_declarations(tmp_path, text, name):
    posterior = condition(tmp_path, text, name)
    assert posterior.log_density(U) == GIVEN.log_density(U)
    assert posterior.data["N"] == 3


def test_a_size_that_is_given_is_kept(tmp_path):
    rows = "N,y,g\n1,0.5,1\n"
    assert condition(tmp_path, rows).log_density(U) == condition(tmp_path, "y,g\n0.5,1\n").log_density(U)


def test_columns_are_read_under_the_names_that_are_declared(tmp_path):
    text = "data { int N; vector[N] age_years; vector[N] x2nd_dose; vector[N] Y; real rate; }"
    model = ppl.compile_model(f"{text} parameters {{ real b; }} model {{ Y ~ normal(b * age_years, 1); }}")
    (tmp_path / "d.csv").write_text("Âge (Years),2nd.dose,y,Rate\n30,1,2,3\n40,2,3,3\n")
    fit = model.condition(tmp_path / "d.csv", rate=1.0).laplace(draws=3, correct=False)
    assert "d.csv: the column" in fit.notes[0] and "`2nd.dose` is read as `x2nd_dose`" in fit.notes[0]
    assert fit.posterior.data["age_years"].tolist() == [30, 40] and fit.posterior.data["Y"].tolist() == [2, 3]
    (tmp_path / "new.csv").write_text("AGE.YEARS\n50\n")
    assert fit.predict(tmp_path / "new.csv")["Y"].shape == (3, 1)
    (tmp_path / "two.csv").write_text("age years,age.years,x2nd_dose,Y\n1,2,3,4\n")
    with pytest.raises(ppl.DataError, match="`age_years` is missing"):  # either may be meant
        model.condition(tmp_path / "two.csv", rate=1.0)
    with pytest.raises(
        ppl.DataError, match=r"`rate` is missing.*condition\(table, rate="
    ):  # a number is no column
        model.condition(tmp_path / "d.csv")


@pytest.mark.parametrize("kind", ["csv", "pandas", "polars", "pyarrow"])
def test_a_table_without_rows_is_refused_and_sizes_of_0_sample_the_prior(kind, tmp_path):
    columns, package = {"y": [], "g": []}, pytest.importorskip(kind)
    (tmp_path / "d.csv").write_text("y,g\n")
    makes = {"csv": lambda columns: tmp_path / "d.csv", "pyarrow": getattr(package, "table", None)}
    table = makes.get(kind, getattr(package, "DataFrame", None))(columns)
    with pytest.raises(
        ppl.DataError, match=r'the table has no rows; .*sizes of 0 in JSON or a dict, {"N": 0'
    ):
        MODEL.condition(table)
    prior = MODEL.condition({"N": 0, **columns})
    assert prior.log_density(U) == prior.log_density(-U)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_and_utf16_are_read(separator, tmp_path):
    text = TEXT.replace(",", separator)
    assert condition(tmp_path, text).log_density(U) == GIVEN.log_density(U)
    (tmp_path / "d.txt").write_text(text, "utf-16")  # Excel's Unicode text
    assert MODEL.condition(tmp_path / "d.txt").log_density(U) == GIVEN.log_density(U)


def test_a_number_that_may_stand_for_missing_values_is_noted(tmp_path):
    rows = "\n".join(f"{y},{g}" for y, g in [(21, 1), (-999, 2), (35, 1), (89, 2), (-999, 1)])
    (note,) = condition(tmp_path, f"y,g\n{rows}\n").laplace(draws=3, correct=False).notes
    assert note.startswith(
        "`y` is -999 in 2 of 5 entries, and the others are from 21 to 89: if it stands for"
    )
    counts = "\n".join(f"{y},1" for y in (0, 400, 700, 999))  # 999 is one of them
    assert not condition(tmp_path, f"y,g\n{counts}\n").laplace(draws=3, correct=False).notes


def test_new_rows_that_are_none_are_no_prior(tmp_path):
    (tmp_path / "d.csv").write_text("y,g\n")
    with pytest.raises(ppl.DataError, match=r"d\.csv: the table has no rows$"):
        GIVEN.laplace(draws=3, correct=False).predict(tmp_path / "d.csv")


def test_long_tables_are_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("ppl.data.csv_text.TEXT_ROWS_AT_A_TIME", 2)
    assert condition(tmp_path, TEXT).log_density(U) == GIVEN.log_density(U)
    with pytest.raises(ppl.DataError, match=r'd\.csv:4: y\[3\] is the string "x"'):
        condition(tmp_path, TEXT.replace("-1,", "x,"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "d.csv:1: the first line must name the columns; the file is empty"),
        ("0.5,1\n1.5,2\n", "d.csv:1: the first line must name the columns; found the number 0.5"),
        ("# lp__\ny,g\n", "d.csv:1: the first line must name the columns; found a comment"),
        ("y;g\n0,5;1\n", 'd.csv:2: y[1] is the string "0,5", but'),
        ("PK\x03\x04\x14", "d.csv:1: this is a workbook or an archive, not text; save the sheet as CSV"),
        (
            "y,g\n0.5,1\n2,0\n",
            "d.csv:3: g[2] is 0, but must be at least 1: `array[N] int<lower=1, upper=2> g`",
        ),
        ("y,g\n0.5,1\n2,0\n", "groups are numbered from 1: add 1, as in g + 1, or give their names"),
        ("y,g\n1,1\n2,-99\n3,2\n4,1\n", "d.csv:3: g[2] is -99, but must be at least 1"),
        ("y,g\n1,1\n2,-99\n3,2\n4,1\n", "(line 2); if -99 stands for missing values, write NA"),
        ("y,g,y\n1,2,3\n", "d.csv:1: `y` names two columns"),
        ("y,g\n0.5,1\n1.5\n", "d.csv:3: 1 field, but the header names 2 columns"),
        ("y,g\n0.5,1,2\n", "d.csv:2: 3 fields, but the header names 2 columns"),
        ("y,g\n0.5,1\n\n1.5,2\n", "d.csv:3: a blank line among the rows"),
        ('y,g\n0.5,"1\n', "d.csv:2: not CSV: "),
        (b"y,g\n0.5,1\n\xff,1\n", "d.csv:3: the text is not UTF-8"),
        ("y,g\n0.5,1\nx,2\n", 'd.csv:3: y[2] is the string "x", but `vector[N] y` (line 2) needs numbers'),
        ("y,g\n1_0,1\n", 'd.csv:2: y[1] is the string "1_0"'),
        (
            'y,g\n1.5,1\n"1,5",1\n',
            'd.csv:3: y[2] is the string "1,5", but `vector[N] y` (line 2) needs numbers',
        ),
        ('y,g\n"1,5",1\n', "write it as 1234.5: no quotes, a decimal point, no sign of thousands"),
        ("y,g\n12.5 %,1\n", "needs numbers of shape (1); write it as 1234.5"),
        ("y,g\n$5,1\n", "write the number alone, 5,"),
        ("y,g\n<0.1,1\n", "it is censored: keep such rows apart, and add `target += normal_lcdf("),
        ("y,g\n0.1,1\nTotal,1\n", "remove the row if it holds no data, or write NA for a missing value"),
        ("y,g\n1/2,1\n", "needs numbers of shape (1)"),
        ('"y"x,"g"\n1,2\n', "not CSV: ',' expected after '\"'; separate columns by commas, semicolons"),
        ("y,g\n5 kg,1\n", "needs numbers of shape (1); write the number alone, 5, and its unit in the name"),
        ("y,g\n05.03.2024,1\n", "for groups declare"),
        (
            "y,g\n1.5,A\n1.5,7\n2,B\n",
            "d.csv:3: g[2] is the number 7, and others are words such as A, but "
            "`array[N] int<lower=1, upper=2> g` (line 2) needs words alone or numbers alone; "
            "give it a letter, such as n7",
        ),
        ("y,g\n1.5,A\n1.5,1\n2,2\n", 'd.csv:2: g[1] is the string "A"'),
        ("y,g\n٣,1\n", 'd.csv:2: y[1] is the string "٣"'),
        ("y,g\n0.5,1\nNA,2\n", 'd.csv:3: y[2] is the string "NA", but'),
        ("y,g\n0.5,1\n,2\n", "d.csv:3: y[2] is empty, but"),
        ("y,g\n1,1\n-1e999,2\n", 'd.csv:3: y[2] is the string "-1e999", but'),
        ("y,g\nNA,1\n.,2\n", 'd.csv:3: y[2] is the string ".", but'),
        (
            'name,y,g\n"a\nb",0.5,1\nc,1.5,1.5\n',
            "d.csv:4: g[2] is 1.5, but `array[N] int<lower=1, upper=2> g`",
        ),
        ("y,g\n0.5,1\n1.5,3\n", "d.csv:3: g[2] is 3, but must be at most 2"),
        ("N,y,g\n2,0.5,1\n2,1.5,2\n", "needs one integer; a column has one for each row: remove it"),
        ("y,group\n0.5,1\n", "d.csv: `g` is missing"),
    ],
)
def test_refusals_name_column_line_and_what_was_expected(tmp_path, text, message):
    with pytest.raises(ppl.DataError) as caught:
        condition(tmp_path, text)
    assert message in str(caught.value) and str(caught.value).startswith(str(tmp_path / "d.csv"))


def test_infinity_is_a_number_and_many_columns_are_read(tmp_path):
    names = [f"x{k}" for k in range(20_000)]
    (tmp_path / "wide.csv").write_text(f"{','.join(names)},y\n{'1,' * len(names)}-Inf\n")
    values = ppl.data.load_data(tmp_path / "wide.csv").values
    assert len(values) == 20_001 and values["y"].tolist() == [-np.inf]


def test_a_parquet_table_is_read_by_columns(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    table = arrow.table({"x": [0.5, None, 2.0], "g": [1, 2, 1]})
    write_table(table, tmp_path / "d.parquet")
    found = ppl.data.load_data(tmp_path / "d.parquet")
    np.testing.assert_array_equal(found.values["x"], [0.5, np.nan, 2.0])
    assert found.values["g"].tolist() == [1, 2, 1] and found.values["g"].dtype.kind == "i"
    (tmp_path / "bad.parquet").write_text("nonsense")
    with pytest.raises(DataError, match=r"bad\.parquet: cannot be read"):
        ppl.data.load_data(tmp_path / "bad.parquet")


def test_columns_are_matched_with_declared_names_once(tmp_path, monkeypatch):
    """Of a million columns it takes two seconds."""
    calls = []
    monkeypatch.setattr(ppl.data.inputs, "renamed", lambda *given: calls.append(given) or renamed(*given))
    (tmp_path / "d.csv").write_text("Y,Age (years)\n1,2\n3,4\n")
    program = "data { int N; vector[N] y; vector[N] age_years; } parameters { real mu; }"
    posterior = ppl.compile_model(program).condition(tmp_path / "d.csv")
    assert len(calls) == 1 and posterior.data["N"] == 2
    np.testing.assert_array_equal(posterior.data["age_years"], [2.0, 4.0])


def test_a_key_in_two_tables_gets_the_way_out(tmp_path):
    (tmp_path / "visits.csv").write_text("patient,y\nP2,1\nP1,2\n")
    (tmp_path / "patients.csv").write_text("patient,x\nP2,1\nP1,2\n")
    with pytest.raises(
        DataError, match=r"give it once\. If .*patients\.csv has a row for each `patient`, sort"
    ):
        merged([load_data(tmp_path / f"{name}.csv") for name in ("visits", "patients")])
