"""`ppl docs` and `ppl show functions`."""

import math
import re
import textwrap

import pytest

from ppl.cli.commands.docs import algorithm_page
from ppl.cli.glossary import GLOSSARY
from ppl.cli.group import NAMES
from ppl.cli.main import app
from ppl.cli.site.sections import WORDS, section, sections
from ppl.cli.site.site import written
from ppl.methods.diagnose.level import Level
from ppl.methods.run.phases import OF_CHAINS, OF_FIT, PHASES
from ppl.methods.run.settings import ALGORITHMS
from ppl.stdlib.constraints.table import CONSTRAINTS
from ppl.stdlib.reference import reference


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("normal", "sigma    is positive and finite"),
        ("logit", "T logit(T)"),
        ("simplex", "non-negative numbers that sums to one"),
        ("log-prob", "ppl log-prob eight_schools/eight_schools"),
        ("PPL104", "There is no such operator"),
        ("ppl104", "There is no such operator"),
        ("k-hat", "JMLR 25:72"),
        ("elbo", "Evidence lower bound"),
        ("machines", "--coordinator node1:9000"),
        ("target", "target += e;"),
        ("include", "#include file"),
        ("data", "R's `dump`"),
        ("brms", "# From brms"),
        ("odds", "odds ratio of men"),
        ("factor", "# Factors"),
        ("formula", "# Formulas"),
        ("random effects", "# Hierarchical models"),
        ("mixed model", "# Hierarchical models"),
        ("convergence", "is about the ELBO"),
        ("divergent", "trajectories that failed"),
        ("pandas", "DataFrame"),
        ("csv", "Columns are `theta.1`"),
        ("which algorithm", "Questions: Which algorithm?"),
        ("meanfield", "--algorithm meanfield"),
        ("laplace", "--algorithm laplace"),
        ("cmdstanpy", "CmdStanModel(stan_file="),
        ("clinics", "\n  logistic-regression  Groups such as clinics"),
    ],
)
def test_a_page_for_every_kind_of_word(run, word, says):
    status, out, _ = run("docs", *word.split())
    assert status == 0 and says in out


def test_the_page_of_a_fit_explains_its_stages(run):
    _, out, _ = run("docs", "variational")
    assert max(map(len, out.splitlines())) <= 80
    for name in OF_FIT:
        assert f"\n  {name}: " in out
    _, out, _ = run("docs", "sample")
    assert [name for name in PHASES if f"\n  {name}: " in out] == list(OF_CHAINS)


def test_the_glossary_defines_every_term(run):
    status, out, _ = run("docs", "glossary")
    assert status == 0 and max(map(len, out.splitlines())) <= 80
    assert list(GLOSSARY) == sorted(GLOSSARY, key=str.lower)
    for term, meaning in GLOSSARY.items():
        assert f"{term}\n{textwrap.fill(meaning, 80, initial_indent='  ', subsequent_indent='  ')}" in out
        assert meaning.endswith(".") and run("docs", term)[1].startswith(f"{term}\n")
    assert all(f"{level}: " in GLOSSARY["verdict"] for level in Level)


def test_without_a_word_everything_is_listed(run):
    status, out, _ = run("docs")
    assert status == 0 and max(map(len, out.splitlines())) <= 80
    assert out.startswith("Guides:\n  new-to-bayes, tutorial, ")
    listed = out.replace("\n  ", " ")
    for name in ("variational", "cholesky_factor_corr", "wishart", "append_row", "normal_lccdf", "PPL104"):
        assert f" {name}" in listed


def test_every_command_has_a_page(run):
    for name in NAMES:
        status, out, _ = run("docs", name.replace("_", "-"))
        assert status == 0 and "First example:" in out


def test_a_word_that_is_none_is_refused_with_the_nearest(run):
    status, _, err = run("docs", "nromal")
    assert status == 2 and "did you mean normal?" in err


def test_show_functions(run):
    status, out, _ = run("show", "functions")
    assert status == 0 and len(out.splitlines()) > 500
    assert "R normal_rng(reals, reals)" in run("show", "functions", "normal_rng")[1]
    status, _, err = run("show", "functions", "norma_rng")
    assert status == 2 and "did you mean normal_rng?" in err


def test_show_refuses_what_is_no_program(run):
    status, _, err = run("show", "no.model")
    assert status == 2 and "'no.model' does not exist" in err


@pytest.mark.parametrize("kind", CONSTRAINTS, ids=lambda kind: kind.keyword)
def test_a_constraint_is_described_as_it_is_computed(kind):
    described, page = kind.page, reference()[kind.keyword]
    letters = re.findall(r"\b[KMN]\b", described.declared.partition("]")[0])
    sizes = dict(zip(letters, described.shape, strict=False))
    free = math.prod(kind.free_shape(described.shape))
    assert eval(described.size, sizes) == free  # formulas of this project's own table
    assert kind.keyword in page and described.log_jacobian in page
    assert max(map(len, page.splitlines()[1:])) <= 90


def test_every_algorithm_and_every_heading_of_the_site_has_its_page(run):
    headings = [
        line.removeprefix("## ").rstrip("?")
        for page in written().values()
        for line in page.text.splitlines()
        if line.startswith("## ")
    ]
    assert len(headings) > 20
    for word in (*headings, *WORDS):
        assert section(word).strip()
    assert set(headings) == set(sections())
    for name in ALGORITHMS:
        page = algorithm_page(name)
        assert len(page) > 80 and max(map(len, page.splitlines())) <= 80


def test_the_commands_of_the_guide_to_many_machines_have_options_that_there_are():
    variational = app.commands["variational"]
    options = {name for option in variational.params for name in option.opts}
    of_slurm = {"--nodes", "--ntasks-per-node", "--cpus-per-task", "--time"}
    named = {*re.findall(r"(?<![\w-])--[a-z][\w-]*", written()["machines"].text)}
    assert {"--coordinator", "--processes", "--process", "--hosts", "--sharded"} <= named
    assert named - options == of_slurm


def test_the_containers_of_the_guide_are_yaml():
    yaml = pytest.importorskip("yaml")
    _, _, text = written()["machines"].text.partition('title="compose.yaml"\n')
    services = yaml.safe_load(text.partition("```")[0])["services"]
    assert [s["environment"]["PROCESS"] for s in services.values()] == ["0", "1"]
    assert all("--coordinator first:9000 --processes 2" in s["command"] for s in services.values())


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("--run",), 2, "--site DIR"),
        (("normal", "--site", "new"), 2, "omit WORD"),
        (("--site", "mkdocs.yml"), 2, "is a file"),
        (("--site", "."), 1, "would be overwritten"),
    ],
)
def test_a_site_is_written_where_nothing_else_is(run, tmp_path, words, status, says):
    (tmp_path / "mkdocs.yml").write_text("site_name: mine\n")
    found, _, err = run("docs", *words)
    assert found == status and says in err
    assert [path.name for path in tmp_path.iterdir()] == ["mkdocs.yml"]
    assert (tmp_path / "mkdocs.yml").read_text() == "site_name: mine\n"


@pytest.mark.parametrize("folder", ["link", "link/below"])
def test_a_site_is_not_written_onto_a_link_without_a_target(run, tmp_path, folder):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    status, _, err = run("docs", "--site", folder)
    assert status == 1 and "link is a file, or a link whose target does not exist" in " ".join(err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["link"]
