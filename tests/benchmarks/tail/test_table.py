"""What the table of a run says of several seeds."""

from tests.benchmarks.tail.table import table


def fit(seed: int, cpu: float, mean: float, low: float) -> dict:
    errors = {"mean": (mean, "a"), "q05": (0.1, "a"), "q95": (-0.3, "b")}
    ratios = {"low": (low, "a"), "high": (1.05, "b")}
    said = {"level": "good", "path": "nested"}
    return {"engine": "fit", "name": "polls", "seed": seed, "cpu": cpu, **said, **errors, "ratios": ratios}


def test_costs_are_medians_and_errors_the_worst_of_seeds() -> None:
    late = {"engine": "nuts", "name": "polls", "seed": 1, "cpu": 300.2, "level": "too long"}
    seeds = [fit(1, 2.0, 0.05, 0.97), fit(2, 4.0, -0.2, 0.91), fit(3, 3.0, 0.1, 0.99)]
    *_, row = table([*seeds, late])
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:7] == ["polls", "3.0", "", "good, nested", "0.20", "0.91 to 1.05", "0.30"]
    assert cells[7:] == ["300.2", "", "too long", "", "", ""]
