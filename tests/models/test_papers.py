"""The papers' experiments: the page is what the results say, and each runs at its small size."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[2]
PAPERS = ROOT / "models" / "papers"
DATA = Path(os.environ.get("PPL_SHARED", ROOT.parent / "shared")) / "data"


def run(*words):
    """Standard output of run.py, which must end well."""
    line = [sys.executable, str(PAPERS / "run.py"), *map(str, words)]
    found = subprocess.run(
        line, capture_output=True, text=True, env={**os.environ, "PPL_DATA": str(DATA)}, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def names():
    return [line.split()[0] for line in run("--list").splitlines()]


def test_the_page_is_what_the_results_say():
    run("--readme", "--check")


def test_every_result_is_a_full_run_and_its_picture_is_there():
    page = (PAPERS / "README.md").read_text("utf-8")
    for path in PAPERS.glob("results/*.json"):
        record = json.loads(path.read_text("utf-8"))
        assert record["size"] == "full"
        assert f"### {record['name']}\n" in page
        if record["picture"]:
            assert (PAPERS / "results" / record["picture"]).exists()


def test_every_experiment_runs_at_its_small_size_or_says_what_it_lacks(tmp_path):
    out = run("--all", "--quick", "--out", tmp_path)
    assert "nan" not in re.findall(r"\w+", out)
    for name in names():
        skipped = re.search(rf"^{name} is skipped: .* not found", out, re.MULTILINE)
        assert skipped or json.loads((tmp_path / f"{name}.json").read_text("utf-8"))["size"] == "quick"


def test_an_experiment_without_its_data_is_skipped_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(PAPERS))
    from frame.experiments import Experiment

    needy = Experiment("advi", "none", "None", "Figure 0", ("taxi/trips.csv",))
    assert needy.missing(tmp_path) == needy.missing(None) == ["taxi/trips.csv"]
    (tmp_path / "taxi").mkdir()
    (tmp_path / "taxi/trips.csv").touch()
    assert needy.missing(tmp_path) == []
