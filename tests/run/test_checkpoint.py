"""Ctrl-C at any moment leaves a result, and a run that goes on ends in the bytes of one never interrupted."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from toy_targets import Funnel

from ppl.errors import DataError
from ppl.kernel.advi.outcome import Ending
from ppl.kernel.advi.target import Target
from ppl.methods.moves.ending import moved
from ppl.methods.recipes import RECIPES, fit
from ppl.methods.run.settings import Settings
from ppl.methods.run.settings import Settings as RunSettings
from ppl.results.fits.fit import variational
from ppl.run.checkpoint import Checkpoint, CheckpointOptions, as_text, journal_of, owner_of, stages_of
from ppl.run.checksum import with_checksum

SHORT = {"iter": 300, "eval_elbo": 20, "adapt_iter": 5, "elbo_samples": 10, "draws": 20, "grad_samples": 2}
ALGORITHMS = [name for name in RECIPES if name not in ("dsvi-ard", "nested")]  # nested needs a field


class Counted(Target):
    """A skewed target of two dimensions that counts its evaluations, and raises Ctrl-C at one of them."""

    dim = 2

    def __init__(self, stop_at=None):
        self.calls, self.stop_at = 0, stop_at

    def log_density(self, u):
        return self.log_density_gradient(u)[0]

    def log_density_gradient(self, u):
        self.calls += 1
        if self.calls == self.stop_at:
            raise KeyboardInterrupt
        off = np.array([u[0] - 1.0, u[1] - 0.5 * u[0]])
        slope = -off - np.array([0.1 * u[0] ** 3, 0.0])
        slope[0] += 0.5 * off[1]
        return -0.5 * float(off @ off) - 0.025 * u[0] ** 4, slope

    def explain(self, u):
        return ""


def journal(text=None):
    """An empty journal, or one that was read from a file's text."""
    stages = stages_of(json.loads(text)) if text else {}
    return Checkpoint(Path("never written"), every=np.inf, stages=stages)


@pytest.mark.rotate
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_run_stopped_anywhere_leaves_a_result_and_goes_on_to_the_same_bytes(algorithm, pytestconfig):
    """At 5 moments, at 20 with --whole."""
    settings = Settings(algorithm=algorithm, **SHORT)
    whole = Counted()
    expected = fit(whole, settings)
    assert expected.outcome.ending is not Ending.INTERRUPTED
    endings, moments = set(), 20 if pytestconfig.getoption("whole") else 5
    for stop_at in np.unique(np.geomspace(20, whole.calls, moments).astype(int)):
        written = journal()
        stopped = fit(Counted(stop_at), settings, journal=written)
        assert stopped.outcome.ending is Ending.INTERRUPTED
        assert len(stopped.draws_u) and np.isfinite(stopped.draws_u).all()
        endings.add(stopped.outcome.reason)
        after = Counted()
        resumed = fit(after, settings, journal=journal(as_text({}, written.stages)))
        assert resumed.draws_u.tobytes() == expected.draws_u.tobytes()
        assert resumed.params.tobytes() == expected.params.tobytes()
        assert resumed.outcome == expected.outcome and resumed.notes == expected.notes
        assert [point.elbo for point in resumed.path.trace] == [point.elbo for point in expected.path.trace]
        assert after.calls <= whole.calls
    assert len(endings) > 1


def test_chains_go_on_in_coordinates_of_funnels_to_the_same_bytes():
    """From a stage after necks were found."""
    starts, written = np.random.default_rng(1).standard_normal((128, 6)), journal()

    def until_stopped(stop_at, own):
        states = iter(range(100))

        def listen(progress):
            if next(states) == stop_at:
                raise KeyboardInterrupt

        return moved(Funnel(), starts, np.random.default_rng(2), 100_000, listen, journal=own)

    expected = until_stopped(-1, journal())
    with pytest.raises(KeyboardInterrupt):
        until_stopped(6, written)
    text = as_text({}, written.stages)
    assert expected.funnels and '"Necks"' in text
    resumed = until_stopped(-1, journal(text))
    assert resumed.u.tobytes() == expected.u.tobytes() and resumed.gradients == expected.gradients


def test_a_run_goes_on_with_any_number_of_cores(toy, tmp_path):
    keep, owner = CheckpointOptions(tmp_path / "fit.checkpoint.json", every=0), partial(owner_of, toy)
    journal_of(keep, Settings(cores=1), owner).record("start", None)
    resumed = journal_of(replace(keep, resume=True), Settings(cores=7), owner)
    assert list(resumed.stages) == ["start"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not a checkpoint"),
        ("[1]", 'lacks "format"'),
        ('{"format": "ppl checkpoint 2", "stages": {}}', "is damaged"),
        (json.dumps(with_checksum({"format": "ppl checkpoint 2", "stages": {}})), "is damaged"),
    ],
)
def test_a_file_that_is_no_checkpoint_is_refused(toy, tmp_path, text, why):
    left = tmp_path / "left"
    left.write_text(text)
    with pytest.raises(DataError, match=why):
        variational(toy, iter=100, checkpoint=left, resume=True)


def test_a_checkpoint_of_other_data_is_refused(toy, tmp_path):
    left = tmp_path / "left"
    written = journal_of(CheckpointOptions(left), RunSettings(), partial(owner_of, toy))
    written.record("start", 1.0)
    written.write()
    other = replace(toy, data={"N": 2, "y": [1.0, 3.0]})
    with pytest.raises(DataError, match="was fitted with other data"):
        variational(other, checkpoint=left, resume=True)
