"""`ppl cache` lists what is stored, and removes it."""

from click.testing import CliRunner

from ppl.cache import StoredParts
from ppl.cli.main import app


def run(*words):
    return CliRunner().invoke(app, ["cache", *words]).output


def test_programs_are_listed_and_removed(monkeypatch, tmp_path):
    monkeypatch.setenv("PPL_CACHE", str(tmp_path))
    for digest, name in (("1", "b.model"), ("2", "a\x1b.model")):
        for part in ("one", "two"):
            StoredParts(digest, name).write(part, "x" * 1000)
    *programs, total = run().splitlines()
    assert [line.split()[-1] for line in programs] == ["a\\x1b.model", "b.model"]
    assert "2 kB" in programs[0] and total == f"In all 4 kB in {tmp_path / 'compiled'}."
    assert run("--clear") == f"Removed 4 kB in {tmp_path / 'compiled'}.\n"
    assert run() == f"In all 0 kB in {tmp_path / 'compiled'}.\n"
    monkeypatch.setenv("PPL_CACHE", "")
    assert run().startswith("No program is stored")
