"""A compiled program, to be given data."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppl.data import Frame, Inputs
from ppl.density import model
from ppl.density.model import conditioned
from ppl.posterior import Posterior


@dataclass(frozen=True, repr=False)
class Model(model.Model):
    """A program that compiled; `condition` gives it data.

    Example:
        >>> model = compile_model("eight_schools.model")
        >>> model
        <Model eight_schools.model: data J, y, sigma; parameters mu, tau, theta_raw>
        >>> posterior = model.condition("eight_schools.data.json")
    """

    def condition(
        self,
        data: Inputs | Mapping[str, Any] | Frame | str | Path = {},  # noqa: B006
        seed: int = 0,
    ) -> Posterior:
        """The posterior given data: arrays of the declared shapes by name, or a path to a file.

        A file is JSON, CSV (both also .gz) or .npz. A CSV file with a header, or a DataFrame of pandas or
        polars, gives a variable a column, and the sizes that these are declared with; a dict takes columns
        too, {"K": 2, "y": frame["y"], ...}.

        An array that is a `np.memmap` of doubles stays on disk; fitted by minibatches, it is read a block of
        rows at a time.  `data.with_arrays` takes variables from files of their own.

        `seed` is for random numbers in transformed data.

        Raises:
            DataError: a variable is missing or does not fit its declaration; the message names it.
            Rejection: a statement of transformed data rejects them.
            InferenceError: a statement of transformed data cannot be computed; names it.

        Example:
            >>> model.condition("eight_schools.data.json").param_unc_num()
            10
        """
        return Posterior(*conditioned(self, data, seed))
