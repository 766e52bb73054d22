"""The public members of what `ppl` exports: they are there, documented, listed by `dir`, and on the site."""

import inspect
import pickle
import re
from functools import cached_property
from pathlib import Path

import pytest

import ppl
from ppl.api import ELSEWHERE, MEMBERS, members
from ppl.cli.site.python_api import of_class
from ppl.results.report.loo import Loo
from ppl.results.report.summary import ChainSummary, Summary

ROOT = Path(__file__).parents[1]
CMDSTANPY = ("draws_pd", "draws_xr", "stan_variable", "stan_variables", "variational_params_dict", "metadata")
"""Names that clients of CmdStanPy use."""


CLASSES = {"Summary": Summary, "ChainSummary": ChainSummary, "Loo": Loo}
"""Those that answer names of other tools, and are no members of the list."""


def fields_of(kind):
    return {*dir(CLASSES[kind]), *inspect.get_annotations(CLASSES[kind])}


def names():
    return [(kind, name) for kind, topics in MEMBERS.items() for topic in topics.values() for name in topic]


def test_every_member_is_there_and_documented():
    for kind, name in names():
        found = inspect.getattr_static(getattr(ppl, kind), name, None)
        if isinstance(found, property | cached_property) or inspect.isfunction(found):
            assert inspect.getdoc(found), f"{kind}.{name}"
        else:
            assert name in inspect.get_annotations(getattr(ppl, kind)), f"{kind}.{name}"


def test_no_member_stands_twice():
    for kind in MEMBERS:
        assert len(members(kind)) == len(set(members(kind))), kind


def test_dir_lists_the_public_members():
    model = ppl.compile_model("parameters { real x; } model { x ~ std_normal(); }")
    posterior = model.condition({})
    fit = posterior.laplace(draws=10, seed=1)
    for kind, thing in {"Model": model, "Posterior": posterior, "Fit": fit}.items():
        assert dir(thing) == members(kind)
        assert all(hasattr(thing, name) for name in members(kind) if name not in NEED_MORE), kind
    assert set(CMDSTANPY) <= set(dir(fit))


def test_names_of_other_tools_and_of_later_steps_are_told_the_way():
    model = ppl.compile_model("parameters { real x; } model { x ~ std_normal(); }")
    posterior = model.condition({})
    fit = posterior.laplace(draws=10, seed=1)
    for thing, name, way in [
        (ppl, "CmdStanModel", "write ppl.compile_model("),
        (model, "sample", "write model.condition(data).sample"),
        (model, "summary", "write model.condition(data).variational().summary"),
        (posterior, "draws", "write posterior.variational().draws"),
        (posterior, "log_prob", "write posterior.log_density(posterior.param_unconstrain(values))"),
        (model, "generate_quantities", "write model.condition(data).generate_quantities"),
        (fit.summary(), "loc", "write summary.to_pandas().loc"),
        (fit, "save_csvfiles", 'write fit.save_csv("output.csv")'),
        (fit, "x", 'write fit.stan_variable("x")'),
        (fit, "sumary", "did you mean fit.summary?"),
    ]:
        with pytest.raises(AttributeError, match=re.escape(way)):
            getattr(thing, name)
    with pytest.raises(ppl.ArgumentError, match=re.escape("made by ppl.compile_model('a.stan'")):
        ppl.Model("a.stan")
    assert pickle.loads(pickle.dumps(fit)).draws().shape == (10, 1)


def test_what_other_names_are_written_as_is_there():
    for kind, names in ELSEWHERE.items():
        own = {
            "ppl": set(dir(ppl)),
            "fit": set(members("Fit")),
            "{thing}": set(fields_of(kind) if kind in CLASSES else members(kind.replace("ppl", "Fit"))),
        }
        for way in names.values():
            assert all(
                name in own[thing] for thing, name in re.findall(r"(?<!\")(ppl|fit|\{thing\})\.(\w+)", way)
            ), way


def test_arguments_of_other_tools_are_told_the_ones_here():
    for call, way in {
        lambda: ppl.compile_model(
            stan_file="a.stan"
        ): "no setting `stan_file`; the program, or its path, comes first.",
        lambda: ppl.compile_model("a.stan", cpp_options={}): "there is no C++ compiler to set.",
        lambda: ppl.compile_model("a.stan", librari=None): "did you mean library?",
    }.items():
        with pytest.raises(TypeError, match=re.escape(way)):
            call()


NEED_MORE = {"log_evidence", "variational_params_pd", "variational_sample_pd", "warm_start", "discrete"}
"""What the fit of such a program does not have, or an extra package alone."""


@pytest.mark.parametrize("page", ["README.md", *(f"cli/site/{p.name}" for p in ROOT.glob("cli/site/*.md"))])
def test_documentation_uses_public_members(page):
    known = {kind.lower(): set(members(kind)) for kind in MEMBERS}
    used = re.findall(r"\b(fit|posterior|chains)\.([a-z_]+)\(", (ROOT / page).read_text("utf-8"))
    assert [f"{kind}.{name}" for kind, name in used if name not in known[kind]] == []


def test_the_pages_have_every_member():
    page = "\n".join(part for kind in MEMBERS for part in of_class(kind)).replace("\\", "")
    headings = set(re.findall(r"^#+ (\S+)$", page, re.MULTILINE))
    assert {f"{kind.lower()}.{name}" for kind, name in names()} <= headings
    assert "**Raises**" in page and "```pycon\n>>> posterior.param_names" in page
