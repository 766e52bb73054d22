"""CSV files of draws, as ppl and CmdStan write them, read back whatever their method."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from ppl.data.bounded_read import repeated
from ppl.errors import DataError
from ppl.files import require_file
from ppl.floats import Floats
from ppl.kernel.draws.names import Labels, labels_in
from ppl.printable import printable
from ppl.records import dataclass, field, replace
from ppl.results.files.provenance import Provenance, read_entries
from ppl.results.fits.density import varies

RATIOS = (("log_p__", "log_g__"), ("log_p__", "log_q__"), ("lp__", "lp_approx__"))
"""Pairs of columns, log target and log approximation: of variational, of laplace, of pathfinder."""

NAME = re.compile(r"[A-Za-z]\w*([.:]\w+)*")
NUMBER = re.compile(r"[+-]?(nan|inf(inity)?|(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)", re.ASCII | re.IGNORECASE)
ENTRY = re.compile(r"#( *)(\w+)(?: =(?: (.*?))?(?: \(Default\))?)?\s*$")


CELLS_OF_A_BLOCK = 1 << 16
"""Of the rows that are read at once."""


@dataclass(frozen=True, eq=False)
class DrawsFile:
    """A file of draws: `columns` name `draws` (draws, columns), `config` has its comments (read_config).

    `internal` has the columns whose names end in two underscores, `mean` (columns,) the row with which
    CmdStan's method variational begins its draws, `warmup` (rows, columns) those that are none of the draws.
    `header` has the columns of the file, `columns` those of them that were read.
    """

    path: Path
    config: Mapping[str, str]
    columns: tuple[str, ...]
    draws: Floats
    internal: Mapping[str, Floats]
    mean: Floats | None = None
    warmup: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    header: tuple[str, ...] = ()

    def only(self, names: Sequence[str]) -> "DrawsFile":
        """The same with these columns alone."""
        at = {name: k for k, name in enumerate(self.columns)}
        places = [at[name] for name in names]
        mean = None if self.mean is None else self.mean[places]
        warmup = self.warmup[:, places] if self.warmup.size else self.warmup
        return replace(self, columns=tuple(names), draws=self.draws[:, places], mean=mean, warmup=warmup)

    @property
    def method(self) -> str:
        return self.config.get("method", "sample")

    @property
    def parameters(self) -> tuple[str, ...]:
        """The columns of the parameters; all where the comments do not tell, as in CmdStan's files."""
        names = self.config.get("parameters", "").split(",")
        return tuple(c for c in self.columns if re.split("[.:]", c)[0] in names) or self.columns

    @property
    def provenance(self) -> Provenance | None:
        """The provenance of the file's draws; None where it says nothing."""
        return read_entries(self.config)

    @property
    def labels(self) -> Labels:
        """The levels that indices of columns stand for."""
        return labels_in(self.config)

    @property
    def log_ratios(self) -> Floats | None:
        """Log target less log approximation at each draw, up to a constant.

        None where it is not there, and where it is no weight any more, or never varies: draws resampled by
        importance, or one point repeated, tell nothing of the approximation they came from.
        """
        ratios = self._ratios()
        return ratios if ratios is not None and varies(ratios) and not self._is_resampled else None

    @property
    def follows_target(self) -> bool:
        """Whether ratios are there that never vary, or are no weights: draws were resampled or moved."""
        return self._ratios() is not None and self.log_ratios is None

    @property
    def settings(self) -> dict[str, str]:
        """The comments by the last part of their names."""
        return {name.rpartition(".")[2]: value for name, value in self.config.items()}

    @property
    def _is_resampled(self) -> bool:
        """Whether CmdStan has drawn these draws of several Pathfinder paths by their weights."""
        resample, paths = (self.settings.get(name) for name in ("psis_resample", "num_paths"))
        return self.method == "pathfinder" and resample in ("1", "true") and paths != "1"

    def _ratios(self) -> Floats | None:
        for target, approximation in RATIOS:
            if target in self.internal and approximation in self.internal:
                return self.internal[target] - self.internal[approximation]
        return None


Wanted = Callable[[DrawsFile], Iterable[str]]
"""The columns to read of a file, given all that stands before its first draw."""


def every_column(file: DrawsFile) -> tuple[str, ...]:
    return file.columns


