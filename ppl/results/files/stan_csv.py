"""CSV files as CmdStan's method `variational` writes them, so that its readers read ours.

Layout: CmdStan 2.36 (`stan::services::experimental::advi`). A tree of `# key = value` lines, the header,
the two adaptation lines that every reader looks for, the approximation's mean, then the draws.
Floats are written with the fewest digits that read back to the same double.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from ppl.results.files.columns import Floats
from ppl.results.files.config import Config, comment_lines

LEADING = ("lp__", "log_p__", "log_g__")


def cell(value: float) -> str:
    """`3`, `0.1`, `nan`, `inf`, `-inf`: the shortest text of a double."""
    return repr(float(value)).removesuffix(".0")


def line(values: Iterator[float] | Sequence[float]) -> str:
    """One row of the file."""
    text = repr(list(map(float, values)))[1:-1].replace(", ", ",") + ","  # of a list in C, 0.6 of the time
    return text.replace(".0,", ",")[:-1] + "\n"


def csv_lines(
    config: Config,
    columns: Sequence[str],
    eta: float,
    mean: Floats,
    log_p: Floats,
    log_g: Floats,
    rows: Floats,
) -> Iterator[str]:
    """The whole file: `mean` is the constrained image of the unconstrained mean, `rows` the draws."""
    yield from comment_lines(config)
    yield ",".join(chain(LEADING, columns)) + "\n"
    yield from eta_lines(eta)
    yield line(chain((0, 0, 0), mean.tolist()))
    for p, g, row in zip(log_p, log_g, rows, strict=True):
        yield line(chain((0, p, g), row.tolist()))


def eta_lines(eta: float) -> Iterator[str]:
    """What readers look for after the header, whether the step size was searched for or not."""
    yield "# Stepsize adaptation complete.\n"
    yield f"# eta = {cell(eta)}\n"


def diagnostic_lines(config: Config, trace: Sequence[tuple[int, float, float]]) -> Iterator[str]:
    """CmdStan's diagnostic file: iteration, seconds since the start, ELBO."""
    yield from comment_lines(config)
    yield "iter,time_in_seconds,ELBO\n"
    for iteration, seconds, elbo in trace:
        yield f"{iteration},{seconds:.3f},{cell(elbo)}\n"
