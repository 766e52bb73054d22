"""The code of a page of the site in a test."""

import pytest

from ppl.cli.site.running import expected_outputs, run
from tests.shown import agrees


def run_page(text: str) -> None:
    """Runs every block; the output of each is the one below it, where the page has one."""
    pytest.importorskip("matplotlib")
    found = [output.text for output in run(text)]
    for expected, printed in zip(expected_outputs(text), found, strict=True):
        assert not expected or agrees(expected, printed), f"{printed}\nbut the page shows\n{expected}"