def read_draws(path: str | Path, wanted: Wanted = every_column) -> DrawsFile:
    """The draws in a CSV file that ppl or CmdStan wrote: of the `wanted` columns, and the internal ones.

    Raises:
        DataError: the file has no header, a row of another length, or in these columns a cell that is no
            number.
        OSError: it cannot be read.

    Example:
        >>> read_draws("output.csv").draws.shape
        (1000, 34)
    """
    path, comments = Path(path), list[str]()
    try:
        with require_file(path).open(encoding="utf-8") as file:
            rows = _rows(path, file, comments)
            header = _header(path, next(rows, ""))
            columns = tuple(name for name in header if not name.endswith("__"))
            head = DrawsFile(
                path, read_config(comments), columns, np.zeros((0, len(columns))), {}, header=columns
            )
            names = {*wanted(head)}
            places = [k for k, name in enumerate(header) if name in names or name.endswith("__")]
            numbers = _numbers(path, header, places, rows)
    except UnicodeDecodeError:
        raise DataError(f"{path} is not a text file; expected a CSV file of draws.") from None
    config, read = read_config(comments), [header[k] for k in places]
    mean = config.get("method") == "variational" and len(numbers) > 0
    before = 1 if mean else warmup_rows(config)
    outside = [k for k, name in enumerate(read) if not name.endswith("__")]
    internal = {name: numbers[before:, k] for k, name in enumerate(read) if name.endswith("__")}
    first, draws = numbers[:before, outside], numbers[before:, outside]
    own_mean, warmup = (first[0], first[:0]) if mean else (None, first)
    return DrawsFile(
        path, config, tuple(read[k] for k in outside), draws, internal, own_mean, warmup, columns
    )


def refuse_repeated(path: Path, names: Iterable[str]) -> None:
    """Refuse draws with two columns of one name, of which only one could be read."""
    if (name := repeated(names)) is not None:
        raise DataError(f"{path} has two columns named {name}; expected one.")


def read_config(comments: Iterable[str]) -> dict[str, str]:
    """The tree of comment lines as dotted names: "data.file", "method", "method.variational.iter"."""
    config: dict[str, str] = {}
    path: list[str] = []
    for entry in filter(None, map(ENTRY.match, comments)):
        path = [*path[: max(0, len(entry[1]) - 1) // 2], entry[2]]
        if entry[3] is not None:
            config[".".join(path)] = printable(entry[3])
    return config


def warmup_rows(config: Mapping[str, str]) -> int:
    """How many rows at the beginning are of the warmup, by what CmdStan's comments say."""
    begins = "method.sample."
    settings = {name.removeprefix(begins): value for name, value in config.items() if name.startswith(begins)}
    if settings.get("save_warmup", "0") not in ("1", "true"):
        return 0
    warmup, thin = (int(settings.get(name, "1")) for name in ("num_warmup", "thin"))
    return -(-warmup // thin)


def _rows(path: Path, lines: Iterable[str], comments: list[str]) -> Iterator[str]:
    """The header and the rows of numbers; comments are added to a list as they are met."""
    for line in lines:
        if line.startswith(("{", "[")):
            raise DataError(f"{path} holds JSON; expected a CSV file of draws.")
        if line[-1] != "\n":
            raise DataError(f"{path} ends in the middle of a line; it was cut short.")
        if line[0] == "#":
            comments.append(line)
        elif not line.isspace():
            yield line


def _header(path: Path, line: str) -> list[str]:
    try:
        header = next(csv.reader([line]), [])
    except csv.Error as error:
        raise DataError(f"{path} is not a CSV file: {error}.") from None
    if not header or not all(map(NAME.fullmatch, header)):
        raise DataError(f"{path} has no header of column names; expected a CSV file of draws.")
    refuse_repeated(path, header)
    return header


def _numbers(path: Path, header: list[str], places: list[int], rows: Iterator[str]) -> Floats:
    """The numbers (rows, places) in these columns."""
    blocks, before = [np.zeros((0, len(places)))], 0
    while block := [*islice(rows, 1 + CELLS_OF_A_BLOCK // len(header))]:
        for number, row in enumerate(block, before + 1):
            if (cells := row.count(",") + 1) != len(header):
                raise DataError(f"{path}: row {number} has {cells} cells, but the header {len(header)}.")
        try:
            blocks.append(np.loadtxt(block, delimiter=",", comments=None, usecols=places, ndmin=2))
        except ValueError as error:
            raise DataError(f"{path}: {next(_no_numbers(header, places, block, before), error)}") from None
        before += len(block)
    return np.concatenate(blocks)


def _no_numbers(header: list[str], places: list[int], block: list[str], before: int) -> Iterator[str]:
    """The fault of each cell that is no number."""
    for number, row in enumerate(block, before + 1):
        cells = row.removesuffix("\n").split(",")
        for k in places:
            if not NUMBER.fullmatch(cells[k].strip()):
                yield f"row {number} has {cells[k]!r} under {header[k]}; expected a number."
