"""One run of the executable: what was asked, of which posterior, and where its output goes."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ppl.errors import InferenceError
from ppl.files import beside, numbered, write_whole
from ppl.floats import Floats
from ppl.kernel.advi.context import Streams
from ppl.kernel.advi.start import start_point
from ppl.kernel.advi.target import Target
from ppl.kernel.draws.stan_csv import cell
from ppl.records import dataclass
from ppl.results.files.config import Config, as_json, comment_lines
from ppl.run.initial import start_for

if TYPE_CHECKING:
    from ppl.posterior import Posterior


@dataclass(frozen=True)
class Job:
    """A posterior and the configuration of a run; `config.values` has every argument by its path."""

    posterior: "Posterior"
    config: Config

    def __getitem__(self, path: str) -> Any:
        """The value of an argument, such as `job["output.file"]`."""
        return self.config.values[path]

    @property
    def seed(self) -> int:
        """The seed of this process: runs that differ in `id` alone are independent."""
        return int(np.random.SeedSequence([self["random.seed"], self["id"] - 1]).generate_state(1)[0])

    @cached_property
    def streams(self) -> Streams:
        return Streams(self.seed)

    def init(self, number: int = 1) -> Any:
        """The start asked for: a radius, or a file.

        Chain `number` has its own where several are named with commas, or where `init_1.json` is there.
        """
        try:
            return float(self["init"])
        except ValueError:
            return self.own_file(str(self["init"]), number)

    def own_file(self, names: str, number: int) -> str:
        """The file of chain `number`: of several with commas, or `a_1.json` of `a.json` if that exists."""
        if "," in names:
            each = names.split(",")
            return each[(number - int(self["id"])) % len(each)]
        own = numbered(names, number)
        return str(own) if own.is_file() else names

    def start(self, target: Target, number: int = 1, rng: np.random.Generator | None = None) -> Floats:
        """A point (dim,) with a finite density and gradient."""
        return start_point(target, start_for(self.posterior, self.init(number)), rng or self.streams.start)

    def file(self, path: str) -> str:
        """An input file that must be named.

        Raises:
            InferenceError: it is not.
        """
        if not self[path]:
            raise InferenceError(
                f"Argument {path.rpartition('.')[2]} - found empty string, expecting filename."
            )
        return str(self[path])

    def write_csv(self, columns: Sequence[str], body: Iterable[str], file: str | Path | None = None) -> None:
        """The comments, the header, then `body`: lines of comments, and rows from `row_lines`."""
        head = (*comment_lines(self.config), ",".join(columns) + "\n")
        write_whole(file or self["output.file"], chain(head, body))
        if self["output.save_cmdstan_config"]:
            first = self["output.file"].split(",")[0]
            write_whole(beside(first, "config"), [as_json(self.config)])

    def row_lines(self, rows: Iterable[Iterable[float]], digits: int = -1) -> Iterator[str]:
        """Rows of numbers, with as many digits as `sig_figs` says, else `digits`; -1 for all that matter."""
        sig_figs = self["output.sig_figs"]
        digits = digits if sig_figs == -1 else sig_figs
        write = cell if digits == -1 else lambda value: f"{value:.{digits}g}"
        for row in rows:
            yield ",".join(map(write, row)) + "\n"

    def note_unused(self, *paths: str) -> None:
        """Says which of these arguments were given, but have no effect here."""
        idle = [path.rpartition(".")[2] for path in paths if path in self.config.arguments]
        if idle:
            print(f"Note: {', '.join(idle)}: no effect here.")


def read_rows(file: str | Path) -> tuple[tuple[str, ...], Floats]:
    """Columns and all rows of a CSV file of draws, with a fit's mean and a saved warmup, as in CmdStan."""
    from ppl.results.files.read_csv import read_draws

    draws = read_draws(file)
    before = draws.warmup if draws.mean is None else draws.mean
    return draws.columns, np.vstack([before.reshape(-1, len(draws.columns)), draws.draws])
