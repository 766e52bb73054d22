"""Random small programs with discrete parameters, and data for them."""

from typing import Any

import numpy as np

from ppl.records import dataclass, field


@dataclass(frozen=True)
class Family:
    """A discrete parameter: its shape, and its values from `lower` on."""

    name: str
    shape: tuple[int, ...]
    lower: int
    count: int

    @property
    def entries(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    @property
    def upper(self) -> int:
        return self.lower + self.count - 1

    def declared(self, sizes: bool) -> str:
        dims = (
            f"array[{', '.join(self.size(k, sizes) for k in range(len(self.shape)))}] " if self.shape else ""
        )
        return f"{dims}int<lower={self.lower}, upper={self.upper}> {self.name};"

    def size(self, k: int, sizes: bool) -> str:
        """A size as the name of a datum, or as a literal."""
        return f"N{self.shape[k]}" if sizes else str(self.shape[k])

    def position(self, entry: str) -> str:
        return entry if self.lower == 1 else f"{entry} + {1 - self.lower}"


@dataclass
class Program:
    """A program being made; `sizes` says whether sizes are data."""

    rng: np.random.Generator
    families: list[Family] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    tp: list[str] = field(default_factory=list)
    sizes: bool = True

    def pick(self, options: list[Any]) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def entry(self, f: Family, loops: dict[int, str]) -> str:
        """An entry at loop variables where there is one of its size, else at a literal or by data."""
        if not f.shape:
            return f.name
        at = []
        for n in f.shape:
            kind = self.rng.integers(4)
            if n in loops and kind < 3:
                at.append(loops[n] if kind < 2 else f"g{n}[{loops[n]}]")
            else:
                at.append(str(self.rng.integers(1, n + 1)))
        return f"{f.name}[{', '.join(at)}]"

    def value(self, loops: dict[int, str]) -> str:
        """A real that depends on one or two discrete entries."""
        f = self.pick(self.families)
        e = self.entry(f, loops)
        other = self.pick(self.families)
        o = self.entry(other, loops)
        options = [
            f"a * {e}",
            f"mu[{f.position(e)}]",
            f"M[{f.position(e)}, {other.position(o)}]",
            f"({e} == {f.lower} ? a : 0.3 * b)",
            f"0.2 * {e} * {o} + b",
            f"mu[{f.position(e)}] * {o}",
            f"({e} > {o} ? a : mu[{other.position(o)}])",
            f"binomial_lpmf({e} + {abs(f.lower)} | {f.count + 2}, inv_logit(a))",
        ]
        return str(self.pick(options))

    def statement(self) -> str:
        kinds = [
            "loop",
            "loop",
            "loop",
            "plain",
            "either",
            "until",
            "chain",
            "pairs",
            "if",
            "local",
            "vector",
            "nested",
            "whole",
            "guard",
        ]
        kind = self.pick(kinds)
        arrays = [f for f in self.families if f.shape]
        if kind in ("chain", "pairs", "vector", "nested", "whole") and not arrays:
            kind = "plain"
        n = self.pick([s for f in arrays for s in f.shape]) if arrays else 3
        size = f"N{n}" if self.sizes else str(n)
        loops = {n: "i"}
        match kind:
            case "plain":
                return f"target += {self.value({})};"
            case "loop":
                return f"for (i in 1:{size}) {{ x{n}[i] ~ normal({self.value(loops)}, 1.3); }}"
            case "either":
                cond = f"{self.entry(self.pick(self.families), loops)} > 0"
                return (
                    f"for (i in 1:{size}) {{ if ({cond}) x{n}[i] ~ normal(a, 1);"
                    f" else {{ target += 0.1 * b; x{n}[i] ~ normal(mu[1], 2); }} }}"
                )
            case "until":
                e = self.entry(self.pick(self.families), {})
                inside = f"x{n}[i] ~ normal(a, 1.5); target += 0.1 * i * b;"
                return f"for (i in 1:min({size}, {e} + 1)) {{ {inside} }}"
            case "guard":
                return f"for (i in 1:{size}) if (x{n}[i] > 0) target += x{n}[i] * ({self.value(loops)});"
            case "if":
                f = self.pick(self.families)
                cond = f"{self.entry(f, loops)} > {f.lower}"
                return (
                    f"for (i in 1:{size}) {{ if ({cond}) x{n}[i] ~ normal({self.value(loops)}, 1);"
                    f" else target += {self.value(loops)}; }}"
                )
            case "local":
                return (
                    f"for (i in 1:{size}) {{ real q = {self.value(loops)}; real r = 0.4 * b;"
                    f" x{n}[i] ~ normal(q * r, 1.1); }}"
                )
        f = self.pick(arrays)
        k = int(self.rng.integers(len(f.shape)))
        n = f.shape[k]
        size = f"N{n}" if self.sizes else str(n)

        def at(index: str) -> str:
            rest = [str(self.rng.integers(1, m + 1)) for m in f.shape]
            rest[k] = index
            return f"{f.name}[{', '.join(rest)}]"

        match kind:
            case "chain":
                i, j = f.position(at("i")), f.position(at("i - 1"))
                return f"for (i in 2:{size}) target += M[{j}, {i}] * {self.pick(['1', f'x{n}[i]', 'b'])};"
            case "pairs":
                return f"for (i in 1:{size}) for (j in 1:{size}) target += 0.1 * a * {at('i')} * {at('j')};"
            case "nested":
                here, there = at("1 + (i > 1 ? 1 : 0) * 0"), at(f"1 + abs({at('i')}) % {n}")
                return f"for (i in 1:{size}) target += 0.2 * x{n}[i] * {here} + 0.1 * {there};"
            case "whole":
                return f"target += 0.1 * a * sum({f.name if len(f.shape) == 1 else f.name + '[1]'});"
            case _:
                one = f.name if len(f.shape) == 1 else f"{f.name}[{self.rng.integers(1, f.shape[0] + 1)}]"
                last = f.shape[-1]
                if f.lower == 1:
                    return f"x{last} ~ normal(mu[{one}], 1.2);"
                if f.lower == 0:
                    return f"{one} ~ binomial({f.upper}, inv_logit(b));"
                return f"target += normal_lpdf(x{last} | a * to_vector({one}), 1);"


def random_program(seed: int) -> tuple[str, dict[str, Any]]:
    """A program of at most 8 entries with at most 4 values each, and its data."""
    rng = np.random.default_rng([27, seed])
    p = Program(rng, sizes=bool(rng.integers(4)))
    most = 700
    configurations = 1
    for name in ["z", "w", "s"][: int(rng.integers(1, 4))]:
        shape = [(), (2,), (3,), (4,), (5,), (2, 2), (2, 3), (8,)][int(rng.integers(8))]
        lower, count = int(rng.integers(-1, 2)), int(rng.integers(2, 5))
        f = Family(name, shape, lower, count)
        while count > 2 and configurations * count**f.entries > most:
            count -= 1
            f = Family(name, shape, lower, count)
        if configurations * count**f.entries > most or sum(g.entries for g in p.families) + f.entries > 8:
            continue
        configurations *= count**f.entries
        p.families.append(f)
    if not p.families:
        p.families.append(Family("z", (3,), 1, 3))
    for _ in range(int(rng.integers(2, 6))):
        p.body.append(p.statement())
    lengths = sorted({n for f in p.families for n in f.shape} | {3})
    data: dict[str, Any] = {}
    declared = []
    for n in lengths:
        declared += [f"int N{n};", f"vector[{n}] x{n};", f"array[{n}] int<lower=1, upper={n}> g{n};"]
        data |= {
            f"N{n}": n,
            f"x{n}": rng.normal(size=n).tolist(),
            f"g{n}": rng.integers(1, n + 1, n).tolist(),
        }
    arrays = [f for f in p.families if len(f.shape) == 1]
    generated = f"generated quantities {{ int total = sum({arrays[0].name}); }}" if arrays else ""
    text = "\n".join(
        [
            "data {",
            *(f"  {d}" for d in declared),
            "}",
            "parameters {",
            "  real a; real b; vector[6] mu; matrix[6, 6] M;",
            *(f"  {f.declared(p.sizes)}" for f in p.families),
            "}",
            "model {",
            "  a ~ normal(0, 1); b ~ normal(0, 1); mu ~ normal(0, 1); to_vector(M) ~ normal(0, 1);",
            *(f"  {s}" for s in p.body),
            "}",
            generated,
        ]
    )
    return text, data
