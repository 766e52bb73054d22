"""Texts of files that someone else wrote: nothing in them reaches the terminal raw, or opens another file."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import ppl
from ppl.cli.main import main
from ppl.kernel.draws.names import LABELS, labels_in
from ppl.printable import printable
from ppl.results.files.readers import read_file

PROGRAM = "data { int N; vector[N] y; } parameters { real a; } model { a ~ normal(0, 1); y ~ normal(a, 1); }"
RED, BACKWARDS = "\x1b[31m", "\u202e"
EVIL = f"{RED}{BACKWARDS}\x00\x9b"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("untrusted")
    (folder / "m.stan").write_text(PROGRAM)
    (folder / "d.json").write_text('{"N": 2, "y": [1, 2]}')
    model = ppl.compile_model(folder / "m.stan")
    fit = model.condition(folder / "d.json").laplace(draws=30, backend="autograd")
    fit.save_csv(folder / "o.csv", {"data.file": "d.json"})
    fit.save(folder / "fit.json", {"data.file": "d.json"})
    return folder


@pytest.fixture
def ppl_in(monkeypatch, capsys):
    """A command in a folder: its exit status, and what it prints on both streams."""

    def run(folder, *words):
        monkeypatch.chdir(folder)
        with pytest.raises(SystemExit) as end:
            main([*words])
        return end.value.code, "".join(capsys.readouterr())

    return run


def rewritten(folder, name, changes):
    text = (folder / "o.csv").read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (folder / name).write_text(text)


def test_one_function_replaces_what_is_not_printable():
    assert printable(f"é\n{EVIL}") == "é\n\\x1b[31m\\u202e\\x00\\x9b"


def test_comments_of_draws_and_programs_are_cleaned_where_they_are_printed(folder, ppl_in, tried):
    rewritten(folder, "evil.csv", {"# fit_judgement = ": f"# fit_judgement = {EVIL}"})
    (folder / "evil.stan").write_text(
        f'parameters {{ real x; }} model {{ x ~ f("{EVIL}"); y{EVIL} ~ g(1); }}'
    )
    (folder / "evil.json").write_text(
        f'{{"N": 2, "y": ["{RED}"], "{BACKWARDS}yy": 1}}'.replace("\x1b", "\\u001b")
    )
    runs = [("summary", "evil.csv"), ("check", "evil.stan"), ("variational", "m.stan", "evil.json")]
    for words in runs:
        _, printed = ppl_in(folder, *words)
        assert "\\x1b[31m" in printed or "\\u001b[31m" in printed
        assert all(sign.isprintable() or sign == "\n" for sign in printed), words
    tried("hostile texts", len(runs))


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("command", ["format", "fix"])
def test_a_program_is_cleaned_on_a_terminal_and_printed_as_it_is_elsewhere(
    tmp_path, ppl_in, monkeypatch, command, terminal
):
    """`patch` reads the diff of `ppl fix`."""
    hierarchy = "parameters { real m; real<lower=0> t; vector[9] x; } model { x ~ normal(m, t); }"
    (tmp_path / "evil.stan").write_text(f"// {RED}{BACKWARDS}\n{hierarchy}\n")
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    _, printed = ppl_in(tmp_path, command, "evil.stan")
    assert ("\\x1b[31m\\u202e" in printed) is terminal and (RED in printed) is not terminal


@pytest.mark.parametrize("suffix", ["csv", "npz", "parquet"])
def test_draws_with_two_columns_of_one_name_are_refused(suffix, tmp_path):
    path = tmp_path / f"o.{suffix}"
    match suffix:
        case "csv":
            path.write_text("a,b,a\n1,2,3\n")
        case "npz":
            np.savez(path, **{"a.1": np.zeros(3), "a": np.zeros((3, 1))})
        case "parquet":
            arrow = pytest.importorskip("pyarrow")
            from pyarrow.parquet import write_table

            write_table(arrow.table([[1.0], [2.0]], names=["a", "a"]), path)
    with pytest.raises(ppl.DataError, match=r"two columns named a"):
        read_file(path)


@pytest.mark.parametrize("named", ["{other}/d.json", "../other/d.json", "link.json"])
def test_files_that_a_foreign_file_names_are_read_in_folders_of_the_user_only(
    folder, named, tmp_path, ppl_in, tried
):
    mine, other = tmp_path / "mine", tmp_path / "other"
    shutil.copytree(folder, mine)
    other.mkdir()
    (other / "d.json").write_text("secret text")
    (mine / "link.json").symlink_to(other / "d.json")
    rewritten(mine, "o.csv", {"file = d.json": f"file = {named.format(other=other)}"})
    for words in (["predict", "m.stan", "o.csv"], ["plot", "o.csv", "--model", "m.stan", "-o", "p.svg"]):
        _, printed = ppl_in(mine, *words)
        assert "secret" not in printed
    status, _ = ppl_in(mine, "predict", "m.stan", "o.csv", "--fit-data", "d.json", "-q")
    assert status == 0
    tried("foreign paths", 2)


def test_a_saved_fit_names_files_in_its_folder_and_no_other(folder, tmp_path, ppl_in):
    status, printed = ppl_in(folder, "summary", "fit.json")
    assert status == 0, printed
    shutil.copy(folder / "fit.json", tmp_path)
    status, printed = ppl_in(Path(tmp_path), "summary", "fit.json")
    assert status == 1 and "no such file in its folder" in " ".join(printed.split())


def test_a_file_that_draws_name_is_not_overwritten(folder, ppl_in):
    status, printed = ppl_in(folder, "plot", "o.csv", "--kind", "predictive", "--report", "d.json")
    assert status == 1 and "d.json is read, and the output would overwrite it" in " ".join(printed.split())
    assert (folder / "d.json").read_text() == '{"N": 2, "y": [1, 2]}'


def test_levels_are_cleaned_in_the_names_of_tables():
    program = "data { int N, J; array[N] int<lower=1, upper=J> g; vector[N] y; } parameters { vector[J] u; } "
    program += "model { u ~ std_normal(); y ~ normal(u[g], 1); }"
    data = {"N": 3, "g": ["a", f"b\n{EVIL}", "c"], "y": [1, 2, 3]}
    fit = ppl.compile_model(program).condition(data).laplace(draws=30)
    for table in (fit.summary(), fit.loo(), fit.effects("g"), fit.contrast({"g": data["g"]})):
        assert printable(str(table)) == str(table)
    assert r"u[b\n\x1b[31m\u202e\x00\x9b]" in str(fit.summary())


@pytest.mark.parametrize(
    "text", ["", "[1", "null", '{"levels": 5}', '{"levels": {"g": [["a"]]}}', '{"x": {}}']
)
def test_labels_that_are_damaged_are_refused(text):
    with pytest.raises(ppl.DataError, match="fit_labels of a file is damaged"):
        labels_in({LABELS: text})
