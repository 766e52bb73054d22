"""What counts as the same output."""

import pytest

from tests.shown import agrees

TABLE = "      mean    sd\nmu   -4.10  1.00\ntau   3.60  0.30\n\ngood: R-hat 1.003\n"


@pytest.mark.parametrize(
    "shown",
    [
        TABLE,
        TABLE.replace("-4.10", "-4.2").replace("  ", " "),
        "...\ntau 3.5 0.3\n...",
        "mean sd\n...",
        "...\n",
        "mean sd\n...\n...\ngood: R-hat 1.003",
        "mean sd mu ... tau ... 0.3 good: R-hat ...",
    ],
)
def test_the_same(shown):
    assert agrees(shown, TABLE)


@pytest.mark.parametrize(
    "shown",
    [
        "",
        TABLE.replace("-4.10", "4.10"),
        TABLE.replace("3.60", "3.90"),
        TABLE.replace("good", "usable"),
        TABLE.replace("tau", "mu"),
        TABLE + "more",
        "mean sd",
        "...\ngood",
        "mean sd mu -4.1 1.00 tau ... mu ...",
        "mean sd mu ... 0.3 ... mean",
        "...\ntau 3.5 0.3",
    ],
)
def test_another(shown):
    assert not agrees(shown, TABLE)
