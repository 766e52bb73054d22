"""How far a run is, or several, and how long that may still take, from what stages usually cost."""

from collections.abc import Callable, Sequence
from time import perf_counter

from ppl.kernel.advi.progress import Phase, Progress
from ppl.methods.run.phases import PHASES

SHARE_TO_FORECAST = 0.02
"""A share of the work from which on the time it took tells how long the rest may take."""


class Meter:
    """Listens to one run; `share`, in [0, 1], never falls.

    A stage that is left out or ends early counts as done, one that comes a second time changes nothing.
    """

    def __init__(self, plan: Sequence[Phase], clock: Callable[[], float] = perf_counter):
        self._plan, self._clock, self._began = tuple(plan), clock, clock()
        self._begun: list[Phase] = []
        self._part = self._updated_at = 0.0
        self.share = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since it began to listen."""
        return self._clock() - self._began

    def hear(self, progress: Progress) -> None:
        """Takes a report into account."""
        phase = progress.phase
        if phase is Phase.DONE:
            self.share = 1.0
        if phase not in self._plan:
            return
        if not self._begun or self._at(phase) > self._at(self._begun[-1]):
            self._begun.append(phase)
            self._part, self._updated_at = 0.0, self.elapsed
        part = min(1.0, progress.iteration / progress.total) if progress.total else 0.0
        if phase is self._begun[-1] and part > self._part:
            self._part, self._updated_at = part, self.elapsed
        before = self._plan[: self._at(self._begun[-1])]
        done = _cost(before) + self._part * _cost(self._begun[-1:])
        self.share = max(self.share, done / _cost(self._plan))

    @property
    def left(self) -> float | None:
        """About how many seconds are left, if all stages come; None where it is too early to say.

        The rate is that of the stages that were there: one left out took no time. Between two reports
        time runs off the stage at hand alone.
        """
        if not self._begun or self.share == 1.0:
            return None
        now = _cost(self._begun[-1:])
        spent = _cost(self._begun[:-1]) + self._part * now
        if spent < SHARE_TO_FORECAST * _cost(self._plan):
            return None
        rate, since = self._updated_at / spent, self.elapsed - self._updated_at
        later = _cost(self._plan[self._at(self._begun[-1]) + 1 :])
        return rate * later + max(0.0, rate * (1 - self._part) * now - since)

    @property
    def share_of_time(self) -> float:
        """The share of its time that is over, by what is known of it."""
        return self.share if self.left is None else self.elapsed / (self.elapsed + self.left)

    def _at(self, phase: Phase) -> int:
        return self._plan.index(phase)


class Meters:
    """Listens to a run, or to several beside each other and one after the other: a meter for each."""

    def __init__(self, plan: Sequence[Phase], clock: Callable[[], float] = perf_counter):
        self._plan, self._clock, self._began = tuple(plan), clock, clock()
        self.of_run: dict[int, Meter] = {}
        self.runs = 0

    def hear(self, progress: Progress) -> Meter:
        """Takes a report into account; the meter of its run."""
        self.runs = max(self.runs, progress.runs)
        meter = self.of_run.setdefault(progress.run, Meter(self._plan, self._clock))
        meter.hear(progress)
        return meter

    @property
    def left(self) -> float | None:
        """About how many seconds are left until the last run ends; None where it is too early to say.

        Runs go on as fast as they did; the last of them takes no less than it says itself.
        """
        lefts = [left for meter in self.of_run.values() if (left := meter.left) is not None]
        if not self.runs or not lefts:
            return max(lefts, default=None)
        over = sum(meter.share_of_time for meter in self.of_run.values()) / self.runs
        elapsed = self._clock() - self._began
        return max(*lefts, elapsed * (1 - over) / over)


def _cost(phases: Sequence[Phase]) -> float:
    return sum(PHASES[phase].cost for phase in phases)
