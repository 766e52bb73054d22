"""Misspelt names: the lengths of names rule most out, and change no answer."""

import difflib
import random

from ppl.spelling import fold, nearest


def test_the_nearest_name_is_that_of_difflib():
    rng = random.Random(1)

    def word():
        return "".join(rng.choice("abX_") for _ in range(rng.randint(1, 9)))

    answers = set()
    for _ in range(500):
        name, names, cutoff = word(), [word() for _ in range(5)], rng.choice((0.6, 0.7, 0.75))
        folded = {fold(each): each for each in names}
        close = difflib.get_close_matches(fold(name), folded, n=1, cutoff=cutoff)
        answers.add(answer := nearest(name, names, cutoff))
        assert answer == (folded[close[0]] if close else None)
    assert None in answers and len(answers) > 100
