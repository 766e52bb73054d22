"""What the tables of a run say of several seeds and of costs beside NUTS."""

from tests.benchmarks.tail.table import ratios, table


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


def test_ratios_are_of_programs_that_nuts_sampled_the_dearest_first_where_it_takes_long() -> None:
    def run(engine: str, name: str, cpu: float, level: str = "good") -> dict:
        return {"engine": engine, "name": name, "seed": 1, "cpu": cpu, "parameters": 40, "level": level}

    costs = {"walk": (45.0, 30.0), "gev": (1.0, 2.0), "meta0": (1.5, 1.0)}
    both = [
        run(engine, name, cpu)
        for name, pair in costs.items()
        for engine, cpu in zip(("fit", "nuts"), pair, strict=True)
    ]
    refused = [run("fit", "pk", 9.0), run("nuts", "pk", 0.3, "failed")]
    _, _, *rows = ratios([*both, *refused])
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    last = {row[0]: row[-1] for row in cells[:5]}
    assert last["median of 3"] == "1.50" and last["median of 2 where NUTS takes 2 s or more"] == "1.00"
    assert last["largest there"] == "1.50" and last["fits above 30 s"] == "1"
    assert [row[0] for row in cells[5:]] == ["walk", "gev"]
