"""The notebooks of models/notebooks run from top to bottom and give the outputs that they show.

`python -m tests.models.test_notebooks` runs them and stores their outputs.
"""

import json
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.shown import agrees

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

NOT_COMPARED = "nbval-ignore-output"
"""The tag, as in nbval, of a cell with chains: rounding, which differs by machine, changes every draw."""


def read(path: Path):
    return json.loads(path.read_text("utf-8"))


def test_there_is_a_check_of_each():
    assert {path.stem for path in NOTEBOOKS} == set(CHECKS)


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_outputs_lie_in_the_repository(path):
    """Small, and without the times and versions of the run."""
    notebook = read(path)
    code = code_cells(notebook)
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    assert all(cell["metadata"] in ({}, {"tags": [NOT_COMPARED]}) for cell in code)
    assert notebook["metadata"]["language_info"] == {"name": "python"}
    assert path.stat().st_size < 300_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_programs_are_in_the_canonical_layout(path):
    from ppl.programs.format import format_program
    from ppl.source import SourceText

    cells = ["".join(cell["source"]) for cell in code_cells(read(path))]
    programs = [cell.partition("\n")[2] + "\n" for cell in cells if cell.startswith("%%ppl")]
    assert programs and [format_program(SourceText(program)) for program in programs] == programs


def executed(path, folder, *checks):
    """The notebook after a run in a kernel of its own, with this checkout; a cell that fails raises."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, 4)
    notebook.cells += map(nbformat.v4.new_code_cell, checks)
    client = nbclient.NotebookClient(
        notebook,
        timeout=900,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    return notebook


def printed(cell):
    """The text of each output, tables with a space at each tag."""
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text", "")})
        for kind in sorted({"text/plain", "text/html"} & data.keys()):
            yield re.sub(r"<[^>]*>", " ", "".join(data[kind]))


@pytest.mark.rotate
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_and_shows_the_outputs_of_a_run(path, tmp_path, monkeypatch):
    for needed in ("nbclient", "nbformat", "ipykernel", "matplotlib", "nutpie"):
        pytest.importorskip(needed)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    checks = "\n".join(line.strip() for line in CHECKS[path.stem].strip().splitlines())
    *code, _ = code_cells(executed(path, tmp_path, checks))
    kinds = {kind for cell in code for out in cell["outputs"] for kind in out.get("data", {})}
    assert {"text/html", "image/png"} <= kinds
    for cell, now_cell in zip(code_cells(read(path)), code, strict=True):
        if NOT_COMPARED in cell["metadata"].get("tags", ()):
            continue
        for before, now in zip(printed(cell), printed(now_cell), strict=True):
            assert agrees(before, now), f"{now}\npython -m tests.models.test_notebooks stores the new outputs"
    assert not list(tmp_path.iterdir()), "a notebook writes no file"


def main() -> None:
    """Run each notebook and store its outputs."""
    import nbformat

    for path in NOTEBOOKS:
        with TemporaryDirectory() as folder:
            notebook = executed(path, folder)
        notebook.metadata.language_info = {"name": "python"}
        nbformat.write(notebook, path)


if __name__ == "__main__":
    main()
