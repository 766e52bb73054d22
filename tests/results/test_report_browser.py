"""The report in headless Chromium: no network, no console errors, legible on a page and on a telephone."""

import numpy as np
import pytest
from browser import measured, needs_chromium

from ppl.results.files.readers import read_all
from ppl.results.fits.fit import variational
from ppl.results.pictures.material import ElboTrace, Material, Replicated
from ppl.results.pictures.table import KINDS

pytest.importorskip("matplotlib")
from ppl.results.report.report import Program, report


@pytest.fixture
def folder(toy, tmp_path):
    variational(toy, draws=200).save_csv(tmp_path / "toy.csv")
    text = (tmp_path / "toy.csv").read_text().replace("theta.1,theta.2,y_rep", "y_rep.1,y_rep.2,z")
    (tmp_path / "toy.csv").write_text(text)
    files = read_all([tmp_path / "toy.csv"])
    trace = ElboTrace(np.array([[100.0, -40.0], [200.0, -35.0], [300.0, -34.0]]), "converged")
    material = Material(
        files,
        files[0].columns,
        trace,
        outcomes={"y": Replicated(np.array([0.5, 1.0]), files[0].draws[:, :2])},
    )
    program = Program("model { " + "x + " * 100 + "x; }", "plan " * 60)
    (tmp_path / "report.html").write_text(report(material, "a_rather_long_name_of_a_model_file", program))
    return tmp_path, material


@needs_chromium
def test_the_report_in_a_browser(folder):
    folder, material = folder
    for (_, width), measures in measured(folder, ["report.html"]).items():
        assert measures["scroll"] <= width, "the page itself never scrolls sideways"
        there = [kind for kind in KINDS.values() if kind.usual(material) and not kind.missing(material)]
        assert len(measures["images"]) == len(there) == 7
        for natural, shown in measures["images"]:
            assert natural > 0 and 0.85 * natural <= shown <= width, "type of 8.5 points keeps its size"
