"""How tables show draws: which interval, and how many digits."""

from math import ceil
from typing import TYPE_CHECKING

from ppl.errors import ArgumentError
from ppl.records import dataclass

if TYPE_CHECKING:
    from ppl.floats import Floats


@dataclass(frozen=True)
class TableStyle:
    """The interval beside a mean, and the digits of figures.

    The interval holds the share `interval` of the draws: between two quantiles with as many on either side,
    or with `hdi` the shortest one (highest density). `sig_figs` are significant digits; None: those that the
    standard errors leave known. `quantiles`, if any, are shown in place of the interval and the median.

    Raises:
        ArgumentError: the share is not between 0 and 1, or the digits are none.
    """

    interval: float = 0.9
    hdi: bool = False
    sig_figs: int | None = None
    quantiles: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.interval < 1:
            raise ArgumentError(f"interval is {self.interval:g}, but must be above 0 and below 1")
        if self.sig_figs is not None and self.sig_figs < 1:
            raise ArgumentError(f"sig_figs is {self.sig_figs}, but must be at least 1")

    @property
    def is_usual(self) -> bool:
        """Whether the interval is from the 5% to the 95% quantile."""
        return self.interval == USUAL.interval and not self.hdi

    @property
    def headings(self) -> tuple[str, ...]:
        """Of the columns of the interval and of the median: `5%`, `50%`, `95%`."""
        if self.hdi and not self.quantiles:
            return f"{self.share} low", "50%", f"{self.share} high"
        return tuple(f"{100 * p:.10g}%" for p in self.quantiles or self.central)

    @property
    def share(self) -> str:
        """The name of the interval: `90%`, `90% HDI`."""
        return f"{100 * self.interval:g}%{' HDI' * self.hdi}"

    @property
    def central(self) -> tuple[float, float, float]:
        """The probabilities of the ends of the central interval, and of the median."""
        low = round((1 - self.interval) / 2, 12)
        return low, 0.5, 1 - low

    def probabilities(self, draws: "Floats") -> tuple[float, ...]:
        """Of the quantiles of draws (n,), not nan, that are the ends of the interval, and of the median."""
        n = len(draws)
        inside = ceil(self.interval * n)
        if self.quantiles or not self.hdi or n < 2 or inside >= n:
            return self.quantiles or self.central
        ordered = sorted(draws.tolist())
        first = min(range(n - inside + 1), key=lambda k: ordered[k + inside - 1] - ordered[k])
        return first / (n - 1), 0.5, (first + inside - 1) / (n - 1)


USUAL = TableStyle()
"""The columns of tables unless something else is asked for."""
