"""The notebooks of models/notebooks run from top to bottom, and are kept without their outputs."""

import json
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "models" / "notebooks").glob("*.ipynb"))
CHECKS = {
    "hierarchical_regression": """
        assert fit.verdict.level in ("good", "usable")
        assert error(b.mean(axis=0)) < 0.8 * error(alone)
        assert (p_values > 0.01).all() and (p_values < 0.99).all()
        assert comparison.models[0].name == "twelve lines"
    """,
    "mixture": """
        assert fit.verdict.level == "good" and right > 0.98
        assert abs(fit.summary()["mu.1"].mean - 2.0) < 0.1 and abs(fit.summary()["mu.2"].mean - 4.3) < 0.1
        assert comparison.models[0].name == "two kinds"
    """,
    "time_series": """
        assert fit.verdict.level == "good" and chains.level in ("good", "usable")
        assert inside.mean() > 0.7 and abs(gap) < 0.2
        assert abs(fit.summary()["beta"].mean - 2) < 0.5
    """,
}
"""What is true at the end of each: what its text says."""


def read(path: Path):
    return json.loads(path.read_text("utf-8"))


def test_there_is_a_check_of_each():
    assert {path.stem for path in NOTEBOOKS} == set(CHECKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_lies_in_the_repository_without_outputs(path):
    code = [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]
    assert len(code) > 5
    assert not any(cell["outputs"] or cell["execution_count"] or cell["metadata"] for cell in code)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_programs_are_in_the_canonical_layout(path):
    from ppl.frontend.format import format_program
    from ppl.source import SourceText

    cells = ["".join(cell["source"]) for cell in read(path)["cells"] if cell["cell_type"] == "code"]
    programs = [cell.partition("\n")[2] + "\n" for cell in cells if cell.startswith("%%ppl")]
    assert programs and [format_program(SourceText(program)) for program in programs] == programs


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path, tmp_path, monkeypatch):
    """In a kernel of its own, by this checkout; a cell that fails ends it."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    for needed in ("ipykernel", "matplotlib", "nutpie"):
        pytest.importorskip(needed)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(path, 4)
    checks = "\n".join(line.strip() for line in CHECKS[path.stem].strip().splitlines())
    notebook.cells.append(nbformat.v4.new_code_cell(checks))
    client = nbclient.NotebookClient(
        notebook, timeout=900, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    kinds = {
        kind for cell in notebook.cells for out in cell.get("outputs", []) for kind in out.get("data", {})
    }
    assert {"text/html", "image/png"} <= kinds
    assert not list(tmp_path.iterdir()), "a notebook writes no file"
