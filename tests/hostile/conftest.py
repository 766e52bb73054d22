"""The hostile trial: kills, full disks, signals, broken files; a sample, or with --whole all of it.

Tests note how many cases they tried under a name; the end of the report counts them by name.
"""

from collections import Counter

import pytest


@pytest.fixture
def sample(request):
    """Of a list of cases so many, evenly spread and the last among them; all with --whole."""

    def chosen(cases, most):
        cases = list(cases)
        if request.config.getoption("whole") or len(cases) <= most:
            return cases
        return [cases[-1 - k * len(cases) // most] for k in range(most)]

    return chosen


@pytest.fixture
def tried(record_property):
    """Notes that so many cases of a kind were tried."""
    return lambda kind, n: record_property("tried", (kind, n))


def pytest_terminal_summary(terminalreporter):
    counts = Counter()
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in report.user_properties:
            if name == "tried" and report.when == "call":
                counts[value[0]] += value[1]
    for kind, n in sorted(counts.items()):
        terminalreporter.write_line(f"hostile trial: {n:6} {kind}")
