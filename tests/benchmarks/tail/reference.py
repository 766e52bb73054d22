"""Make the reference of a program by a long run of stanli's NUTS, its moments and quantiles as JSON.

    nice python -m tests.benchmarks.tail.reference irt_3pl --draws 5000 --delta 0.9

Without --force nothing is written unless every R-hat is below 1.005 and every effective sample size above
4,000.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import arviz
import numpy as np

import ppl
from tests.benchmarks.errors import Floats
from tests.benchmarks.tail.measure import sampled
from tests.benchmarks.tail.problems import PROBLEMS, Problem, write
from tests.benchmarks.verdicts.stan_reference import quantity, significant, text, varies

MOST_RHAT = 1.005
LEAST_ESS = 4000
MOST_SECONDS = 100_000


def reference(problem: Problem, names: Sequence[str], draws: Floats) -> dict[str, Any]:
    """Diagnostics and quantities of draws (chains, draws, columns)."""
    columns = {name: column for name, column in oriented(problem, names, draws) if varies(column)}
    params = {name: known(problem, name, column) for name, column in columns.items()}
    return {
        "rhat_max": significant(max(float(arviz.rhat(column)) for column in columns.values())),
        "ess_min": min(known["ess"] for known in params.values()),
        "params": params,
    }


def oriented(problem: Problem, names: Sequence[str], draws: Floats) -> Iterator[tuple[str, Floats]]:
    """The columns, those that are mirrored with the signs that bring them nearest to the first draw."""
    turned = [k for k, name in enumerate(names) if begins(name, problem.mirrored)]
    sign = np.where(draws[:, :, turned] @ draws[0, 0, turned] < 0, -1, 1)
    for k, name in enumerate(names):
        yield name, draws[:, :, k] * (sign if k in turned else 1)


def known(problem: Problem, name: str, column: Floats) -> dict[str, float]:
    """The quantities of a column, of its draws and their mirror images if it is mirrored."""
    found = quantity(column, moments=not begins(name, problem.no_moments))
    if not begins(name, problem.mirrored):
        return found
    return quantity(np.concatenate([column, -column])) | {"ess": found["ess"]}


def begins(name: str, variables: Sequence[str]) -> bool:
    return name.partition(".")[0] in variables


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=PROBLEMS, metavar="NAME")
    parser.add_argument("--program", type=Path, help="another form of it, with the same names")
    parser.add_argument("--draws", type=int, default=5000)
    parser.add_argument("--delta", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=73)
    parser.add_argument("--force", action="store_true")
    args = parser.parse_args()
    problem = PROBLEMS[args.name]
    options = ["--draws", args.draws, "--delta", args.delta, "--seed", args.seed]
    with tempfile.TemporaryDirectory() as place:
        program, data = write(args.name, Path(place))
        wanted = ppl.compile_model(program).condition(data).param_names(include_tp=True)
        cpu, run = sampled(args.program or program, data, Path(place) / "run.npz", options, MOST_SECONDS)
    if isinstance(run, str):
        raise SystemExit(f"NUTS: {run}.")
    at = {name: k for k, name in enumerate(run["names"].tolist())}
    content = {
        "source": f"stanli {version('stanli')} NUTS, diagonal metric, 4 chains of {args.draws} draws after "
        f"1000, delta {args.delta:g}, seed {args.seed}; {date.today()}",
        "cpu_seconds": significant(cpu),
        "divergences": int(run["divergent"].sum()),
        "leapfrog_mean": significant(run["leapfrog"].mean()),
        **reference(problem, wanted, run["draws"][:, :, [at[name] for name in wanted]]),
    }
    print(args.name, {key: value for key, value in content.items() if key != "params"})
    if not args.force and (content["rhat_max"] >= MOST_RHAT or content["ess_min"] <= LEAST_ESS):
        raise SystemExit("Not written: not mixed, or too short.")
    problem.reference.parent.mkdir(exist_ok=True)
    problem.reference.write_text(text(content))


if __name__ == "__main__":
    main()
