"""Whether `optimize` ends at a maximum: what SciPy's L-BFGS-B still gains from there.

    python -m tests.benchmarks.optimize [--method lbfgs|bfgs|newton] [--seeds 2] [--program NAME ...]

Every program of tests/conformance/programs and of models/, from as many random starts, by Stan's rules. An
end that says that it converged, and from which SciPy gains 1e-3 nats or more, is marked WRONG. Where the
end says that a gradient is left, as of an unbounded log density, the gain is shown, and not judged.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

import ppl
from ppl.errors import PPLError
from ppl.kernel.advi.start import start_point
from ppl.methods.maximise.methods import METHODS, maximise
from ppl.methods.maximise.rules import SearchPoint
from ppl.run.posterior_target import PosteriorTarget

ROOT = Path(__file__).parents[2]
MOST_GAIN = 1e-3
"""Nats that SciPy may gain from an end that counts as converged."""
MOST_EVALUATIONS = 1000
"""Of SciPy's search: without a bound on the density it would go on for ever."""
RADIUS = 2.0
WALL = 1e300
"""The loss where there is no density."""


def programs() -> Iterator[Path]:
    yield from sorted((ROOT / "tests/conformance/programs").glob("*.stan"))
    yield from sorted((ROOT / "models").glob("*/*.model"))


class End(NamedTuple):
    """Where a maximisation ended, and what SciPy gained from there, in nats."""

    step: SearchPoint
    gain: float

    @property
    def wrong(self) -> bool:
        return self.step.converged and self.gain >= MOST_GAIN


def density_of(program: Path) -> PosteriorTarget:
    """The program as `optimize` has it, without the Jacobian."""
    data = program.with_suffix(".data.json")
    posterior = ppl.compile_model(program).condition(data if data.exists() else {})
    return PosteriorTarget(posterior, jacobian=False, propto=False)


def end_of(density: PosteriorTarget, method: str, seed: int) -> End:
    with np.errstate(all="ignore"):
        *_, last = maximise(density, start_point(density, RADIUS, np.random.default_rng(seed)), method)
        return End(last, gain_of_scipy(density, last))


def gain_of_scipy(density: PosteriorTarget, last: SearchPoint) -> float:
    def loss(u: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = density.log_density_gradient(u)
        finite = np.isfinite(value) and np.isfinite(gradient).all()
        return (-value, -gradient) if finite else (WALL, 0 * u)

    found = minimize(loss, last.u, jac=True, method="L-BFGS-B", options={"maxfun": MOST_EVALUATIONS})
    return float(-last.value - found.fun)


def row(program: Path, seed: int, end: End) -> str:
    verdict = "WRONG" if end.wrong else "converged" if end.step.converged else "gradient left"
    return (
        f"| {program.stem} | {seed} | {end.step.value:.6g} | {end.step.number} | {end.step.evaluations} | "
        f"{end.step.slope:.1e} | {end.gain:.1e} | {verdict} |"
    )


def table(chosen: list[Path], method: str, seeds: int) -> Iterator[str]:
    yield "| program | seed | log density | steps | evaluations | gradient | SciPy gains | end |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for program in chosen:
        density = density_of(program)
        for seed in range(1, seeds + 1) if density.dim else ():
            try:
                yield row(program, seed, end_of(density, method, seed))
            except PPLError as error:
                yield f"| {program.stem} | {seed} | | | | | | {str(error).splitlines()[0]} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--method", choices=METHODS, default="lbfgs")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--program", nargs="*", default=[])
    args = parser.parse_args()
    chosen = [program for program in programs() if not args.program or program.stem in args.program]
    for line in table(chosen, args.method, args.seeds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
