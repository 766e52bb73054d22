"""A multivariate normal of which some entries are given: the density of these, draws of the others.

Gelman et al. (2013), "Bayesian Data Analysis", appendix A.1, conditional distributions.
"""

from ppl.kernel.language import ast
from ppl.kernel.language.parser import parse
from ppl.programs.entries import DistributedEntry
from ppl.programs.rewriting import expr
from ppl.records import dataclass, replace
from ppl.source import SourceText

FUNCTIONS = """
functions {
  array[] int NAME_at(array[] int given, int value) {
    array[size(given)] int at;
    int n = 0;
    for (k in 1:size(given)) if (given[k] == value) { n += 1; at[n] = k; }
    return at[1:n];
  }
  real NAME_lpdf(vector y, array[] int given, vector mu, matrix S) {
    array[sum(given)] int g = NAME_at(given, 1);
    return multi_normal_lpdf(y[g] | mu[g], S[g, g]);
  }
  vector NAME_rng(vector y, array[] int given, vector mu, matrix S) {
    int G = sum(given);
    int M = size(given) - G;
    array[G] int g = NAME_at(given, 1);
    array[M] int m = NAME_at(given, 0);
    matrix[M, G] gain = mdivide_right_spd(S[m, g], S[g, g]);
    matrix[M, M] C = S[m, m] - gain * S[g, m];
    vector[size(given)] out = y;
    out[m] = multi_normal_rng(mu[m] + gain * (y[g] - mu[g]), 0.5 * (C + C'));
    return out;
  }
  vector NAME_mean(vector y, array[] int given, vector mu, matrix S) {
    array[sum(given)] int g = NAME_at(given, 1);
    array[size(given) - sum(given)] int m = NAME_at(given, 0);
    vector[size(given)] out = mu;
    if (size(g) > 0 && size(m) > 0)
      out[m] += mdivide_right_spd(S[m, g], S[g, g]) * (y[g] - mu[g]);
    return out;
  }
}
"""
COVARIANCES = {
    "multi_normal": "S",
    "multi_normal_cholesky": "multiply_lower_tri_self_transpose(S)",
    "multi_normal_prec": "inverse_spd(S)",
}
"""The covariance, of the second parameter of each distribution."""


@dataclass(frozen=True)
class PartialNormal:
    """`name` is what the functions are called by."""

    name: str

    @property
    def functions(self) -> tuple[ast.FunctionDef, ...]:
        return parse(SourceText(FUNCTIONS.replace("NAME", self.name))).functions

    @staticmethod
    def takes(d: DistributedEntry) -> bool:
        return d.name in COVARIANCES

    def conditional(self, entry: ast.Expr, flags: ast.Expr, d: DistributedEntry) -> tuple[ast.Expr, ast.Expr]:
        """All entries, those that are not given drawn; the log density of those that are given."""
        return self.called("rng", ",", entry, flags, d), self.called("lpdf", "|", entry, flags, d)

    def mean(self, entry: ast.Expr, flags: ast.Expr, d: DistributedEntry) -> ast.Expr:
        """The mean of each entry: of those that are not given, given the others."""
        return self.called("mean", ",", entry, flags, d)

    def called(
        self, suffix: str, bar: str, entry: ast.Expr, flags: ast.Expr, d: DistributedEntry
    ) -> ast.Expr:
        mu, scale = d.args
        covariance = expr(COVARIANCES[d.name], entry.span, S=scale)
        parts = {"y": entry, "f": flags, "mu": mu, "S": covariance}
        call = expr(f"any_{suffix}(to_vector(y) {bar} f, to_vector(mu), S)", entry.span, **parts)
        assert isinstance(call, ast.Call)
        return replace(call, name=f"{self.name}_{suffix}")
