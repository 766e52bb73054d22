"""The gallery: programs with what they are about, how they are run, and pictures of their fits."""

import textwrap
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import NamedTuple

from ppl.cli.site.markdown import fenced, heading, prose

ABOUT = (
    "# Gallery\n\nPrograms that ship with the package, with small data: `ppl new mine --example NAME` writes "
    "one into a folder of its own."
)


class Exhibit(NamedTuple):
    """The pictures of a model, as `ppl plot --kind KIND --variables A,B`, and the options of its fit."""

    pictures: tuple[tuple[str, str], ...]
    options: tuple[str, ...] = ()


QUICK = ("--no-move",)
"""Of fits that take long, and whose draws are usable without."""

EXHIBITS: Mapping[str, Exhibit] = {
    "change_point": Exhibit((("marginals", "early,late,change"),)),
    "dawid_skene": Exhibit((("forest", "prevalence,says"),), ("--variables prevalence", *QUICK)),
    "discrete_mixture": Exhibit((("marginals", "theta,mu,sigma"),)),
    "eight_schools": Exhibit((("forest", "mu,tau,theta"), ("predictive", ""))),
    "eight_schools_centred": Exhibit((("pairs", "mu,tau,theta.1"),)),
    "election88": Exhibit((("forest", "beta_female,beta_black,a_age,a_edu,a_region"),)),
    "gamma_poisson": Exhibit((("forest", "beta"),), ("--variables beta",)),
    "gaussian_mixture": Exhibit((("marginals", "theta,mu"),), QUICK),
    "gp_poisson": Exhibit((("marginals", "mu,alpha,rho"), ("forest", "theta")), QUICK),
    "gp_regression": Exhibit((("marginals", "ell,sigma_f,sigma"),)),
    "hidden_markov": Exhibit((("forest", "move"), ("marginals", "mu,sigma")), QUICK),
    "influenza_sir": Exhibit((("marginals", "R0,days_ill"),)),
    "latent_class": Exhibit((("forest", "share,yes"),), QUICK),
    "linear_regression": Exhibit((("marginals", ""), ("predictive", ""))),
    "linear_regression_ard": Exhibit((("forest", "w"),)),
    "logistic_regression": Exhibit((("forest", ""),)),
    "weibull_poisson": Exhibit((("marginals", ""),)),
    "zero_inflated_poisson": Exhibit((("marginals", "theta,lambda"),)),
}
"""By the name of the model."""

UNPICTURED: Mapping[str, str] = {
    "cormack_jolly_seber": "the fit takes two minutes",
    "dirichlet_exponential": "the fit takes more than a minute",
    "ppca_ard": "the components may be rotated and exchanged, and the fit says that its draws are poor",
    "stochastic_volatility": "the fit says that its draws are poor",
    "sup_ppca_ard": "the components may be rotated and exchanged, and the fit says that its draws are poor",
}
"""Why the others have no picture."""


# --- The page ------------------------------------------------------------------------------------


def gallery() -> Iterator[str]:
    """Every program of the package: its first comment, its text, the commands that fit and draw it."""
    from ppl.cli.commands.new import examples

    yield ABOUT
    yield from ("\n\n".join(section(name)) for name in examples())


def section(name: str) -> Iterator[str]:
    program = files("ppl.models").joinpath(name, f"{name}.model").read_text("utf-8")
    about, rest = head_comment(program)
    yield heading(name)
    yield prose(about)
    yield fenced(rest, "stan")
    if name in UNPICTURED:
        yield fenced("\n".join(commands(name)), "text")
        yield prose(f"Not run here: {UNPICTURED[name]}.")
    else:
        yield from (fenced(command, "sh") for command in commands(name))


def head_comment(program: str) -> tuple[str, str]:
    """The lines of comment at its beginning as one paragraph, and the rest."""
    lines = program.splitlines()
    end = next((k for k, line in enumerate(lines) if not line.startswith("//")), len(lines))
    about = " ".join(line.removeprefix("//").strip() for line in lines[:end])
    return about, textwrap.dedent("\n".join(lines[end:])).strip("\n")


# --- Commands ------------------------------------------------------------------------------------


def commands(name: str) -> list[str]:
    """What writes a model into a folder, fits it, and draws each picture."""
    exhibit = EXHIBITS.get(name, Exhibit(()))
    fit = ["ppl variational", f"{name}/{name}.model", f"{name}/{name}.data.json", *exhibit.options]
    plots = [
        f"ppl plot output.csv --kind {kind}{variables and f' --variables {variables}'} -o {kind}.svg"
        for kind, variables in exhibit.pictures
    ]
    return [f"ppl new {name} --example {name}", " ".join(fit), *plots]
