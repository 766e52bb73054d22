"""`fit.plot`: the pictures of a fit in Python."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from ppl.arguments import checks
from ppl.floats import Floats
from ppl.results.pictures.canvas import Look
from ppl.results.pictures.effects import EFFECTS_KIND
from ppl.results.pictures.gather import FitSource, FitToDraw, with_needs
from ppl.results.pictures.kind import Kind
from ppl.results.pictures.table import KINDS, parts
from ppl.results.report.style import TableStyle
from ppl.spelling import PICTURES, fold


class Plots:
    """Pictures of a fit, by kind: `fit.plot.forest("theta")`.

    Example:
        >>> axes = fit.plot.forest("theta", title="Effects")
        >>> axes.get_title(loc="left"), [text.get_text() for text in axes.get_yticklabels()][:2]
        ('Effects', ['theta.1', 'theta.2'])
    """

    def __init__(self, fit: FitToDraw) -> None:
        self._fit = fit

    def __dir__(self) -> list[str]:
        return [name.replace("-", "_") for name in KINDS]

    def __getattr__(self, name: str) -> "Picture":
        """A kind of picture.

        Raises:
            AttributeError: there is none of that name.
        """
        if name.startswith("_") or name.replace("_", "-") not in KINDS:
            meant = PICTURES.get(fold(name), "").replace("-", "_")
            advice = f"write plot.{meant}. There" if meant else "there"
            raise AttributeError(f"there is no picture {name}; {advice} are {', '.join(dir(self))}.")
        return Picture(self._fit, KINDS[name.replace("_", "-")])

    def __call__(self, *args: Any, **keywords: Any) -> NoReturn:
        """A picture has a kind.

        Raises:
            AttributeError: always; names the kinds.
        """
        raise AttributeError(f"plot() draws nothing; name a picture, such as plot.forest(): {self!r}")

    def __repr__(self) -> str:
        return f"<Plots: {', '.join(dir(self))}>"


class Picture:
    """A kind of picture of a fit; call it to draw it."""

    def __init__(self, fit: FitToDraw, kind: Kind) -> None:
        self._fit, self._kind = fit, kind

    @checks
    def __call__(
        self,
        vars: str | Sequence[str] = (),
        *,
        outcome: str = "",
        by: str = "",
        transform: Callable[[Floats], Floats] | None = None,
        log: bool = False,
        line: float | None = None,
        title: str = "",
        narrow: bool = False,
        predictor: str = "",
        interval: float = 0.9,
        hdi: bool = False,
        ax: Any = None,
        seed: int = 1,
    ) -> Any:
        """Draw the picture.

        Args:
            vars: variables or columns, as in `draws_pd`; the parameters by default. For
                `effects` the predictor.
            outcome: the outcome that the picture is of, where there are several.
            by: a column of the data that groups observations, for `ppc` and `groups`.
            transform: a function of draws that is shown in their place, such as `np.exp` for odds ratios.
            log: a log axis for the values.
            line: a reference line at this value.
            title: the title.
            narrow: 4 inches wide, for a telephone.
            predictor: the data variable whose effects are drawn, for `effects`.
            interval: the probability of intervals; with `hdi` they are the shortest ones.
            ax: the axes of matplotlib to draw a picture of one panel on.
            seed: of replicated data and draws of the prior.

        Returns:
            The axes of matplotlib, an array (panels,) of several; by outcome in a dict where there are
            several outcomes. The figure is one of pyplot.

        Raises:
            DataError: something that the picture needs is missing, or there is no such variable.
            ModelError: data or the prior cannot be simulated; says which line.
            MissingPackage: matplotlib is not installed.
        """
        if self._kind is EFFECTS_KIND and isinstance(vars, str) and not predictor:
            predictor, vars = vars, ()
        kind, source = self._kind, FitSource(self._fit, outcome, by, seed, predictor)
        material = source.material([vars] if isinstance(vars, str) else vars)
        material = with_needs(replace(material, transform=transform), [kind], source)
        style = TableStyle(interval, hdi)
        look = Look(not narrow, title, log, line, axes=ax, managed=True, style=style)
        drawn = {}
        for name, part in parts(material, kind):
            each = kind.axes(part, look)
            drawn[name] = each[0] if len(each) == 1 else np.array(each)
        return drawn if len(drawn) > 1 else next(iter(drawn.values()))

    def __repr__(self) -> str:
        return f"<Picture {self._kind.name}>"
