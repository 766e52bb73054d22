"""The bar, the plain lines, and the estimate behind them."""

import io

import pytest
from rich.console import Console

from ppl.errors import InferenceError
from ppl.kernel.advi.outcome import Phase, Progress
from ppl.methods.recipes import RECIPES
from ppl.methods.run.phases import PHASES, phases_of
from ppl.methods.run.settings import Settings
from ppl.results.fits.fit import variational
from ppl.run.progress_display import Meter, display, duration, line, roughly

LOOP, FIXED, VARIABLES = Phase.LOOP, Phase.FIXED_DRAWS, Phase.VARIABLES
PLAN = (Phase.PATHFINDER, LOOP, FIXED, Phase.MOVES, VARIABLES)


def written(*reports, width=200, terminal=False, refresh=100, plan=PLAN):
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=width, color_system=None)
    with display(console, refresh, plan) as listen:
        for report in reports:
            listen(report)
    return out.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.6, "1 min 00 s"), (125, "2 min 05 s"), (7800, "2 h 10 min")]
)
def test_duration(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(("seconds", "text"), [(41.7, "42 s"), (125, "2 min"), (7800, "2 h")])
def test_an_estimate_is_rough(seconds, text):
    assert roughly(seconds) == text


def test_a_line_leaves_out_what_is_not_known_yet():
    assert line(Progress(LOOP, 100, 10_000, -34.123)) == (
        "stochastic optimisation   100 of 10000   ELBO -34.12"
    )
    later = line(Progress(LOOP, 200, 10_000, -34.1, 0.0125, 0.008, run=2), "about 3 s left")
    assert later.startswith("run 2: stochastic optimisation   200")
    assert later.endswith("change 0.0125 mean, 0.008 median   about 3 s left")


def test_a_candidate_that_blew_up_fits_on_its_line():
    assert line(Progress(Phase.STEP_SIZE, 50, 250, -6e300)).endswith("ELBO -6e+300")


def test_a_terminal_gets_one_line_that_goes_away():
    out = written(*(Progress(LOOP, k, 200, -1.0) for k in (100, 200)), width=80, terminal=True)
    assert "stochastic optimisation" in out and "ELBO -1.00" in out
    assert out.count("\n") == 1  # the last frame's, so that it stands on a line of its own when it goes
    assert out.endswith("\x1b[?25h\r\x1b[1A\x1b[2K")  # the cursor is back, the line is gone


def test_a_terminal_gets_its_cursor_back_after_ctrl_c():
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=80, color_system=None)
    with pytest.raises(KeyboardInterrupt), display(console, 100) as listen:
        listen(Progress(LOOP, 100, 200, -1.0))
        raise KeyboardInterrupt
    assert out.getvalue().rstrip().endswith("\x1b[2K") and "\x1b[?25h" in out.getvalue()


def test_every_run_has_a_line_of_its_own():
    runs = (Progress(LOOP, 100, 200, -float(k), run=k) for k in (1, 2))
    *_, one, two = written(*runs, terminal=True, width=80).rpartition("\n")[0].splitlines()
    assert "run 1: stochastic optimisation" in one and "ELBO -1.00" in one
    assert "run 2: stochastic optimisation" in two and "ELBO -2.00" in two


def test_a_stage_without_an_elbo_keeps_that_of_q_in_sight():
    reports = Progress(FIXED, 1, 7, -7.25), Progress(Phase.STEP_SIZE, 1, 2, -99.0), Progress(VARIABLES, 1, 2)
    last = written(*reports, terminal=True, width=80)
    assert "variables of the draws" in last and "ELBO -7.25" in last and "-99" not in last


def test_plain_lines_begin_with_a_stage_and_come_every_so_many_iterations():
    output = written(*(Progress(LOOP, k, 500, -1.0) for k in (0, 100, 200, 300)), refresh=200).splitlines()
    assert [text.split()[2] for text in output] == ["0", "200"]


def test_a_note_is_said_once():
    reports = (Progress(LOOP, k, 400, -1.0, note="may be diverging") for k in (100, 200, 300))
    assert written(*reports, refresh=1000).count("may be diverging") == 1


def test_refresh_0_shows_nothing():
    assert written(Progress(LOOP, 100, 200, -1.0), refresh=0) == ""


