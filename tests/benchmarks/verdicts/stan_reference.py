"""Make NAME.reference.json of a program of `latent` or `held-out`, from files of chains of Stan's NUTS.

    python -m tests.benchmarks.verdicts.stan_reference radon 1.csv 2.csv 3.csv 4.csv \\
        --made "Stan 2.35 NUTS, 4 chains of 1000 draws after 1000" --cpu compile=13.7 sample=210

What varies of the program's columns, raw variables left out, has mean, sd, 5% and 95% quantile, and as
`ess` the smallest effective sample size of bulk, tail and sd (Vehtari, Gelman, Simpson, Carpenter and
Buerkner, 2021).
"""

import argparse
import json
import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import arviz
import numpy as np
import pandas as pd

import ppl
from tests.benchmarks.errors import CONSTANT, Floats
from tests.benchmarks.verdicts import held_out, latent

RAW = frozenset({"z", "lambda"})
"""First words of variables that a reader asks for by what they are transformed into, as in `z_alpha`."""
NO_VARIANCE = frozenset({"c2"})
"""Quantities with quantiles alone: of an inverse gamma of shape 2, whose tail the data leave as it is."""
ESS: dict[str, dict[str, Any]] = {"bulk": {}, "tail": {"prob": (0.05, 0.95)}, "sd": {}}
"""Methods of arviz.ess with their options; in ArviZ 1 tail has no default for `prob`."""
DIGITS = 5
"""Digits of an sd; means and quantiles have as many decimals."""


def reference(files: Sequence[Path], quantities: Collection[str]) -> dict[str, Any]:
    """Diagnostics over what is asked for and lp__, and the quantities of each; a file is a chain."""
    read = {*quantities, "lp__", "divergent__", "n_leapfrog__"}
    chains = [pd.read_csv(file, comment="#", usecols=read.__contains__) for file in files]
    names = [name for name in chains[0] if name == "lp__" or name in quantities]
    draws = np.stack([chain[names].to_numpy() for chain in chains])
    names, draws = zip(
        *[(n, d) for n, d in zip(names, np.moveaxis(draws, 2, 0), strict=True) if varies(d)], strict=True
    )
    found = {
        name: quantity(drawn, moments=name not in NO_VARIANCE)
        for name, drawn in zip(names, draws, strict=True)
    }
    return {
        "rhat_max": max(float(arviz.rhat(drawn)) for drawn in draws),
        "ess_min": min(known["ess"] for known in found.values()),
        "divergences": int(sum(chain["divergent__"].sum() for chain in chains)),
        "leapfrog_mean": significant(np.mean([chain["n_leapfrog__"].mean() for chain in chains])),
        "params": {name: known for name, known in found.items() if name != "lp__"},
    }


def quantity_names(posterior: ppl.Posterior) -> set[str]:
    """The columns of a program but the raw ones; the files may be of another form of it."""
    names = posterior.param_names(include_tp=True, include_gq=True)
    return {name for name in names if name.partition(".")[0].partition("_")[0] not in RAW}


def varies(draws: Floats) -> bool:
    return float(draws.std()) > CONSTANT


def quantity(draws: Floats, moments: bool = True) -> dict[str, float]:
    """Of draws (chains, draws)."""
    found = {"mean": draws.mean(), "sd": draws.std(ddof=1)} if moments else {}
    found |= {"q05": np.quantile(draws, 0.05), "q95": np.quantile(draws, 0.95)}
    methods = {method: options for method, options in ESS.items() if moments or method != "sd"}
    ess = min(float(arviz.ess(draws, method=method, **options)) for method, options in methods.items())
    decimals = DIGITS - 1 - math.floor(math.log10(draws.std()))
    return {**{key: round(float(value), decimals) for key, value in found.items()}, "ess": round(ess)}


def significant(value: Any) -> float:
    return float(f"{value:.{DIGITS}g}")


def text(content: dict[str, Any]) -> str:
    """JSON with a line for each entry and each parameter."""
    head = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items() if key != "params"]
    params = [f"{json.dumps(name)}: {json.dumps(known)}" for name, known in content["params"].items()]
    return "{\n" + ",\n".join([*head, '"params": {\n' + ",\n".join(params) + "\n}"]) + "\n}\n"


def seconds(word: str) -> tuple[str, float]:
    """`compile=13.7`."""
    name, _, value = word.partition("=")
    return name, float(value)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument(
        "--made", required=True, help="Stan's version, chains, draws, settings, date, machine"
    )
    parser.add_argument(
        "--cpu", nargs="+", type=seconds, required=True, help="compile=SECONDS sample=SECONDS"
    )
    args = parser.parse_args()
    programs = next(one for one in (latent.PROGRAMS, held_out.PROGRAMS) if args.name in one.group().names)
    posterior = ppl.compile_model(programs.program(args.name)).condition(programs.data(args.name))
    content = {
        "source": args.made,
        "cpu_seconds": dict(args.cpu),
        **reference(args.files, quantity_names(posterior)),
    }
    programs.reference(args.name).write_text(text(content))
    print({key: value for key, value in content.items() if key != "params"})


if __name__ == "__main__":
    main()
