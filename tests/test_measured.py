"""Measured figures stand in README.md and in pages as the committed results of benchmarks have them."""

import re

import pytest

from ppl.cli.site.site import written
from tests.benchmarks.measured import MARKED, RESULTS, ROOT, TEXTS, filled, main, results

CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
FIGURE = re.compile(
    r"\d\s(?:ms|MB|milliseconds?|microseconds?|µs|s of CPU|CPU s|s of processor|times as (?:fast|long))\b"
)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_figures_are_those_of_the_results(path):
    text = path.read_text("utf-8")
    assert filled(text, results()) == text, "python -m tests.benchmarks.measured"
    if path.parent != RESULTS.parent:
        unmarked = CODE.sub("", MARKED.sub("", text))
        assert FIGURE.findall(unmarked) == [], "put figures between markers, with their result"


def test_every_result_says_where_it_is_from_and_is_shown():
    shown = {
        reference.partition("; ")[0]
        for p in TEXTS
        for _, reference, *_ in MARKED.findall(p.read_text("utf-8"))
    }
    assert shown == {*results()}
    for name, result in results().items():
        assert {*result} == {"command", "date", "commit", "machine", "columns", "rows"}, name
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", result["date"]) and re.fullmatch(
            "[0-9a-f]{7,}", result["commit"]
        )
        assert {*map(len, result["rows"])} == {len(result["columns"])}, name


def test_a_table_that_a_benchmark_prints_is_recorded_and_shown(tmp_path, monkeypatch):
    from tests.benchmarks import measured

    page = tmp_path / "page.md"
    page.write_text(
        "<!-- measured: speed; b; s -->9<!-- /measured --> <!-- measured: speed; *; s --><!-- /measured -->\n"
    )
    monkeypatch.setattr(measured, "RESULTS", tmp_path)
    monkeypatch.setattr(measured, "TEXTS", (page,))
    measured.record(
        "speed", "| what | s |\n| --- | --- |\n| a | 1,200 |\n| b | 3.5 |\n| c | |\n", "python -m speed"
    )
    main([])
    assert MARKED.findall(page.read_text("utf-8"))[0][2] == "3.5"
    assert MARKED.findall(page.read_text("utf-8"))[1][2] == "3.5 to 1,200"
    assert measured.results()["speed"]["command"] == "python -m speed"


def test_pages_of_the_terminal_have_no_marks():
    assert not any("<!--" in page.text for page in written().values())
