import tracemalloc

import numpy as np
import pytest

from ppl.errors import DataError
from ppl.results.files.read_csv import read_draws
from ppl.results.files.readers import read_all
from ppl.results.fits.fit import variational

SAMPLE = """\
# method = sample (Default)
lp__,accept_stat__,mu,L.1.1
# Adaptation terminated
-1.5,0.9,0.5,1
-2,1,nan,inf
#
#  Elapsed Time: 0.1 seconds (Warm-up)
"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="draws.csv"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_what_a_fit_wrote_is_read_back(toy, tmp_path):
    fit = variational(toy, draws=50, resample=False, move=False)
    fit.save_csv(tmp_path / "toy.csv")
    file = read_draws(tmp_path / "toy.csv")
    assert file.columns == fit.column_names and file.method == "variational"
    assert np.array_equal(file.draws, fit.draws()) and np.array_equal(file.mean, fit.at_mean())
    assert np.array_equal(file.log_ratios, fit.result.log_p - fit.result.log_g)
    assert file.config["method.variational.output_samples"] == "50"
    assert file.config["output.file"].endswith("toy.csv")


def test_a_sampler_s_file_has_no_mean_row_and_no_ratios(write):
    file = read_draws(write(SAMPLE))
    assert file.columns == ("mu", "L.1.1") and file.mean is None and file.log_ratios is None
    assert np.isnan(file.draws[1, 0]) and file.draws[1, 1] == np.inf
    assert file.internal["accept_stat__"].tolist() == [0.9, 1.0]


@pytest.mark.parametrize(
    ("target", "approximation"), [("log_p__", "log_q__"), ("lp__", "lp_approx__"), ("log_p__", "log_g__")]
)
def test_ratios_of_every_method_that_has_them(write, target, approximation):
    file = read_draws(write(f"{target},{approximation},mu\n-1,-3,0\n-1,-2,0\n"))
    assert file.log_ratios.tolist() == [2.0, 1.0]


def test_ratios_that_never_vary_tell_nothing(write):
    assert read_draws(write("log_p__,log_g__,mu\n-1,-3,0\n-2,-4,1\n")).log_ratios is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no header"),
        ("1,2\n3,4\n", "no header"),
        ('{"y": [1]}', "holds JSON"),
        ("mu,tau\n1,2\n3\n", "row 2 has 1 cells, but the header 2"),
        ("mu\nhello\n", "row 1 has 'hello' under mu"),
    ],
)
def test_what_is_no_file_of_draws_is_refused(write, text, says):
    with pytest.raises(DataError, match=says):
        read_draws(write(text))


def test_only_the_columns_asked_for_are_read(write):
    text = "# method = variational\nlp__,mu,L.1,L.2\n0,1,2,3\n0,4,?,5\n\n0,6,7,8\n# \n"
    file = read_draws(write(text), lambda head: {"L.2", *head.columns[:1]} - {*head.internal})
    assert (file.columns, file.header) == (("mu", "L.2"), ("mu", "L.1", "L.2"))
    assert file.draws.tolist() == [[4, 5], [6, 8]] and file.mean.tolist() == [1, 3]
    assert read_draws(write(text), lambda head: ()).draws.shape == (2, 0)
    with pytest.raises(DataError, match=r"row 2 has '\?' under L.1; expected a number"):
        read_draws(write(text))


def test_memory_is_that_of_the_numbers_read(write):
    row = ",".join(["-0.12345678901234567"] * 2000)
    path = write(",".join(f"x.{k}" for k in range(1, 2001)) + "\n" + f"{row}\n" * 300)  # 12.6 MB
    tracemalloc.start()
    assert (read_draws(path, lambda head: ["x.7"]).draws == -0.12345678901234567).all()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6e6


def test_files_of_different_programs_are_refused(write):
    one, other = write("mu\n1\n", "one.csv"), write("mu,tau\n1,2\n", "other.csv")
    for wanted in ([], [lambda head: ["mu"]]):
        with pytest.raises(DataError, match="they differ in tau"):
            read_all([one, other], *wanted)


def test_the_parameters_are_told_from_what_was_made_of_them(tmp_path):
    head = "# method = laplace\n{}lp__,mu,t.1:1,t.2:1,mu_2,y_rep.1\n0,1,2,3,4,5\n"
    (tmp_path / "ours.csv").write_text(head.format("# parameters = mu,t\n"))
    (tmp_path / "theirs.csv").write_text(head.format(""))
    assert read_draws(tmp_path / "ours.csv").parameters == ("mu", "t.1:1", "t.2:1")
    assert read_draws(tmp_path / "theirs.csv").parameters == ("mu", "t.1:1", "t.2:1", "mu_2", "y_rep.1")
