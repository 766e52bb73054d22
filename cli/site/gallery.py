"""The gallery: programs with what they are about, how they are run, and pictures of their fits."""

import os
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ppl.cli.site.markdown import fenced, heading, prose
from ppl.errors import PPLError

ABOUT = (
    "# Gallery\n\nPrograms that ship with the package, with small data: `ppl new mine --example NAME` writes "
    "one into a folder of its own."
)


class Exhibit(NamedTuple):
    """The pictures of a model, as `ppl plot --kind KIND --variables A,B`, and the options of its fit."""

    pictures: tuple[tuple[str, str], ...]
    options: tuple[str, ...] = ()


QUICK = ("--no-anneal",)
"""Of fits that take long, and whose draws are usable without."""

EXHIBITS: Mapping[str, Exhibit] = {
    "change_point": Exhibit((("marginals", "early,late,change"),)),
    "cormack_jolly_seber": Exhibit((("forest", "phi,p"),), ("--variables phi,p",)),
    "dawid_skene": Exhibit((("forest", "prevalence,says"),), ("--variables prevalence", *QUICK)),
    "dirichlet_exponential": Exhibit((("forest", "beta"),), ("--variables beta",)),
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
    "ppca_ard": "the components may be rotated and exchanged, and the fit says that its draws are poor",
    "stochastic_volatility": "the fit says that its draws are poor",
    "sup_ppca_ard": "the components may be rotated and exchanged, and the fit says that its draws are poor",
}
"""Why the others have no picture."""


class Drawn(NamedTuple):
    """What a fit printed and said of itself, and its pictures as SVG by their kinds."""

    table: str
    judgement: str
    pictures: Mapping[str, str]


# --- The page ------------------------------------------------------------------------------------


def gallery(fits: Mapping[str, Drawn] = {}) -> Iterator[str]:
    """Every program of the package: what its first comment says, its commands, its fit, its text."""
    from ppl.cli.commands.new import examples

    yield ABOUT
    for name in examples():
        program = files("ppl.models").joinpath(name, f"{name}.model").read_text("utf-8")
        about, rest = head_comment(program)
        yield heading(name)
        yield prose(about)
        yield fenced(rest, "stan")
        yield fenced("\n".join(commands(name)), "sh")
        if name in fits:
            yield from shown(name, fits[name])
        elif name in UNPICTURED:
            yield prose(f"No picture: {UNPICTURED[name]}.")


def shown(name: str, fit: Drawn) -> Iterator[str]:
    yield fenced(fit.table)
    yield prose(fit.judgement)
    for kind in fit.pictures:
        variables = dict(EXHIBITS[name].pictures)[kind]
        of = f" of {variables.replace(',', ', ')}" if variables else ""
        yield f"![{prose(f'{kind}{of}, {name}')}]({picture_file(name, kind)})"


def picture_file(name: str, kind: str) -> str:
    return f"pictures/{name}-{kind}.svg"


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


def drawn(name: str) -> Drawn:
    """What comes of the commands of a model, in a folder of their own.

    Raises:
        PPLError: one of them failed; with what it said.
    """
    with TemporaryDirectory() as folder:
        _, fitted, *_ = [said(command, folder) for command in commands(name)]
        table, _, rest = fitted.partition("\n\n")
        kinds = [kind for kind, _ in EXHIBITS[name].pictures]
        pictures = {kind: Path(folder, f"{kind}.svg").read_text("utf-8") for kind in kinds}
        return Drawn(table, rest.splitlines()[0], pictures)


def said(command: str, folder: str) -> str:
    """What a command of ppl prints, in a process of its own, which finds the packages of this one."""
    _, *words = shlex.split(command)
    line = [
        sys.executable,
        "-P",
        "-c",
        "import sys; from ppl.cli.main import main; main(sys.argv[1:])",
        *words,
    ]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True)
    if done.returncode:
        raise PPLError(f"`{command}` ended with status {done.returncode}:\n{done.stderr}")
    return done.stdout
