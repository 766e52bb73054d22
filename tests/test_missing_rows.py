"""Tables without the rows in which a declared column is missing: `missing="drop"`."""

import pickle

import numpy as np
import pytest

import ppl

MODEL = ppl.compile_model("""
data { int N; int J; array[N] int<lower=1, upper=J> town; vector[N] dose, y; }
parameters { vector[J] u; real b; }
model { u ~ normal(0, 1); b ~ normal(0, 1); y ~ normal(u[town] + b * dose, 1); }
""")
TOWNS = ["York", "Hull", None, "Bath", "Hull", "Leeds"]
DOSE = [0.5, None, 1.0, 2.0, 0.25, 1.5]
Y = [1.0, 2.0, 3.0, 4.0, 5.0, None]
NOTES = [None, "late", None, None, None, None]
KEPT = {"town": [3, 1, 2], "J": 3, "dose": [0.5, 2.0, 0.25], "y": [1.0, 4.0, 5.0]}
COLUMNS = {"town": TOWNS, "dose": DOSE, "y": Y, "notes": NOTES}


def table(kind, path):
    if kind == "csv":
        rows = (
            ",".join("" if v is None else str(v) for v in row) for row in zip(*COLUMNS.values(), strict=True)
        )
        (path / "rows.csv").write_text("\n".join([",".join(COLUMNS), *rows]))
        return path / "rows.csv"
    if kind == "arrow":
        arrow = pytest.importorskip("pyarrow")
        return arrow.table(
            {**COLUMNS, "town": arrow.chunked_array([TOWNS[:2], TOWNS[2:]]).dictionary_encode()}
        )
    frame = pytest.importorskip(kind).DataFrame(COLUMNS)
    return frame.astype({"town": "category"}) if kind == "pandas" else frame


@pytest.mark.parametrize("kind", ["csv", "pandas", "polars", "arrow"])
def test_incomplete_rows_of_a_table_are_dropped_and_counted(kind, tmp_path):
    rows = table(kind, tmp_path)
    with pytest.raises(ppl.DataError, match="--missing drop leaves out such rows"):
        MODEL.condition(rows)
    posterior = MODEL.condition(rows, missing="drop")
    levels = posterior.levels["town"]
    assert [levels[code - 1] for code in posterior.d.of("town")] == ["York", "Bath", "Hull"]
    assert posterior.d.of("y").tolist() == KEPT["y"] and posterior.d.of("dose").tolist() == KEPT["dose"]
    (note,) = posterior.notes
    assert note.endswith("3 of 6 rows were left out, with missing values in town (1), dose (1), y (1).")
    assert pickle.loads(pickle.dumps(posterior)).notes == posterior.notes


def test_the_rows_that_are_left_are_those_of_a_whole_table(tmp_path):
    fit = MODEL.condition(table("csv", tmp_path), missing="drop").variational(algorithm="laplace", draws=20)
    u = np.linspace(-1, 1, fit.posterior.param_unc_num())
    assert fit.posterior.log_density(u) == MODEL.condition({**KEPT, "N": len(KEPT["y"])}).log_density(u)
    assert fit.notes[0] == fit.posterior.notes[0]
    fit.save(tmp_path / "fit.json")  # a file of draws is read with the rows that its fit had
    again = ppl.load_fit(tmp_path / "fit.json", MODEL, tmp_path / "rows.csv")
    assert (again.draws() == fit.draws()).all()


def test_a_table_without_a_complete_row_is_refused():
    rows = pytest.importorskip("pandas").DataFrame({**COLUMNS, "dose": [None] * 5 + [1.0]})
    with pytest.raises(ppl.DataError, match=r"no row is complete; values are missing in .*dose \(5\)"):
        MODEL.condition(rows, missing="drop")
