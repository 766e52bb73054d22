import pytest

from ppl.kernel.advi.outcome import ADVICE, Ending, Outcome


@pytest.mark.parametrize("ending", Ending)
def test_every_ending_has_a_sentence_that_says_what_to_do(ending):
    sentence = Outcome(ending, "for a reason.").sentence
    assert sentence.startswith(ending.value.capitalize() + ": for a reason. ")
    assert sentence.endswith(ADVICE[ending]) and ADVICE[ending].endswith(".")


def test_only_convergence_counts_as_converged():
    assert [e for e in Ending if Outcome(e, "").converged] == [Ending.CONVERGED]
