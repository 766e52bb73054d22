"""Every univariate family and every function of reals of the tables, at ordinary and at extreme arguments.

A program takes the arguments as unbounded parameters, so that a point is a list of arguments; ints come as
data, and the int `which` says what of the family, or which function, is evaluated.
"""

import itertools
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.functions.table import FUNCTIONS
from ppl.stdlib.library import parse_variate
from ppl.stdlib.record import Distribution

Task = tuple[str, str, dict[str, int], Callable[[], list[list[float]]]]
"""A name, a program, its data and the points."""

POSITIVES = (1e-9, 1e-3, 0.12, 0.8, 1.0, 2.6, 11.0, 75.0, 900.0, 3e5)
UNIT = (1e-12, 1e-5, 0.03, 0.4, 0.5, 0.83, 0.999, 1 - 1e-9)
REALS = {
    "real": (-300.0, -40.0, -9.0, -2.3, -0.4, 0.0, 1e-7, 0.7, 1.9, 6.5, 38.0, 250.0),
    "positive": POSITIVES,
    "nonnegative": (0.0, *POSITIVES),
    "unit_interval": (0.0, *UNIT, 1.0),
    "open_unit": UNIT,
    "angle": (-3.1, -2.0, -0.3, 0.0, 1e-6, 0.9, 3.0),
}
INTS = {
    "count": (0, 1, 3, 12, 140),
    "trials": (12, 200),
    "binary": (0, 1),
    "int": (-2, 0, 3),
    "lower_int": (-7,),
    "upper_int": (6,),
}
ORDINARY = {"real": (-1.3, 0.4, 2.1), "positive": (0.4, 1.1, 3.2), "nonnegative": (0.4, 1.1, 3.2)}
POINTS = 40
FUNCTIONS_IN_A_PROGRAM = 12


def arguments(supports: Sequence[str], name: str) -> list[list[float]]:
    """In turn all of them anything, and one of them anything among ordinary ones."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    points = []
    for k in range(POINTS):
        usual = int(rng.integers(len(supports)))
        any_of = [
            REALS[s] if k % 2 == 0 or i == usual else ORDINARY.get(s, (0.3, 0.6))
            for i, s in enumerate(supports)
        ]
        points.append([float(rng.choice(options)) for options in any_of])
    return points


def densities() -> Iterator[Task]:
    for d in DISTRIBUTIONS:
        if d.signatures and set(parse_variate(d.signatures[0])) <= {"reals", "ints"}:
            yield from of_family(d)


def of_family(d: Distribution) -> Iterator[Task]:
    """Density or mass, cdf and its logs, for each setting of the ints."""
    supports = {f"a{i}": d.args[i][1] for i in range(len(parse_variate(d.signatures[0])))}
    ints = {name: s for name, s in supports.items() if s in INTS}
    reals = {name: s for name, s in supports.items() if s in REALS}
    variate, *given = supports
    kinds = [
        "lpmf" if d.discrete else "lpdf",
        *(k for k in ("cdf", "lcdf", "lccdf") if getattr(d, k) is not None),
    ]
    calls = [f"{d.name}_{kind}({variate} | {', '.join(given)})" for kind in kinds]
    program = choosing(calls, ints, reals)
    settings = [
        dict(zip(ints, chosen, strict=True))
        for chosen in itertools.product(*(INTS[s] for s in ints.values()))
    ]
    for (which, kind), setting in itertools.product(enumerate(kinds, 1), settings):
        if reals:
            name = " ".join([f"{d.name}_{kind}", *(f"{n}={v}" for n, v in setting.items())])
            yield name, program, {"which": which, **setting}, partial(arguments, list(reals.values()), name)


def functions() -> Iterator[Task]:
    """Functions of reals alone, several in a program, over all reals and over the positive ones."""
    for count in (1, 2, 3, 4):
        known = [f for f in FUNCTIONS if not f.name.endswith(("_constrain", "_unconstrain"))]  # Stan 2.37's
        names = [f.name for f in known if any(of_reals(o.signature, count) for o in f.overloads)]
        for start in range(0, len(names), FUNCTIONS_IN_A_PROGRAM):
            chosen = names[start : start + FUNCTIONS_IN_A_PROGRAM]
            args = [f"a{i}" for i in range(count)]
            program = choosing([f"{name}({', '.join(args)})" for name in chosen], (), args)
            for which, name in enumerate(chosen, 1):
                for support in ("real", "positive", "unit_interval"):
                    label = f"{name} {support}"
                    yield label, program, {"which": which}, partial(arguments, [support] * count, label)


def of_reals(signature: str, count: int) -> bool:
    args, _, result = signature.partition("=>")
    given = args.strip()[1:-1].replace(" ", "").split(",")
    return result.strip() in ("T", "real") and len(given) == count and set(given) <= {"T", "real", "reals"}


def choosing(calls: Sequence[str], ints: Iterable[str], reals: Iterable[str]) -> str:
    """A program whose target is one of the calls."""
    data = "".join(f"  int {name};\n" for name in ("which", *ints))
    parameters = "".join(f"  real {name};\n" for name in reals)
    body = "".join(f"  if (which == {k}) target += {call};\n" for k, call in enumerate(calls, 1))
    return f"data {{\n{data}}}\nparameters {{\n{parameters}}}\nmodel {{\n{body}}}\n"
