"""Generated quantities from old draws: the method `generate_quantities` of CmdStan."""

from collections.abc import Sequence

from ppl.density.log_density import LogDensity
from ppl.floats import Floats
from ppl.kernel.advi.outcome import Listener, silent
from ppl.results.fits.log_prob import unconstrained_of
from ppl.run.table import Table, tabulate


def generate(
    posterior: LogDensity, columns: Sequence[str], draws: Floats, seed: int = 1, listen: Listener = silent
) -> Table:
    """The generated quantities of `posterior` at each of `draws` (draws, columns) of its parameters.

    The program may differ from the one the draws came from, so long as it has the same parameters; further
    columns are ignored. `listen` hears how many draws are done.

    Raises:
        DataError: a parameter has no column, or a value breaks its constraint.

    Example:
        >>> generate(posterior, fit.column_names, fit.draws()).columns[:2]
        ('y_rep.1', 'y_rep.2')
    """
    table = tabulate(posterior, unconstrained_of(posterior, columns, draws), seed, listen=listen)
    return table.only(range(len(posterior.param_names(include_tp=True)), len(table.columns)))