def test_a_dumb_terminal_gets_plain_lines(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in written(Progress(LOOP, 0, 200), terminal=True)


def test_a_bar_never_goes_backwards():
    meter, shares = Meter(PLAN), []
    for report in (
        Progress(Phase.PATHFINDER, 2, 4),
        Progress(Phase.PATHFINDER, 1, 4),
        Progress(FIXED, 3, 7),
        Progress(Phase.STEP_SIZE, 1, 4),  # not in the plan
        Progress(FIXED, 0, 7),
        Progress(LOOP, 0, 100),
        Progress(Phase.MOVES, 70, 50),
        Progress(VARIABLES, 5, 5),
    ):
        meter.hear(report)
        shares.append(meter.share())
    assert shares == sorted(shares) and shares[0] > 0 and shares[-1] == pytest.approx(1)


def test_the_time_left_goes_by_the_stages_that_were_there():
    now = [100.0]
    meter = Meter(PLAN, clock=lambda: now[0])
    meter.hear(Progress(Phase.PATHFINDER, 0, 4))
    assert meter.left is None
    now[0] = 103.0
    meter.hear(Progress(Phase.PATHFINDER, 4, 4))
    cost = {phase: PHASES[phase].cost for phase in PLAN}
    ahead = sum(cost.values()) - cost[Phase.PATHFINDER]
    assert meter.left == pytest.approx(3.0 * ahead / cost[Phase.PATHFINDER])
    meter.hear(Progress(VARIABLES, 1, 2))  # all between was left out, and took no time
    half = cost[VARIABLES] / 2
    assert meter.left == pytest.approx(3.0 * half / (cost[Phase.PATHFINDER] + half))
    meter.hear(Progress(VARIABLES, 2, 2))
    assert meter.share() == 1 and meter.left is None


def test_the_time_left_does_not_count_what_was_before_the_first_report():
    """A program compiled for 30 s, or a run resumed at its middle: 10 iterations a second are left."""
    for first in (1, 500):
        now = [0.0]
        meter = Meter((LOOP,), clock=lambda now=now: now[0])
        now[0] = 30.0
        meter.hear(Progress(LOOP, first, 1000))
        now[0] = 40.0
        meter.hear(Progress(LOOP, first + 100, 1000))
        assert meter.left == pytest.approx((900 - first) / 10)


def test_the_time_left_is_that_of_all_runs():
    """Four runs of 10 s each, two at a time."""
    now = [0.0]
    meter = Meter((LOOP,), clock=lambda: now[0])

    def at(time, *reports):
        now[0] = time
        for run, share in reports:
            meter.hear(Progress(LOOP, int(100 * share), 100, run=run, runs=4))
        return meter.left

    assert at(0.0, (1, 0), (2, 0)) is None
    assert at(5.0, (1, 0.5), (2, 0.5)) == pytest.approx(15)
    assert at(10.0, (1, 1), (2, 1), (3, 0), (4, 0)) == pytest.approx(10)
    assert at(15.0, (3, 0.5), (4, 0.5)) == pytest.approx(5)
    assert at(20.0, (3, 1), (4, 1)) is None


def test_a_line_says_that_the_time_left_is_of_all_runs(monkeypatch):
    monkeypatch.setattr(Meter, "left", 40.0)
    assert written(Progress(LOOP, 0, 200, run=1, runs=4)).rstrip().endswith("about 40 s left of all runs")
    assert written(Progress(LOOP, 0, 200)).rstrip().endswith("about 40 s left")


def test_every_stage_is_explained():
    assert set(PHASES) == set(Phase) and all(about.does for about in PHASES.values())


@pytest.mark.rotate
@pytest.mark.parametrize("algorithm", sorted(set(RECIPES) - {"dsvi-ard", "nested"}))
def test_a_run_reports_no_stage_that_is_not_in_its_plan(toy, algorithm):
    events = []
    variational(toy, algorithm=algorithm, progress=events.append, iter=200, draws=50)
    plan = phases_of(Settings(algorithm=algorithm))
    assert events and {report.phase for report in events} <= set(plan)
    assert len(plan) == len(set(plan)) and list(plan) == [phase for phase in Phase if phase in plan]


def test_from_python_true_shows_and_false_and_none_are_silent(toy, capsys):
    silent = {variational(toy, progress=progress, iter=100).elbo for progress in (None, False)}
    assert capsys.readouterr() == ("", "")
    with_bar = variational(toy, progress=True, iter=100).elbo
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("Pathfinder 0 of ") and silent == {with_bar}


def test_a_setting_out_of_range_is_refused_before_anything_is_shown(toy, capsys):
    with pytest.raises(InferenceError, match="iter = 0"):
        variational(toy, progress=True, iter=0)
    assert capsys.readouterr() == ("", "")
