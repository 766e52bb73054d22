"""The report in headless Chromium: no network, no console errors, legible on a page and on a telephone."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from ppl.results.files.readers import read_all
from ppl.results.fits.fit import variational
from ppl.results.report.pictures import KINDS, Material, Trace

pytest.importorskip("matplotlib")
from ppl.results.report.report import Program, report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --allow-file-access-from-files --enable-logging=stderr
    --virtual-time-budget=4000 --dump-dom""".split()

# Measures the report in a frame of the given width and leaves the figures in the page that is dumped.
FRAME = """<iframe id="frame" src="report.html" width="{width}" height="900"></iframe><pre id="out"></pre>
<script>
window.onload = () => {{
  const page = document.getElementById("frame").contentDocument;
  const images = [...page.images].map(i => [i.naturalWidth, i.getBoundingClientRect().width]);
  const said = {{ scroll: page.documentElement.scrollWidth, images }};
  document.getElementById("out").textContent = JSON.stringify(said);
}};
</script>
"""


@pytest.fixture
def folder(toy, tmp_path):
    variational(toy, draws=200).save_csv(tmp_path / "toy.csv")
    text = (tmp_path / "toy.csv").read_text().replace("theta.1,theta.2,y_rep", "y_rep.1,y_rep.2,z")
    (tmp_path / "toy.csv").write_text(text)
    files = read_all([tmp_path / "toy.csv"])
    trace = Trace(np.array([[100.0, -40.0], [200.0, -35.0], [300.0, -34.0]]), "converged")
    material = Material(files, files[0].columns, trace, files[0], np.array([0.5, 1.0]))
    program = Program("model { " + "x + " * 100 + "x; }", "plan " * 60)
    (tmp_path / "report.html").write_text(report(material, "a_rather_long_name_of_a_model_file", program))
    return tmp_path


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize("width", [1280, 390])
def test_the_report_in_a_browser(folder, width):
    (folder / "frame.html").write_text(FRAME.format(width=width))
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", f"file://{folder / 'frame.html'}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "CONSOLE" not in done.stderr
    said = json.loads(re.search(r'<pre id="out">(.*?)</pre>', done.stdout)[1])
    assert said["scroll"] <= width, "the page itself never scrolls sideways"
    assert len(said["images"]) == len(KINDS)
    for natural, shown in said["images"]:
        assert natural > 0 and 0.85 * natural <= shown <= width, "type of 8.5 points keeps its size"
