"""No command overwrites a file that it reads, nor one of its outputs by another."""

import os

import pytest

from ppl.cli.main import app
from ppl.cmdstan import main as executable
from ppl.cmdstan.tools import stansummary
from ppl.errors import ArgumentError

TEXT = "what is in the file"
FIT = "variational toy.model data.csv"
REFUSED = {
    "data": f"{FIT} -o data.csv",
    "the usual output as data": "variational toy.model output.csv",
    "another name of the data": f"{FIT} -o link.csv",
    "a hard link to the data": f"{FIT} -o hard.csv",
    "another way to the data": f"{FIT} -o sub/../data.csv",
    "the program": f"{FIT} --save-fit toy.model",
    "more data": "variational toy.model -o data.csv --data more.json --data data.csv",
    "data of one variable": f"{FIT} --data x=rows.npy --save-fit rows.npy",
    "the start": f"{FIT} --init init.json --save-fit init.json",
    "a saved fit on the data": f"{FIT} --save-fit data.csv",
    "words": "variational toy.model data file=data.csv output file=data.csv",
    "a saved fit on the draws": f"{FIT} -o new.csv --save-fit new.csv",
    "times on diagnostics": f"{FIT} --diagnostic-file a.csv --profile-file ./a.csv",
    "the configuration on a fit": f"{FIT} --save-cmdstan-config --save-fit output_config.json",
    "the metric on the start": f"{FIT} --save-metric -o init.csv --init init_metric.json",
    "initial values on the start": f"{FIT} --save-metric -o init.csv --init init_inits_2.json",
    "the checkpoint on a fit": f"{FIT} --save-fit output.csv.checkpoint",
    "one chain": "sample toy.model output.csv --num-chains 1",
    "a chain": "sample toy.model output_2.csv --num-chains 3",
    "all chains": "sample toy.model draws.nc -o draws.nc",
    "simulations": "sbc toy.model data.csv -o data.csv",
    "their picture": "sbc toy.model data.csv --picture sbc.csv",
    "a simulator": "predict toy.model --prior --simulator data.csv -o data.csv",
    "predictions": "predict toy.model data.csv --prior -o data.csv",
    "quantities": "generate toy.model more.json output.csv -o output.csv",
    "more draws": "draws toy.model more.json data.csv -o data.csv",
    "an update": "update toy.model init.json more.json --fit-data data.csv -o data.csv",
    "the fit of an update": "update toy.model init.json more.json --fit-data data.csv --save-fit init.json",
    "densities": "log-prob toy.model more.json data.csv -o data.csv",
    "a summary": "summary data.csv --csv data.csv",
    "cross-validation": "loo output.csv data.csv --csv data.csv",
    "a report": "plot data.csv --report data.csv",
    "a report on the reference": "plot data.csv --reference output.csv --report output.csv",
    "an executable": "build toy.model -o toy.model",
    "a program without a suffix": "build toy",
}  # fmt: skip
INPUTS = (
    *("toy", "toy.model", "data.csv", "output.csv", "output_2.csv", "draws.nc", "more.json", "rows.npy"),
    *("init.json", "init_metric.json", "init_inits_2.json"),
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in INPUTS:
        (tmp_path / name).write_text(TEXT)
    os.symlink("data.csv", tmp_path / "link.csv")
    os.link(tmp_path / "data.csv", tmp_path / "hard.csv")
    yield tmp_path
    assert all((tmp_path / name).read_text() == TEXT for name in INPUTS)


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused_before_anything_is_read(what, run, folder):
    before = sorted(os.listdir(folder))
    status, out, err = run(*REFUSED[what].split())
    assert status == 1 and ("would overwrite it" in err or "two outputs" in err), err
    assert out == "" and sorted(os.listdir(folder)) == before


def test_every_command_that_writes_is_tried():
    commands = app.commands
    writes = {name for name, command in commands.items() if any(p.metavar == "FILE" and p.name in
              ("output", "csv", "picture", "report") for p in command.params)}  # fmt: skip
    assert writes == {words.split()[0] for words in REFUSED.values()}


@pytest.mark.parametrize(
    "words",
    [
        f"{FIT} -o /dev/null --save-fit /dev/null",
        f"{FIT} -o new.csv --diagnostic-file log.csv --save-fit log",
        "sample toy.model output.csv --num-chains 3",
        "sample toy.model output_2.csv --num-chains 1",
    ],
)
def test_other_files_are_not(words, run, folder):
    _, _, err = run(*words.split())
    assert "overwrite" not in err and "two outputs" not in err


@pytest.mark.parametrize(
    "words",
    [
        "sample data file=output.csv",
        "sample num_chains=3 data file=output_2.csv",
        "variational data file=data.csv output file=link.csv",
        "variational output file=a.csv diagnostic_file=a.csv",
        "variational output file=a.csv profile_file=a.csv",
        "optimize init=data.csv output file=data.csv",
        "generate_quantities fitted_params=output.csv",
        "generate_quantities num_chains=2 fitted_params=output.csv",
        "laplace mode=data.csv output file=data.csv",
        "log_prob constrained_params=data.csv output file=data.csv",
        "sample adapt save_metric=1 num_chains=1 output file=init.csv data file=init_metric.json",
        "variational output file=toy.model",
    ],
)
def test_an_executable_refuses_it_too(words, folder, capsys):
    assert executable.main("toy", folder / "toy.model", ["./toy", *words.split()]) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("Exception: ") and printed.out == ""
    assert "would overwrite it" in printed.err or "two outputs" in printed.err


def test_so_does_the_summary_of_clients(folder):
    with pytest.raises(ArgumentError, match="would overwrite"):
        stansummary.main(["data.csv", "--csv_filename", "data.csv"])
