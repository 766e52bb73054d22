"""Measures of the quality of a fit, which the rules of the verdict judge."""

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.outcome import Outcome
from ppl.methods.correct.correction import DrawSource
from ppl.methods.correct.weight_quality import WeightQuality
from ppl.methods.diagnose.diagnostics import Trend
from ppl.methods.diagnose.modes import Mode
from ppl.methods.diagnose.psis import are_alike
from ppl.methods.diagnose.spread import Spread
from ppl.methods.moves.ending import Moved
from ppl.methods.moves.images import Images
from ppl.records import dataclass, field


@dataclass(frozen=True, repr=False)
class Quality:
    """Measures of the quality of a fit.

    `khat` is the shape of the tail of p/q at `n` draws of q, and `ess` what these are worth once weighted;
    `khats` (dim,) is the same for the mean of each coordinate where the draws are q's (else `khat`), `shifts`
    (dim,) how far the weights move that mean in sds of q. `trend` is what the ELBO still gained when the loop
    stopped, None where a later stage ended at a maximum. `spread` compares independent runs, None where there
    was one. `made` says how the draws came from q, `moved` how chains moved them (without positions), `modes`
    what modes were found beside q's. `tails` (dim,) is the shape of the heavier tail of moved draws,
    `sd_errors` (dim,) the standard errors of their sds, as shares of these, `stuck` the coordinates of which
    most draws are equal, to rounding. `rounded` (dim,) is the share of the mass, as far as draws tell, where
    a parameter is its bound, to rounding; empty where that is not known. `updates` is what draws of each
    earlier q, which stands for the rows before it, were worth. `images` are those that the draws are spread
    over.

    Source: Yao, Vehtari, Simpson and Gelman (2018), "Yes, but did it work?"; Vehtari et al. (2024).
    """

    n: int
    khat: float
    ess: float
    khats: Floats
    shifts: Floats
    elbo_se: float
    outcome: Outcome
    trend: Trend | None = None
    spread: Spread | None = None
    made: DrawSource = DrawSource.OF_Q
    modes: tuple[Mode, ...] = ()
    moved: Moved | None = None
    tails: Floats = field(default_factory=lambda: np.zeros(0))
    sd_errors: Floats = field(default_factory=lambda: np.zeros(0))
    stuck: tuple[int, ...] = ()
    rounded: Floats = field(default_factory=lambda: np.zeros(0))
    updates: tuple[WeightQuality, ...] = ()
    images: Images | None = None

    @property
    def alike(self) -> bool:
        """Whether the weights hardly differ from one another."""
        return are_alike(self.ess, self.n)

    @property
    def mean_shift(self) -> float:
        """The largest move of a mean under the weights, in sds."""
        return float(np.abs(self.shifts).max(initial=0.0))
