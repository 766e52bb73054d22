import pytest
from rich.console import Console

from ppl.cli.progress import duration, line, shown
from ppl.inference.progress import Progress


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.6, "1 min 00 s"), (125, "2 min 05 s"), (7800, "2 h 10 min")]
)
def test_duration(seconds, text):
    assert duration(seconds) == text


def test_line_leaves_out_what_is_not_known_yet():
    first = line(Progress("optimise", 100, 10_000, -34.123), None)
    assert first == "optimise   100 of 10000   ELBO -34.12"
    later = line(Progress("optimise", 200, 10_000, -34.1, 0.0125, 0.008), 3.2)
    assert later.endswith("change 0.0125 mean, 0.008 median   at most 3 s left")


def test_a_candidate_that_blew_up_fits_on_its_line():
    assert line(Progress("eta search", 50, 250, -6e300), None) == "eta search  50 of 250   ELBO -6e+300"


def test_a_terminal_gets_one_line_that_goes_away():
    console = Console(force_terminal=True, width=100, color_system=None, record=False)
    with console.capture() as capture, shown(console, 100) as listen:
        listen(Progress("optimise", 100, 200, -1.0))
        listen(Progress("optimise", 200, 200, -0.5))
    assert "\x1b[2K" in capture.get()


def test_a_note_is_said_once():
    console = Console(force_terminal=False, width=200)
    with console.capture() as capture, shown(console, 1000) as listen:
        for iteration in (100, 200, 300):
            listen(Progress("optimise", iteration, 400, -1.0, note="may be diverging"))
    assert capture.get().count("may be diverging") == 1


def test_refresh_0_shows_nothing():
    console = Console(force_terminal=False)
    with console.capture() as capture, shown(console, 0) as listen:
        listen(Progress("optimise", 100, 200, -1.0))
    assert capture.get() == ""
