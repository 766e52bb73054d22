"""Parameters and data drawn from a program: read forward, or by a program that simulates."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ppl.data.missing import holes_in
from ppl.density.log_density import LogDensity
from ppl.errors import DataError, InferenceError, Rejection
from ppl.floats import Floats
from ppl.kernel.advi.outcome import Listener, Phase, Progress, silent
from ppl.kernel.draws.names import Sized, flat
from ppl.kernel.language.printer import print_program
from ppl.records import dataclass, field
from ppl.run.memory_needed import require_memory_of_rows
from ppl.run.table import Table
from ppl.structure.simulator import simulator_of

SIMULATION_STREAM = 0x73696D
"""The stream "sim" of simulations, apart from every stream of a fit."""
SIMULATIONS_TRIED = 1_000
"""Draws of a simulation that are tried for one without a rejection."""

REPORTED = 50
"""Draws of the prior between two reports."""

UNDRAWN = -(2**31)
"""The value of an int that nothing was assigned to."""


@dataclass(frozen=True, eq=False)
class Simulations:
    """A simulator with its data, of the program `model`, with the data that are not simulated.

    `parameters` and `simulated` are the names of what each simulation draws, `missing` the places (missing,
    axes) in the simulated data, counted from 0, whose values are hidden from the program.
    """

    model: Any
    posterior: LogDensity
    data: Mapping[str, Any]
    parameters: tuple[str, ...]
    simulated: tuple[str, ...]
    missing: Mapping[str, NDArray[np.intp]] = field(default_factory=dict)

    def draw(self, number: int, seed: int) -> dict[str, Any]:
        """Every variable of the simulator in simulation `number`, by name, as arrays of its own shape.

        One that a declared constraint or `reject` refuses is drawn again.

        Raises:
            InferenceError: a variable was not drawn in all its entries, or every draw breaks a constraint.
        """
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(SIMULATION_STREAM, number)))
        why: Rejection | None = None
        for _ in range(SIMULATIONS_TRIED):
            try:
                values = dict(self.posterior.values(np.zeros(0), rng, True, True))
            except Rejection as rejection:
                why = rejection
                continue
            self._require_whole(values)
            return values
        raise InferenceError(f"All {SIMULATIONS_TRIED} draws were rejected: {why}")

    def _require_whole(self, values: Mapping[str, Any]) -> None:
        for name in (*self.parameters, *self.simulated):
            array = np.asarray(values[name])
            if (array == UNDRAWN).any() if array.dtype.kind == "i" else np.isnan(array).any():
                raise InferenceError(f"The simulation leaves entries of `{name}` without a value.")

    def condition(self, values: Mapping[str, Any], seed: int = 0) -> Any:
        """The posterior of the program given the data of a simulation, less what is missing."""
        simulated = {name: values[name] for name in self.simulated}
        for name, places in self.missing.items():
            simulated[name] = np.array(simulated[name], dtype=float)
            simulated[name][tuple(places.T)] = np.nan
        how = "model" if self.missing else "refuse"
        return self.model.condition({**self.data, **simulated}, seed=seed, missing=how)

    def columns(self) -> list[Sized]:
        """The parameters with their shapes."""
        own = {v.name: v for v in self.posterior.declared(include_tp=True, include_gq=True)}
        return [own[name] for name in self.parameters]

    def row(self, values: dict[str, Any]) -> Floats:
        """The parameters of a simulation as columns, (columns,)."""
        return flat(self.columns(), values)


def program_text(model: Any) -> str:
    """The program that simulates, as text that users may change.

    Raises:
        ModelError: the program cannot be simulated; says why, where, and what to do.
    """
    return print_program(simulator_of(model.compilation.factors))


def simulations_of(
    model: Any, data: Any, simulator: Any = None, missing: Literal["refuse", "model"] = "refuse"
) -> Simulations:
    """Simulations of a program with data, of which those that are simulated may be left out.

    `simulator` is a compiled program without parameters that has the parameters, and the data to simulate,
    among its generated quantities; without one the program is read forward. With `missing` "model" the
    simulated data lack the values that the given ones lack.

    Raises:
        ModelError: the program cannot be simulated; says why, where, and what to do.
        DataError: what the simulator needs is not among the data, or it draws not all that it should.
    """
    parameters = tuple(d.name for d in model.compilation.checked[0].parameters)
    if simulator is None:
        simulator = model.of_program(simulator_of(model.compilation.factors))
    posterior = simulator.condition(data)
    own = {v.name for v in posterior.declared(include_tp=True, include_gq=True)}
    simulated = tuple(name for name in model.data_schema if name in own)
    if undrawn := [name for name in parameters if name not in own]:
        raise DataError(f"the simulator does not draw the parameter `{undrawn[0]}`.", undrawn[0])
    if posterior.param_unc_num():
        raise DataError("the simulator has parameters; it should draw all in generated quantities.")
    if not simulated:
        raise DataError("the simulator draws no data of the program, so there is nothing to fit.")
    given = posterior.data
    fixed = {name: value for name, value in given.items() if name not in simulated}
    absent = {name: holes_in(given[name]) for name in simulated if name in given}
    places = {name: holes.at for name, holes in absent.items() if holes and missing == "model"}
    return Simulations(model, posterior, fixed, parameters, simulated, places)


def prior_draws(simulations: Simulations, draws: int, seed: int, listen: Listener = silent) -> Table:
    """Draws (draws, columns) of the prior predictive distribution: of all that the simulator computes.

    Raises:
        InferenceError: a variable was not drawn in all its entries, or every draw breaks a constraint.
    """
    require_memory_of_rows(simulations.posterior.extent, draws)
    declared = simulations.posterior.declared(include_tp=True, include_gq=True)
    columns = tuple(simulations.posterior.param_names(include_tp=True, include_gq=True))
    rows = np.empty((draws, len(columns)))
    for number in range(1, draws + 1):
        rows[number - 1] = flat(declared, simulations.draw(number, seed))
        if number % REPORTED == 0:
            listen(Progress(Phase.VARIABLES, number, draws))
    return Table(columns, rows)
