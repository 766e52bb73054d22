"""CSV files as CmdStan's method `variational` writes them, so that its readers read ours.

Layout: CmdStan 2.36 (`stan::services::experimental::advi`). A tree of `# key = value` lines, the header,
the two adaptation lines that every reader looks for, the approximation's mean, then the draws.
Floats are written with the fewest digits that read back to the same double.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from ppl.results.columns import Floats
from ppl.results.settings import Settings

LAYOUT_VERSION = ("2", "36", "0")
LEADING = ("lp__", "log_p__", "log_g__")


@dataclass(frozen=True)
class RunInfo:
    """What the comment lines say beside the settings; "" where there is no such file."""

    model: str
    program_version: str
    data_file: str = ""
    output_file: str = "output.csv"
    diagnostic_file: str = ""
    refresh: int = 100
    positive_transform: str = "log"


def cell(value: float) -> str:
    """`3`, `0.1`, `nan`, `inf`, `-inf`: the shortest text of a double."""
    return repr(float(value)).removesuffix(".0")


def _entry(depth: int, key: str, value: object, default: object) -> str:
    text = f"{value:.16g}" if isinstance(value, float) else str(value)
    return f"# {'  ' * depth}{key} = {text}{' (Default)' if value == default else ''}\n"


def config_lines(settings: Settings, eta: float, info: RunInfo) -> Iterator[str]:
    """CmdStan's argument tree; `eta` stands where it was given, its default 1 where it was searched for."""
    ours, usual = settings, Settings()
    for part, number in zip(("major", "minor", "patch"), LAYOUT_VERSION, strict=True):
        yield f"# stan_version_{part} = {number}\n"
    yield f"# model = {info.model}\n"
    yield "# method = variational\n"
    yield "#   variational\n"
    yield _entry(2, "algorithm", ours.algorithm, usual.algorithm)
    yield f"#       {ours.algorithm}\n"
    for key in ("iter", "grad_samples", "elbo_samples"):
        yield _entry(2, key, getattr(ours, key), getattr(usual, key))
    yield _entry(2, "eta", 1 if ours.eta is None else eta, 1)
    yield "#     adapt\n"
    yield _entry(3, "engaged", int(ours.eta is None), 1)
    yield _entry(3, "iter", ours.adapt_iter, usual.adapt_iter)
    for key in ("tol_rel_obj", "eval_elbo"):
        yield _entry(2, key, getattr(ours, key), getattr(usual, key))
    yield _entry(2, "output_samples", ours.draws, usual.draws)
    yield "# id = 1 (Default)\n"
    yield "# data\n"
    yield _entry(1, "file", info.data_file, "")
    yield _entry(0, "init", _init_text(ours.init), _init_text(usual.init))
    yield "# random\n"
    yield _entry(1, "seed", ours.seed, None)
    yield "# output\n"
    yield _entry(1, "file", info.output_file, "output.csv")
    yield _entry(1, "diagnostic_file", info.diagnostic_file, "")
    yield _entry(1, "refresh", info.refresh, 100)
    yield _entry(0, "average", int(ours.average), 0)
    yield _entry(0, "positive_transform", info.positive_transform, "log")
    yield f"# ppl_version = {info.program_version}\n"


def _init_text(init: object) -> str:
    match init:
        case int() | float():
            return f"{init:g}"
        case dict():
            return "given"
        case _:
            return str(init)


def csv_lines(
    config: Iterator[str],
    columns: Sequence[str],
    eta: float,
    mean: Floats,
    log_p: Floats,
    log_g: Floats,
    rows: Floats,
) -> Iterator[str]:
    """The whole file: `mean` is the constrained image of the unconstrained mean, `rows` the draws."""
    yield from config
    yield ",".join(chain(LEADING, columns)) + "\n"
    yield "# Stepsize adaptation complete.\n"
    yield f"# eta = {cell(eta)}\n"
    yield _line((0, 0, 0), mean)
    for p, g, row in zip(log_p, log_g, rows, strict=True):
        yield _line((0, p, g), row)


def _line(leading: tuple[float, float, float], values: Floats) -> str:
    return ",".join(map(cell, chain(leading, values.tolist()))) + "\n"


def diagnostic_lines(config: Iterator[str], trace: Sequence[tuple[int, float, float]]) -> Iterator[str]:
    """CmdStan's diagnostic file: iteration, seconds since the start, ELBO."""
    yield from config
    yield "iter,time_in_seconds,ELBO\n"
    for iteration, seconds, elbo in trace:
        yield f"{iteration},{seconds:.3f},{cell(elbo)}\n"
