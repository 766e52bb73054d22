"""Small loops of every shape: what they say, and what becomes of each."""

import numpy as np

from ppl.records import dataclass

HEADER = """
functions {{ {functions} }}
data {{
  int N, M, K;
  vector[N] x;
  vector[M] s;
  vector[0] none;
  array[N] int k;
  array[N] int<lower=1, upper=3> g;
  array[N] int<lower=0> J;
  matrix[N, K] X;
}}
parameters {{
  real z;
  vector[3] v;
  real<lower=0> t;
}}
transformed parameters {{ {transformed} }}
model {{
  z ~ std_normal();
  {model}
}}
generated quantities {{ {generated} }}
"""

_RNG = np.random.default_rng(0)
DATA = {
    "N": 6,
    "M": 3,
    "K": 2,
    "x": _RNG.normal(size=6).round(2),
    "s": [1.5, -0.5, 0.25],
    "none": [],
    "k": [0, -7, 3, 5, -2, 4],
    "g": [1, 3, 2, 2, 1, 3],
    "J": [2, 0, 3, 1, 0, 2],
    "X": _RNG.normal(size=(6, 2)).round(2),
}
U = np.array([0.7, 0.3, -0.4, 1.1, 0.2])


CUBIC = """real cubic(real a, real b) { real c = a * a; return c * a + a - b; }
    real slope(real a) { return 3 * a * a + 1; }"""


@dataclass(frozen=True)
class Loop:
    """A piece of a model block; `left` says of each outermost loop why it stays, "" when it is gone.

    "scan: " before the reason says that only its state is left in order.
    """

    id: str
    model: str
    left: tuple[str, ...] = ("",)
    functions: str = ""
    transformed: str = ""
    generated: str = ""

    @property
    def text(self) -> str:
        return HEADER.format(**self.__dict__)


TWICE = "vector twice(real a) { return [a, 2 * a]'; }"
PICKY = "real picky(real a, int i, vector w) { if (i > 2) return a * w[2]; return w[1] * i; }"
PARTIAL = """real partial(vector a, real b) {
    real o = 0; vector[size(a)] c;
    for (i in 1:size(a)) c[i] = a[i] * b;
    for (i in 1:size(a)) { if (a[i] > 1) return o; o += c[i]; }
    return o;
  }"""

LOOPS = (
    # Rows and gathers
    Loop("rows", "for (n in 1:N) x[n] ~ normal(z, t);"),
    Loop("gather", "for (n in 1:N) x[n] ~ normal(v[g[n]], t);"),
    Loop("matrix rows", "for (n in 1:N) target += normal_lpdf(X[n] | z, t) + X[n] * X[n]' * z;"),
    Loop("matrix density", "for (n in 1:N) X[n] ~ multi_normal(v[1:2], [[2, z / 9], [z / 9, 1]]);"),
    Loop("invariant", "for (n in 1:N) target += z; for (n in 1:N) v ~ normal(z, 1);", ("", "")),
    Loop("invariant container", "for (n in 1:N) target += v;", ("a container that does not vary",)),
    Loop("negative range", "for (n in -1:1) target += n * z * t;"),
    Loop("truncation", "for (n in 1:N) x[n] ~ normal(z, t) T[-5, ];"),
    Loop("user function", "for (n in 1:N) target += picky(x[n], k[n], v);", functions=PICKY),
    Loop("literals", "for (n in 1:N) target += log_sum_exp({z * x[n], t, x[n]}) + [x[n], 1, z] * v;"),
    Loop("matrix literal", "for (n in 1:N) target += log_determinant([[3, x[n]], [z, 1 + t]]) * z;"),
    Loop("ranges", "for (n in 1:N) target += sum(x[1:n]) * z;"),
    Loop("cdf of containers", "for (n in 1:N) target += log(normal_cdf(v * x[n] | z, t));"),
    Loop("for each", "for (q in x) target += q * z;"),
    Loop("for each of a matrix", "for (q in X) target += q * z;"),
    Loop("for each expression", "for (q in {v, v * z}) target += sum(q) * z;"),
    Loop("for each changed", "vector[N] a = x; for (q in a) { a[1] = z; target += q * a[1]; }",
         ("scan: `a` is filled by one iteration",)),
    # Integers and truth values
    Loop("int division", "for (n in 1:N) target += z * (k[n] / 2) + t * (k[n] % 3) + (k[n] %/% 4) * v[1];"),
    Loop("comparisons add",
         "for (n in 1:N) target += z * ((k[n] > 0) + (k[n] > 3)) - t * (-(x[n] > 0)) + !k[n];"),
    Loop("int locals", "for (n in 1:N) { int i = k[n] > 2 && x[n] > 0; i = -i; target += i * z; }"),
    Loop("int index",
         "for (n in 1:N) { int i = 1; if (k[n] > 0) i = 2; if (k[n] > 3) i += 1; target += v[i]; }"),
    # Locals
    Loop("local", "for (n in 1:N) { real m = z + x[n]; m *= t; target += m ^ 2; }"),
    Loop("local vector", "for (n in 1:N) { vector[2] w = X[n]' * z; w[1] += w[2]; target += w[1] * t; }"),
    Loop("local int array",
         "for (n in 1:N) { array[2] int a = {k[n], 2}; target += a[1] * z + sum(a) * t; }"),
    Loop("unset local", "for (n in 1:N) { real a; if (x[n] > -100) a = x[n]; target += a * z; }"),
    Loop("unset local is nan", "for (n in 1:N) { real a; if (x[n] > 0) a = x[n]; target += a * z; }"),
    Loop("size varies", "for (n in 1:N) { vector[n] a = v[{1, 2, 3}][1] + x[1:n]; target += sum(a) * z; }"),
    Loop("mixture", """for (n in 1:N) {
        vector[3] l; for (i in 1:3) l[i] = normal_lpdf(x[n] | v[i], t); target += log_sum_exp(l); }"""),
    Loop("copied, then changed", """for (n in 1:N) {
        row_vector[K] a = X[n] * z; vector[K] b = a'; b[1] = 9; target += a[1] * z; }"""),
    Loop("read back after its index changed", """vector[N] w = x; vector[N] a; for (n in 1:N) w[n] = n * z;
      for (n in 1:N) { int i = n; w[i] = z * z * n; i = N + 1 - n; a[n] = w[i] * n; }
      target += sum(a) * t;""", ("", "scan: `w` may get two values")),
    Loop("read back after another entry", """for (n in 1:N) { vector[3] w = v; int i = g[n];
        w[2] = x[n] * t; w[i] = z * x[n]; target += w[2] ^ 2; }"""),
    # Nests
    Loop("ragged nest", "for (n in 1:N) for (i in 1:J[n]) target += v[i] * x[n] * z;"),
    Loop("triangle", "for (i in 1:2) for (j in (i + 1):3) target += v[i] * s[j] * z;"),
    Loop("three deep", """for (n in 1:N) {
        real q = x[n];
        for (i in 1:J[n]) {
          real r = q * v[i];
          for (j in i:3) { target += r * q * s[j]; if (j > 2) target += r; }
        }
      }"""),
    Loop("inner sum", "for (n in 1:N) { real a = 0; for (i in 1:3) a += v[i] * x[n]; target += a ^ 2; }"),
    Loop("ragged inner sum",
         "for (n in 1:N) { real a = 0; for (i in 1:J[n]) a += v[i] * x[n]; target += a ^ 2; }",
         ("",)),
    Loop("inner sums of sums", """for (n in 1:N) {
        real a = 0; real b = 0;
        for (i in 1:J[n]) { for (j in i:3) a += s[j] * v[i]; b += v[i] * x[n]; }
        target += a * b;
      }"""),
    Loop("inner sum that is read on the way", """for (n in 1:N) {
        real a = 0; real b = 0; for (i in 1:J[n]) { for (j in i:3) a += s[j] * z; b += a; } target += a * b;
      }"""),
    Loop("read back in an inner loop that stays", """vector[N] w;
      for (n in 1:N) { w[n] = z * n; for (i in 1:M) w[n] += normal_lpdf(s[i] | w[n], t); }
      target += sum(w);"""),
    Loop("lags that the last step has not", """matrix[N, 2] w = rep_matrix(0, N, 2);
      for (n in 1:N) {
        for (i in 1:(n < N ? 2 : 0)) w[n + 1, i] = z * x[n];
        target += w[n] * v[1:2]; }""", ("`w` is filled by one iteration", "")),
    Loop("inner recurrence", """for (n in 1:N) {
        vector[3] a = v; for (i in 2:3) a[i] = a[i - 1] * x[n]; target += sum(a); }"""),
    # Branches
    Loop("if on data", "for (n in 1:N) { if (x[n] > 0) target += x[n] * z; else target += t; }"),
    Loop("if on parameters", """for (n in 1:N)
        if (z * x[n] > 0) target += z * x[n] ^ 2; else if (x[n] > 0.1) target += t; else target += -z;"""),
    Loop("if the same for all", "for (n in 1:N) if (M > 2) target += x[n] * z; else target += none[1];"),
    Loop("if the same for all, on parameters", """for (n in 1:N)
        if (z > 2) target += x[n] * z; else { real q = x[n]; target += q * t; }"""),
    Loop("ternary", "for (n in 1:N) target += x[n] > 0 ? s[n > M ? 1 : n] * z : t;"),
    Loop("ternary of containers", "for (n in 1:N) target += x[n] > 0 ? v : v[{3, 2, 1}] * z;",
         ("a ternary chooses between containers",)),
    Loop("a loop over one range in a branch, with a branch", """for (n in 1:3) { real a = z * x[n] + v[n];
        if (v[n] > 0) for (i in 1:3) if (v[i] > x[n]) target += a * s[i]; }"""),
    Loop("the same in iterations of one size", """for (n in 1:3) { int i = z > 0 ? g[n] : 1;
        for (m in 1:3) if (v[m] > v[n]) target += m * dot_self(v[1:i]); }"""),
    Loop("continue", "for (n in 1:N) { if (x[n] > 0) continue; target += 2 * z * x[n]; }"),
    Loop("continue in an if", """for (n in 1:N) {
        if (x[n] > -1) { if (x[n] > 0) continue; target += z; } target += 2 * z * x[n]; }"""),
    Loop("continue in a profile", """for (n in 1:N) {
        profile("a") { if (x[n] > 0) continue; } target += 2 * z * x[n]; }"""),
    Loop("continue of an inner loop", """for (n in 1:N) {
        for (i in 1:3) { if (v[i] > x[n]) continue; target += x[n] * v[i] * z; } target += z; }"""),
    Loop("continue in an inner sum", """for (n in 1:N) {
        real a = 0; for (i in 1:3) { if (i == 2) continue; a += x[n] * v[i]; } target += a * z; }"""),
    Loop("break", "for (n in 1:N) { if (k[n] > 3) break; target += x[n] * z; }"),
    Loop("break at a sentinel", """for (n in 1:100) {
        int i = k[n]; if (x[n] < -50) continue; if (i == 3) { target += t; break; }
        target += x[n] * z * i; }"""),
    Loop("break that parameters decide",
         "for (n in 1:N) { if (x[n] * z > 0.3) break; target += x[n] * t; }", ("`break`",)),
    Loop("break by what was added up",
         "real a = 0; for (n in 1:N) { a += x[n] * z; if (a > 0.2) break; target += a; }",
         ("`a` is carried",)),
    Loop("break of an inner loop", """for (n in 1:N)
        for (i in 1:3) { if (v[i] > x[n]) break; target += x[n] * v[i] * z; }"""),
    Loop("break of an inner loop, and continue", """for (n in 1:N) {
        if (k[n] == 3) continue; real a = 1;
        for (i in 1:J[n]) { if (i == 2) continue; a += v[i]; if (a > 1.2) break; a *= x[n]; }
        target += a * z; }"""),
    Loop("while",
         "for (n in 1:N) { int c = 0; while (c < 3) c += 1; target += c * x[n] * z; }"),
    Loop("while, as long as data say", """for (n in 1:N) { int i = 1; vector[3] w = v * t; real below = z;
        while (i <= J[n] && w[i] < 99) { w[i] += below; below = w[i] * x[n]; i += 1; }
        target += sum(w) * below; }"""),
    Loop("while, as long as parameters say", """for (n in 1:N) { real a = z + x[n]; int c = 0;
        while (a < 3) { if (a > 2.8) break; a += t + 0.3; c += 1; if (c > 20) break; }
        target += a * c * v[1]; }"""),
    Loop("while within while", """for (n in 1:N) { int i = 0; real a = x[n];
        while (i < J[n]) { int m = i; i += 1; while (m < 3) { m += 1; a += v[m] * z; } a *= t; }
        target += a; }"""),
    Loop("while that calls a function of what it changes", """for (n in 1:N) { real a = x[n]; int i = 0;
        while (i < 4) { a -= cubic(a, z) / slope(a); i += 1; } target += a * t; }""", functions=CUBIC),
    Loop("while as long as a function of what it changes says", """for (n in 1:N) { real a = x[n];
        while (abs(cubic(a, x[n])) > 1e-9) a -= cubic(a, x[n]) / slope(a); target += a * z; }""",
         functions=CUBIC),
    Loop("while that changes a variable outside", """vector[N] a = x * z; for (n in 1:N) { int i = 1;
        while (i <= J[n]) { a[n] += v[i] * a[n]; i += 1; } } target += square(a);"""),
    Loop("while that adds up for all", """real a = 0; for (n in 1:N) { int i = 0;
        while (i < J[n]) { i += 1; a += v[i] * x[n]; target += a > 1e9 ? 0 : v[i]; } } target += a;""",
         ("`a` is carried",)),
    Loop("while that only adds up", """real a = 0; for (n in 1:N) { int i = 0;
        while (i < J[n]) { i += 1; a += v[i] * x[n]; target += v[i]; } } target += a * t;"""),
    Loop("function that returns from a loop", "for (n in 1:N) target += found(x[n], v, z);",
         ("an effect", ""),
         functions="""real found(real a, vector b, real c) {
             for (i in 1:size(b)) { if (b[i] > a) return b[i] * c; } return a * c; }"""),
    Loop("function that returns from a while", "for (n in 1:N) target += worn(x[n], z, k[n]);",
         functions="""real worn(real a, real b, int k) { real c = a; int i = 0;
             while (1) { i += 1; if (i > k) return c * b; c *= b; if (c > 1) break; } return c + b; }"""),
    Loop("reject", """for (n in 1:N) { real a = z * x[n]; if (a > 50) reject("too much: ", a, " of ", n);
        target += a * t; }"""),
    Loop("fatal_error", """for (n in 1:N) { real a = z * x[n]; if (a > 50) fatal_error("too much: ", a, n);
        target += a * t; }"""),
    Loop("reject of the last", """for (n in 1:N) { real a = z * x[n];
        if (n == N) { for (i in 1:2) if (a > 50) reject("too much: ", a * i); } target += a * t; }"""),
    # Ranges and sizes of each iteration
    Loop("sums, products and log-sum-exps of ranges", """for (n in 1:N) {
        int i = g[n]; target += z * sum(v[i:3]) + prod(v[1:i]) * t + log_sum_exp(x[n:N] * z)
          + log_sum_exp(v[1:i]) + sum(X[n, i:2]) + prod(X[n, 1:(i - 1)]) * z; }"""),
    Loop("products of ranges of locals, in a nest", """for (n in 1:N) { vector[3] w = v * x[n];
        for (i in 1:J[n]) target += i > 1 ? prod(w[1:(i - 1)]) * z : log_sum_exp(w[i:3]); }"""),
    Loop("ranges in branches", """for (n in 1:N) {
        if (J[n] > 0) { vector[J[n]] w; w[1] = z; for (i in 2:J[n]) w[i] = prod(v[1:(i - 1)]) * x[n];
          target += log_sum_exp(w) + sum(v[1:J[n]] .* w); }
        else { vector[3] w = v; target += w[g[n]:3] * z; } }"""),
    Loop("ranges whose ends change", """for (n in 1:N) { int i = g[n];
        target += dot_self(v[1:i]) * z; i = 2; target += dot_self(v[1:i]) * x[n]; }""",
         ("a range of indices varies",)),
    Loop("ranges that are set", """for (n in 1:N) { vector[3] w = v; int i = g[n]; w[1:i] = v[1:i] * x[n];
        target += sum(w) * z; }"""),
    Loop("segments by local ends", """vector[N] w = x; for (n in 1:N) { int i = g[n];
        w[i:3] = v[i:3] * x[n]; } target += sum(w) * z;""", ("`w` may get two values",)),
    # Tuples
    Loop("tuples", """for (n in 1:N) { tuple(real, vector[3]) a = (z * x[n], v); a.2[1] = x[n]; a.1 += t;
        tuple(vector[3], real) b = (a.2, a.1); b = (b.1 * 2, b.2 ^ 2); target += sum(b.1) * b.2; }"""),
    Loop("function that returns a tuple", """for (n in 1:N) { tuple(real, real) a = pair(x[n], z);
        target += normal_lpdf(x[n] | a.1, a.2); }""",
         functions="""tuple(real, real) pair(real a, real b) {
             if (a > 0) return (a * b, 1.0); return (b, exp(b)); }"""),
    Loop("an item of a literal", "for (n in 1:N) target += (x[n] * z, t).1;"),
    Loop("tuples in tuples", """for (n in 1:N) { tuple(real, tuple(int, real)) a = (z, (k[n], x[n]));
        target += a.1 * a.2.1 + a.2.2 * t; }"""),
    Loop("a tuple that is passed whole", """for (n in 1:N) { tuple(real, real) a = (z * x[n], t);
        target += of_both(a); }""", functions="real of_both(tuple(real, real) a) { return a.1 * a.2; }"),
    Loop("tuples of one item", """for (n in 1:N) { tuple(real, ) a = (z * x[n], ); (a.1, ) = only(a);
        target += a.1; }""", functions="tuple(real, ) only(tuple(real, ) a) { return (exp(a.1), ); }"),
    Loop("a value that reads its own variable",
         "real a = a + z; for (n in 1:N) target += n > 1 ? x[n] * z : a;"),
    # What never runs must not fail
    Loop("empty", "for (n in 1:0) target += x[n] * z; for (n in 2:1) target += none[1] * z;", ("", "")),
    Loop("empty, infinite", "for (n in 1:0) target += log(0 * t);"),
    Loop("empty, of vectors",
         "for (n in 1:0) { vector[2] w = twice(x[n]); target += w[2] * z; }", functions=TWICE),
    Loop("empty, inside a branch of the loop around",
         "for (n in 1:N) for (m in 2:1) { if (x[n] > 0) target += none[1] * z; else target += x[n]; }"),
    Loop("empty, inside a branch on parameters",
         "for (n in 1:N) for (m in 2:1) target += normal_lpdf(z | x[n] > z ? none[1] * t : x[n], 1);"),
    Loop("never true", "for (n in 1:N) if (x[n] > 100) target += none[1] * z + log(0 * t);"),
    Loop("never true, of vectors",
         "for (n in 1:N) if (x[n] > 9) { vector[2] w = twice(x[n]); target += w[2] * z; }",
         functions=TWICE),
    Loop("never true, twice",
         "for (n in 1:N) if (x[n] > 100) { target += none[1] * z; if (x[n] > 200) target += x[n] * t; }"),
    Loop("never true ternary", "for (n in 1:N) target += N > 100 ? (x[n] > 0 ? none[1] : 0) * z : z * x[n];"),
    Loop("a ternary of data around others", """real a = exp(z);
        for (n in 1:N) a += k[3] == 3 ? (k[n] > 2 ? v[1] : t) : log_sum_exp(z, -0.7);
        real b = k[1] > 0 ? X[N, 1] * t : ((z - x[M]) > 0 ? z : v[2]);
        vector[3] c = k[3] == 3 ? (z > x[1] ? v : s * t) : v;
        target += a + b + sum(c) * (N > 3 ? (N > 4 ? (b > 0 ? v[g[2]] : t) : x[1]) : x[2]);"""),
    Loop("guarded index", "for (n in 1:N) if (n <= M && s[n] > 0) target += z * x[n];"),
    Loop("guarded index, or", "for (n in 1:N) if (n > M || s[n] > 0) target += z * x[n]; else target += z;"),
    Loop("guarded constant index", "for (n in 1:N) if (n > 10 && none[1] > 0) target += z * x[n];"),
    Loop("guarded division",
         "for (n in 1:N) if (k[n] != 0 && 10 %/% k[n] > 1) target += z; else target += t;"),
    Loop("guarded value", "for (n in 1:N) { int i = n > 1 && x[n - 1] > 0; target += i * z; }"),
    # Filling variables
    Loop("filled", "target += sum(w);", transformed="""
        vector[N] w; for (n in 1:N) { w[n] = z * x[n]; if (w[n] > 0) w[n] += 1; }"""),
    Loop("filled, then gathered",
         "vector[N] a; for (n in 1:N) a[n] = x[n] * z; for (n in 1:N) target += a[g[n]];",
         ("", "")),
    Loop("filled with one value", """vector[N] a; array[N] int c; matrix[N, 3] A;
        for (n in 1:N) { a[n] = z; c[n] = 2; A[n] = v'; A[n, 3] = x[n]; }
        target += a .* A[, 2] + v[c]; target += A;""", ("",)),
    Loop("columns", """vector[rows(X)] a;
        for (n in 1:rows(X)) { a[n] = 0; for (j in 1:cols(X)) a[n] += X[n, j] * v[j]; }
        target += a;""", ("",)),
    Loop("filled rows", "matrix[N, K] A; for (n in 1:N) A[n] = X[n] * z; target += sum(A);"),
    Loop("filled columns", "matrix[3, N] A; for (n in 1:N) A[, n] = v * x[n]; target += A * x;"),
    Loop("filled by several indices", """matrix[N, 3] A = rep_matrix(0, N, 3);
        for (n in 1:N) { A[n, {1, 3}] = [z, x[n]]; A[n, 2:2] = [t]; } target += A * s;"""),
    Loop("filled twice", """matrix[N, 2] A;
        for (n in 1:N) { A[n, 1] = x[n] * z; A[n, 2] = A[n, 1] ^ 2; target += sum(A[n]); }"""),
    Loop("local filled by several indices", """for (n in 1:N) { matrix[3, 3] A = v * s' * x[n];
        A[{1, 3}, {2, 1}] = [[z, x[n]], [t, 1]]; target += sum(square(A) * v); }"""),
    Loop("filled triangle", """matrix[3, 3] A = rep_matrix(0, 3, 3);
        for (i in 1:2) for (j in (i + 1):3) A[i, j] = v[i] * s[j]; target += A;"""),
    Loop("symmetric", """matrix[3, 3] A;
        for (i in 1:3) for (j in i:3) { A[i, j] = v[i] * s[j]; A[j, i] = A[i, j]; } target += A;""",
         ("",)),
    Loop("symmetric with a diagonal", """matrix[3, 3] A;
        for (i in 1:3) {
          A[i, i] = v[i];
          for (j in (i + 1):3) { A[i, j] = v[i] * s[j]; A[j, i] = A[i, j] + 1; }
        }
        target += A;""", ("",)),
    Loop("both ways over a square", """matrix[3, 3] A;
        for (i in 1:3) for (j in 1:3) { A[i, j] = v[i] * s[j]; A[j, i] = v[i] - s[j]; } target += A;""",
         ("`A` is filled by one iteration and read by another",) * 2),
    Loop("row after row", """matrix[3, 4] A; A[1] = [1, 2, 3, 4] * z;
        for (i in 2:3) for (j in 1:4) A[i, j] = log_sum_exp(A[i - 1, j], s[i] * z); target += A;""",
         ("scan: `A` is filled by one iteration and read by another",)),
    Loop("column after column, crosswise", """matrix[3, N] A = rep_matrix(z, 3, N);
        for (i in 2:(N - 1)) for (j in 1:3) A[j, i + 1] = A[4 - j, i - 1] * t + s[j]; target += A;""",
         ("`A` is filled by one iteration and read by another", "")),
    Loop("sums at two indices", """array[3] vector[3] lp = rep_array(v, 3);
        matrix[3, 2] A = rep_matrix(z, 3, 2);
        for (n in 1:N) for (i in 1:3) {
          lp[g[n], i] += log1p_exp(v[i] * x[n]); A[g[n], k[n] % 2 == 0 ? 1 : 2] -= t; }
        for (i in 1:3) target += log_sum_exp(lp[i]) * A[i, 1] + A[i, 2];""",
         ("", "")),
    Loop("sums of vectors", """array[3] vector[3] lp = rep_array(v, 3); matrix[3, K] A = rep_matrix(0, 3, K);
        for (n in 1:N) { lp[g[n]] += log1p_exp(v * x[n]); A[g[n]] += X[n] * z; }
        for (i in 1:3) target += log_sum_exp(lp[i]) * sum(A[i]);""", ("", "")),
    Loop("sums of vectors in a nest", """for (n in 1:N) {
          vector[3] a = v * t; for (i in 1:J[n]) a += v * x[n] * i; target += log_sum_exp(a); }"""),
    Loop("counts at two indices", """array[3, 2] int c = rep_array(1, 3, 2);
        for (n in 1:N) c[g[n], 1 + (k[n] > 0)] += k[n];
        for (i in 1:3) target += c[i, 1] * z + c[i, 2] * v[i];""", ("", "")),
    Loop("sums of ranges", """array[3] vector[3] lp = rep_array(v, 3);
        for (n in 1:N) lp[g[n], 1:2] += v[1:2] * x[n]; for (i in 1:3) target += log_sum_exp(lp[i]);""",
         ("`lp` may get two values for one entry", "")),
    Loop("scratch filled anew", """array[3] real acc;
        for (n in 1:N) { for (i in 1:3) acc[i] = x[n] * v[i]; target += log_sum_exp(acc); }""", ("",)),
    Loop("scratch by literal entries", """vector[2] acc;
        for (n in 1:N) { acc[1] = x[n] * z; acc[2] = x[n] + z; target += log_sum_exp(acc); }""", ("",)),
    Loop("scratch half filled", """vector[3] acc = rep_vector(0, 3);
        for (n in 1:N) { acc[1] = x[n] * z; target += sum(acc) * z; }""",
         ("scan: `acc` may get two values for one entry",)),
    Loop("scratch read after the loop", """array[3] real acc;
        for (n in 1:N) { for (i in 1:3) acc[i] = x[n] * v[i]; target += log_sum_exp(acc); }
        target += acc[2];""",
         ("scan: `acc` may get two values for one entry",)),
    Loop("scratch set in both branches", """real a;
        for (n in 1:N) { if (x[n] > 0) a = z; else a = v[1]; target += a * x[n]; }""", ("",)),
    Loop("scratch set in one branch", """real a = 1;
        for (n in 1:N) { if (x[n] > 0) a = z * x[n]; target += a * x[n]; }""",
         ("scan: `a` is carried from one iteration to the next",)),
    Loop("read back at once", """vector[N] a;
        for (n in 1:N) { a[n] = x[n] * z; a[n] = a[n] + a[n] ^ 2; } target += a;""", ("",)),
    Loop("read back after a loop that may not run", """vector[N] a = x;
        for (n in 1:N) { for (m in 1:0) a[n] = z; target += a[n]; }""", ("",)),
    Loop("read back after a branch", """vector[N] a;
        for (n in 1:N) { a[n] = x[n] * z; if (k[n] > 0) a[n] = x[n] * t; target += a[n] ^ 2; }""", ("",)),
    Loop("function with branches", "for (n in 1:N) target += clamped(x[n], z);", ("",),
         functions="""real clamped(real a, real b) {
             if (a > 0) return a * b; else if (a < -1) return b; return a; }"""),
    Loop("function with steps between its returns", "for (n in 1:N) target += bent(x[n], z);", ("",),
         functions="""real bent(real a, real b) {
             real c = a * b; if (a > 0) return c; c += b ^ 2; real d = 2 * c; return d + a; }"""),
    Loop("function with a loop", "for (n in 1:N) target += powers(x[n], 3);", ("", ""),
         functions="real powers(real a, int k) { real s = 0; for (i in 1:k) s += a ^ i; return s; }"),
    Loop("size that each iteration asks for", "for (n in 1:N) target += first(x[n] * v, s);", ("",),
         functions="real first(vector a, vector b) { int n = size(a); vector[n] c = b; return a[1] * c[1];}"),
    Loop("function that calls itself", "for (n in 1:N) target += fall(x[n], 3);", ("",),
         functions="real fall(real a, int k) { if (k <= 1) return a; return a * fall(a - 1, k - 1); }"),
    Loop("function that calls itself with the same int", "for (n in 1:N) target += grown(x[n] * z, 3);",
         functions="""real grown(real a, int k) {
             if (abs(a) > 9) return a; return grown(2 * a + 1, k); }"""),
    Loop("function that calls itself until one of two is so", "for (n in 1:N) target += tamed(x[n] * z, 3);",
         functions="""real tamed(real a, int k) {
             if (k == 0 || a > 2) return a; return sin(a) + tamed(1.3 * a, k - 1); }"""),
    Loop("function that calls itself on one side, many times", "for (n in 1:N) target += far(x[n] * z, 60);",
         functions="""real far(real a, int k) { if (k == 0) return a;
             if (a > 1) return 2 * far(a * 0.3, k - 1); else return far(1.3 * a, k - 1); }"""),
    Loop("shifted read", "vector[N] a = x; for (n in 2:N) a[n] = a[n - 1] * z + x[n]; target += a;",
         ("scan: `a` is filled by one iteration and read by another",)),
    Loop("shifted read ahead", "vector[N] a = x; for (n in 1:(N - 1)) a[n] = a[n + 1] * z; target += a;",
         ("`a` is filled by one iteration and read by another",)),
    Loop("whole read",
         "vector[N] a = x; for (n in 1:N) a[n] = sum(a) * z; target += a;", ("`a` is read whole",)),
    Loop("the entry before by a local",
         "vector[N] a = x; for (n in 2:N) { int m = n - 1; a[n] = tanh(a[m] + z); } target += a;",
         ("scan: `a` is filled by one iteration",)),
    Loop("read inside a tuple", "vector[N] a = x; for (n in 1:N) { a[n] = z * n; target += (a[3], 2.0).1; }",
         ("`a` is filled by one iteration and read by another",)),
    Loop("one place for many", "vector[3] a = v; for (n in 1:N) a[g[n]] += x[n] * z; target += a;"),
    Loop("one place for many ints",
         "array[3] int a = {1, 2, 3}; for (n in 1:N) a[g[n]] -= k[n]; target += sum(a) * z;"),
    Loop("one row for many",
         "matrix[3, K] A = rep_matrix(0, 3, K); for (n in 1:N) A[g[n]] += X[n] * z; target += A;",
         ("",)),
    Loop("carried",
         "real a = 0; real b = 1; for (n in 1:N) { real c = a; a = b; b = c + x[n]; } target += a * b * z;",
         ("scan: `a` is",)),
    Loop("a tuple set whole", """array[N] tuple(real, vector[3]) a; tuple(real, vector[3]) b = (z, v);
        for (n in 1:N) a[n] = b; target += a[2].1 * sum(a[3].2);"""),
    Loop("an array of tuples", """array[N, 2] tuple(real, vector[3]) a; for (n in 1:N) for (m in 1:2)
        a[n, m] = (x[n] * z, v * m);
        for (n in 1:N) { a[n, 1] = (a[n, 2].1 * t, a[n, 1].2); a[n, 2].2[3] = z; }
        for (n in 1:N) target += a[n, 1].1 * sum(a[n, 2].2);""", ("", "", "")),
    Loop("an array of tuples from a function", """array[N] tuple(real, real) a; for (n in 1:N)
        a[n] = pair(x[n], z); for (n in 1:N) target += normal_lpdf(x[n] | a[n].1, a[n].2);""", ("", ""),
         functions="tuple(real, real) pair(real a, real b) { return (a * b, exp(b)); }"),
    Loop("an array of tuples that is passed whole", """array[N] tuple(real, real) a;
        for (n in 1:N) a[n] = (x[n], z); target += of_all(a);""",
         ("a tuple varies", "a tuple is set", "a tuple varies"),
         functions="""real of_all(array[] tuple(real, real) a) { real o = 0;
             for (i in 1:size(a)) o += a[i].1 * a[i].2; return o; }"""),
    Loop("what no iteration comes to",
         "vector[N] a; for (n in 1:N) if (n > N) a[n] = never(N) * z; else a[n] = n * z; target += a;",
         functions="""real never(int n) { if (n > 0) reject("not to be called"); return 1; }"""),
    Loop("a side that no iteration takes",
         "for (n in 1:N) target += z * (x[n] > 99 ? sum(linspaced_vector(N, 1, -1)) : 2);"),
    Loop("sum", "real a = 0; for (n in 1:N) a += x[n] * z; target += a ^ 2;"),
    Loop("sum in branches", """real a = 1; for (n in 1:N) {
        if (x[n] > z) a += x[n] * z; else { real b = t; a -= b; } } target += a ^ 2;"""),
    Loop("sum of vectors",
         "vector[3] a = v; for (n in 1:N) a += v * x[n]; for (n in 1:N) a -= v; target += a;",
         ("", "")),
    Loop("sum of ints", "int a = 2; for (n in 1:N) a += k[n] > 0; target += a * z;"),
    Loop("sum that is read", "real a = 0; for (n in 1:N) { a += x[n] * z; target += a ^ 2; }",
         ("scan: `a` is carried",)),
    # Recurrences
    Loop("two lags",
         "vector[N] a = x * t; for (n in 3:N) a[n] += z * a[n - 1] - v[1] * a[n - 2]; target += a ^ 2;",
         ("scan: `a` is filled",)),
    Loop("lag two alone", "vector[N] a = x * t; for (n in 3:N) a[n] = z * a[n - 2] + x[n]; target += a ^ 2;",
         ("scan: `a` is filled",)),
    Loop("backwards", """vector[N] a; a[N] = t;
        for (n in 1:(N - 1)) { int now = N - n; int ahead = now + 1; a[now] = x[now] + z * a[ahead]; }
        target += a .* x;""", ("scan: `a` may",)),
    Loop("two states", """vector[N] a; vector[N] b; a[1] = z; b[1] = t; for (n in 2:N) {
          real e = x[n] - v[1] * a[n - 1]; a[n] = a[n - 1] + v[2] * e * b[n - 1];
          b[n] = b[n - 1] * t + e ^ 2; }
        target += normal_lpdf(x | a, sqrt(square(b) + 1));""", ("scan: `a` is filled",)),
    Loop("terms on the way", """real m = z; real P = t; for (n in 1:N) {
          real e = x[n] - m; real S = P + 1; target += normal_lpdf(e | 0, S);
          m += P / S * e; P -= square(P) / S; P += exp(v[1]); }
        target += m * P;""", ("scan: `m` is read whole",)),
    Loop("a vector", """vector[3] p = v; matrix[3, 3] G = v * s'; for (n in 1:N) {
          for (i in 1:3) p[i] = log_sum_exp(p + G[, i]) + normal_lpdf(x[n] | v[i], t); } target += p;""",
         ("scan: `p` may",)),
    Loop("a forward algorithm", """array[N, 3] real a; for (i in 1:3) a[1, i] = x[1] * v[i];
        for (n in 2:N) for (j in 1:3) { array[3] real acc;
          for (i in 1:3) acc[i] = a[n - 1, i] + z * i * j + normal_lpdf(x[n] | v[j], t);
          a[n, j] = log_sum_exp(acc); }
        target += log_sum_exp(a[N]);""", ("", "scan: `a` is filled")),
    Loop("rows in order", """matrix[N, K] a = X; for (n in 2:N) a[n] = a[n - 1] * z + a[n];
        target += a .* X;""", ("scan: `a` is filled",)),
    Loop("a branch on the state", """real a = z; for (n in 1:N) {
          if (a > 0.5) { real b = a * t; a = b - x[n]; } else a += x[n] > 0 ? v[1] : v[2]; }
        target += a;""", ("scan: `a` is",)),
    Loop("the target so far, twice", "target += exp(0.1 * target()); target += exp(0.1 * target());", ()),
    Loop("a local that the state decides", """real a = z; for (n in 1:N) {
          real b = x[n]; if (a > 0.5) b = 2; a = 0.5 * a + b * t; }
        target += a;""", ("scan: `a` is",)),
    Loop("a function in each step", "real a = z; for (n in 1:N) a = clamped(a + x[n], t); target += a;",
         ("scan: `a` is",), functions="""real clamped(real a, real b) {
             if (a > 0) return a * b; else if (a < -1) return b; return a; }"""),
    Loop("running sums", """real a = 0; vector[N] b; for (n in 1:N) { a += x[n] * z; b[n] = tanh(a); }
        target += b; target += a;""", ("scan: `a` is carried",)),
    Loop("the last of all",
         "real a = 1; for (n in 1:N) a = x[n] * z; target += a;", ("scan: `a` is carried",)),
    Loop("a state that never moves", "real a = z; for (n in 2:1) a = a * t; target += a ^ 2;",
         ("scan: `a` is",)),
    Loop("a step with a continue", """real a = z; for (n in 1:N) {
          for (i in 1:3) { if (i == 2) continue; a = a * t + v[i]; } if (a > 1) continue; a += x[n]; }
        target += a;""", ("scan: `a` is",)),
    Loop("a state that reads rows in part", """vector[2] a = rep_vector(z, 2); matrix[2, 3] f;
        for (i in 1:2) for (j in 1:3) f[i, j] = x[i] * v[j];
        for (n in 1:2) { vector[2] b; for (i in 1:2) b[i] = a[i] * 0.5 + f[n][i]; a = b; }
        target += a .* [1, 2]';""", ("", "scan: `a` is")),
    Loop("a state that reads rows whole", """vector[K] a = rep_vector(z, K);
        for (n in 1:N) { vector[K] b; for (i in 1:K) b[i] = a[i] * 0.5 + X[n, i] * t; a = b; }
        target += a .* [1, 2]';""", ("scan: `a` is",)),
    Loop("a wide state", """vector[30] a = rep_vector(z, 30); for (n in 1:N) a = a * 0.5 + t * x[n];
        target += a ^ 2;""", ("scan: `a` is",)),
    Loop("a step with a size", """vector[3] a = v; for (n in 1:N) a = a .* rep_vector(z, J[n] * 0 + 3) + x[n];
        target += a ^ 2;""", ("`a` is",)),
    Loop("entries of a local that two iterations set", """for (n in 1:N) { array[K + 1] real a;
          for (i in 1:K) { a[i] = v[i] * x[n]; a[i + 1] = 3 * x[n]; }
          target += sum(a) * a[1] + a[2] * z; }"""),
    Loop("entries of a local behind another local", """for (n in 1:N) { array[4] real a = {z, t, 1, x[n]};
          int i = g[n] - 1; for (j in 1:2) a[i + j] = v[j] * x[n]; i += 1; target += sum(a) * i; }"""),
    Loop("a guarded lag", "vector[N] a; for (n in 1:N) a[n] = n > 1 ? z * a[n - 1] : t; target += a;",
         ("`a` is filled",)),
    Loop("a guarded lag that exists", """vector[N] a = x;
        for (n in 2:N) a[n] = x[n] > 0 ? z * a[n - 1] : t; target += a .* x;""", ("scan: `a` is filled",)),
    Loop("terms in a branch of the state", """real a = t;
        for (n in 1:N) { if (x[n] > 0) { a = tanh(a + x[n]); target += a * z; } }""", ("scan: `a` is",)),
    # Pairs
    Loop("pairs", "for (n in 1:N) for (m in 1:M) target += normal_lpdf(x[n] | v[m] + s[m], t) + exp(v[m]);"),
    Loop("pairs of a mixture", """for (n in 1:N) { vector[M] w = log_softmax(v);
        for (m in 1:M) w[m] += normal_lpdf(x[n] | v[m], exp(s[m] * t)); target += log_sum_exp(w); }"""),
    Loop("pairs of vectors", """array[3] row_vector[2] w; for (m in 1:3) w[m] = [v[m], s[m] * z];
        for (n in 1:N) { vector[3] a; for (m in 1:3) a[m] = normal_lpdf(X[n] | w[m], t); target += a; }""",
         ("", "")),
    Loop("pairs of products", """array[3] row_vector[2] w; for (m in 1:3) w[m] = [v[m], s[m] * z];
        for (n in 1:N) for (m in 1:3) target += cos(dot_product(X[n], w[m]) + X[n] * w[m]' * m);""",
         ("", "")),
    Loop("pairs of a covariance", """array[3] vector[2] w; for (m in 1:3) w[m] = [v[m], s[m] * z]';
        for (n in 1:N) { vector[3] a;
          for (m in 1:3) a[m] = multi_normal_lpdf(X[n]' | w[m], [[1 + exp(v[m]), z / 9], [z / 9, 2]]);
          target += log_sum_exp(a); }""", ("", "")),
    Loop("pairs of a matrix", """for (n in 1:N) for (m in 1:K)
        target += X[n, m] * v[m] + square(X[n, m] * x[n]) * z + v[g[n]] * X[n][m];"""),
    Loop("locals of pairs", """for (n in 1:N) { real b = exp(x[n] * z); for (m in 1:M) {
          real a = b * v[m]; real c = s[m]; vector[3] d = v * x[n] + s[m];
          target += a * c + x[n] * t - sum(d .* v) * a + c; } }"""),
    Loop("pairs changed after they were read", """matrix[N, K] w = X * z; vector[N] b = x * t;
        for (n in 1:N) for (m in 1:K) { real a = w[n, m]; real c = b[n]; w[n, m] = a * 2;
          target += a * c + cos(w[n, m]); }
        for (n in 1:N) { for (m in 1:K) { real c = b[n]; target += c * X[n, m]; } b[n] = z; }""", ("", "")),
    Loop("sums over pairs", """for (n in 1:N) { real a = z; real b = 0; real c = t;
        for (m in 1:M) { a += cos(x[n] * v[m]); b += v[m]; c += x[n]; } target += a * b * c; }"""),
    Loop("pairs of loop variables", """for (n in 2:N) for (m in 2:3)
        target += x[n] * v[m] * (n - m) + z * (n > m ? 1.5 : v[m]) + normal_lpdf(x[n - 1] | v[m - 1], t);"""),
    Loop("pairs under conditions", """for (n in 1:N) if (k[n] > 0) for (m in 1:M) {
        if (x[n] > 0) target += x[n] * v[m]; if (v[m] > 0.2) target += cos(x[n] + v[m] * z); }"""),
    Loop("pairs of none", "for (n in 1:N) for (m in 1:size(none)) target += x[n] * v[m] * none[m];"),
    Loop("triples", """for (n in 1:N) for (m in 1:M) for (i in 1:K)
        target += cos(x[n] * v[m] + X[n, i] * z + s[m] * v[i]) + square(x[n] * v[m]) + v[i];"""),
    Loop("pairs with a triangle", "for (n in 1:N) for (m in 1:g[n]) target += cos(x[n] * v[m]) * v[g[n]];"),
    # Recurrences abreast, of different lengths
    Loop("recurrences of different lengths", """for (n in 1:N) { vector[5] w; w[1] = x[n] * z;
        for (i in 2:(J[n] + 2)) w[i] = w[i - 1] * t + v[1]; target += w[J[n] + 2] * x[n]; }"""),
    Loop("recurrences that begin later", """array[4] real a; for (n in 1:N) { a[g[n]] = x[n];
        for (i in (g[n] + 1):4) a[i] = a[i - 1] * z + t; target += a[4]; }"""),
    Loop("recurrences of pairs", """array[4] vector[K] a; for (n in 1:N) if (k[n] != 0) {
        for (m in 1:K) a[g[n], m] = X[n, m] * z;
        for (i in (g[n] + 1):4) for (m in 1:K) a[i, m] = a[i - 1, 1] * t + a[i - 1, m] * v[m];
        target += sum(a[4]); }"""),
    Loop("states of chains abreast", """for (n in 1:N) { array[4] vector[2] a; a[1] = [x[n], z]';
        for (i in 2:4) for (m in 1:2) { vector[2] w; for (j in 1:2) w[j] = a[i - 1, j] * v[m] + j * t;
          a[i, m] = sum(w) + a[i - 1, 3 - m]; } target += sum(a[4]); }"""),
    Loop("states of chains abreast by a counter", """for (n in 1:N) { array[5] vector[2] a; int i = 1;
        a[1] = [x[n], z]'; for (q in 1:J[n]) { i += 1;
          for (m in 1:2) a[i, m] = a[i - 1, 3 - m] * v[m] + t; } target += sum(a[i]) * a[1, 1]; }"""),
    Loop("states of chains that one array has in turn", """array[4] vector[2] a = rep_array([t, z]', 4);
        for (n in 1:N) { for (i in 2:4) for (m in 1:2) a[i, m] = a[i - 1, 3 - m] * v[m] + a[i, m] * x[n];
          target += sum(a[4]); }""", ("scan",)),
    Loop("recurrences of which none runs", """array[4] real a; for (n in 1:N) { a[4] = x[n] * z;
        for (i in (4 + g[n]):4) a[i] = a[i - 1] + t; target += a[4]; }""", ("`a` may",)),
    Loop("a carried number in loops of different lengths", """for (n in 1:N) { real a = x[n];
        for (i in 1:J[n]) { if (a > 0) a -= z; else a += t; } target += a * v[g[n]]; }"""),
    # Counters
    Loop("counted at the end", """vector[N] a; int i = 1; for (q in x) { a[i] = q * z; i += 1; }
        target += a * i;"""),
    Loop("counted at the start", """vector[2 * N] a = append_row(x, x); int i = N;
        for (n in 2:N) { i += 1; a[i] = a[i] * z + n; } target += a; target += i * z;"""),
    Loop("counted down",
         "int i = N + 1; for (n in 1:N) { target += x[n] * z * i; i -= 1; } target += i * z;"),
    Loop("counted in an inner loop", """vector[9] a; for (n in 1:3) { int i = 3 * n - 2;
          for (m in 1:3) { a[i] = v[n] * s[m]; i += 1; } } target += a .* linspaced_vector(9, 1, 2);""",
         ("`a` may", "")),
    Loop("counted at times", "int i = 1; for (n in 1:N) { if (x[n] > 0) i += 1; target += x[n] * z * i; }",
         ("`i` is carried", "")),
    Loop("counted with a continue", """int i = 1;
        for (n in 1:N) { if (x[n] > 0) continue; target += x[n] * z * i; i += 1; }""", ("`i` is", "")),
    Loop("a counter times an int of the iteration", """int i = 1;
        for (n in 1:N) { int m = N - n + 1; i = g[i]; target += m * i * z; }""", ("`i` is carried", "")),
    # Complex numbers
    Loop("complex entries", """complex_vector[N] a; for (n in 1:N) a[n] = to_complex(x[n], z) * 2i;
        target += get_real(sum(a .* a));"""),
    Loop("complex sum", "complex a = 1i; for (n in 1:N) a += x[n] * to_complex(z, t); target += norm(a);"),
    Loop("complex sums at places", """complex_vector[3] a = rep_vector(0, 3);
        for (n in 1:N) a[g[n]] += to_complex(z, x[n]); target += norm(a[1]) + get_imag(a[2] * a[3]);"""),
    Loop("complex locals", """for (n in 1:N) { complex c = k[n] > 0 ? to_complex(z, t) : x[n]; complex d;
        if (x[n] > 0) d = c * 2i; else d = 1; target += get_real(c * d) + abs(exp(d)); }"""),
    Loop("complex literals", """for (n in 1:N) { array[2] complex c = {x[n], z * 1i};
        complex_matrix[2, 2] A = [[z, 1i], [c[1], c[2]]];
        target += get_real(trace(A * A)) + norm(sum(c)); }"""),
    Loop("complex gathers", """array[3] complex a = {z, 2i, to_complex(t, 1)};
        complex_matrix[3, 2] A = v * [1, 1i];
        for (n in 1:N) target += get_imag(a[g[n]] * A[g[n], 2]) + sum(abs(A[g[n]]));"""),
    Loop("complex nest", """complex_matrix[M, K] A; for (m in 1:M) for (i in 1:K) A[m, i] = s[m] * z + 1i * i;
        target += sum(abs(A));"""),
    Loop("complex state", "complex a = 1; for (n in 1:N) a = a * to_complex(z, x[n]) + t; target += norm(a);",
         ("`a` ",)),
    Loop("complex states in order", """array[N] complex a; a[1] = z;
        for (n in 2:N) a[n] = a[n - 1] * 0.5i + x[n] * t; target += norm(a[N]);""",
         ("`a` ",)),
    Loop("complex function", "for (n in 1:N) target += get_real(turned(x[n], z));",
         functions="complex turned(complex a, real b) { complex c = a * b; c += 1i * b; return c * c; }"),
    Loop("complex generated", "", ("", ""), transformed="complex_vector[3] w = v * 1i;", generated="""
        complex_vector[N] a; complex b = 0; for (n in 1:N) a[n] = z * x[n] + w[g[n]];
        for (n in 1:N) b += a[n] == 0 ? 1i : conj(a[n]);"""),
    # Values that a scan need not wait for
    Loop("a local set anew in a step", """real a = z;
        for (n in 1:N) { real b = x[n]; a = tanh(a * exp(b)); b += 0.5; a = tanh(a * exp(b)); }
        target += a;""", ("scan",)),
    Loop("the same in two inner loops over other ranges", """real a = z;
        for (n in 1:N) {
            for (i in 1:2) a = tanh(a + sin(x[n] + i));
            for (i in 1:3) a = tanh(a + sin(x[n] + i));
        }
        target += a;""", ("scan",)),
    Loop("a local of one name in two inner loops", """real a = z;
        for (n in 1:N) {
            for (i in 1:2) { real b = x[n] * i; a = tanh(a + sin(b)); }
            for (i in 1:2) { real b = x[n] - i; a = tanh(a + sin(b)); }
        }
        target += a;""", ("scan",)),
    Loop("in an inner loop and after it", """real a = z;
        for (n in 1:N) for (j in 1:2) {
            for (i in 1:2) a = tanh(a + x[n] * i * t + sin(x[n] + j));
            a = tanh(a * z + sin(x[n] + j));
        }
        target += a;""", ("scan",)),
    # What the body of a loop sets before its end
    Loop("a bound that the body sets",
         "int m = 2; int c = 0; for (n in 1:m) { c += 1; m = 3; } target += c * z;", ()),
    Loop("a bound by the size of what the body sets",
         "vector[N] m; for (n in 1:size(m)) m[n] = n * z; target += sum(m);"),
    Loop("a bound that a counter sets", "int i = 3; for (n in 1:i) { target += x[i] * n * z; i = 2; }", ()),
    Loop("a first index that a counter sets", "int i = 2; for (n in i:3) { target += x[i] * z; i = 1; }",
         ("`i` is read whole", "")),
    Loop("an inner bound that the body sets",
         "for (n in 1:N) { int q = g[n]; for (h in 1:q) { q = 1; target += x[q] * h * z; } }"),
    Loop("a bound that adds to the target", "int c = 0; for (n in 1:two_lp(z)) c += 1; target += c * t;", (),
         functions="int two_lp(real a) { target += a; return 2; }"),
    Loop("a scan up to what its steps set",
         "real a = z; int i = 3; for (n in 1:i) { a = a * t + x[i]; i = 2; } target += a;", ()),
    Loop("a scan with a copy of an int set later", """real a = z;
        for (n in 1:N) { int c = g[n]; int i = c; c = 1; a = a * t + x[i] * c; } target += a;""",
         ("scan: `a` is",)),
    Loop("a scan with a local set twice", """real a = z;
        for (n in 1:N) { real c = x[n]; a = a * t + c; c = 1; a = a + c * z; } target += a;""",
         ("scan: `a` is",)),
    Loop("a scan with a local set in an inner loop", """real a = z;
        for (n in 1:N) { real c = x[n]; for (i in 1:2) { a = a * t + c; c = x[i]; } } target += a;""",
         ("scan: `a` is",)),
    Loop("a scan with two inner loops over one range", """real a = z; for (n in 1:N) { real b = x[n];
        for (i in 1:2) { b += 1; a += a * sin(b); } for (i in 1:2) a += a * sin(b); } target += a;""",
         ("scan: `a` is",)),
    Loop("a scan with a branch that sets a local", """real a = z; for (n in 1:N) { vector[2] b = [0, 0]';
        if (x[n] > 0) { b[1] += 1; a += t; } a = a * t + b[1]; } target += a;""", ("scan: `a` is",)),
    Loop("a scan with an inner loop from 0 that sets a local", """real a = z; for (n in 1:N) {
        vector[2] b = v[1:2]; for (i in 0:1) { b[1] += x[n]; a *= t; } a = a * t + b[1]; } target += a;""",
         ("scan: `a` is",)),
    Loop("a scan of a state of the data too",
         "real a = 0.5; real b = z; for (n in 1:N) { b = b * 0.5; a = a * x[n]; } target += a;",
         ("scan: `b` is",)),
    Loop("inner bounds below 0 in a scan", """real a = z; for (n in 1:N) {
        for (i in 1:(M - 5)) a = a * t + sin(x[n] * i); a = tanh(a + x[n]); } target += a;""",
         ("scan: `a` is",)),
    Loop("a bound below 0 of a loop with a counter", """int i = 1; for (n in 1:(-2)) {
        target += v[i] * x[n] * z; if (x[n] > 0) i = g[n]; } target += i * z;""", ("`i` is read whole", "")),
    Loop("inner bounds below 0 of a sum of products", """for (n in 1:N) for (m in 1:M) { real a = 0;
        for (i in 1:(-1)) a += X[n, i] * X[m, i] * v[m]; target += a * a * z + t; }""", ("",) * 3),
    Loop("a size that is set again before the loop", """int m = 2; vector[m] y; m = 1;
        for (n in 1:N) { for (i in 1:m) y[i] = x[n] * z; target += y[1] * size(y); }""",
         ("scan: `y` may",)),
    # Entries of a variable that inner loops, or other statements, set again
    Loop("overlapping entries of an inner loop that stays", """vector[8] a = rep_vector(0, 8);
        for (n in 1:N) for (i in 1:2) a[n + i] = x[n] * i * z;
        target += a[3];""", ("may get two values", "")),
    Loop("the same of another length in each iteration", """vector[9] a = rep_vector(0, 9);
        for (n in 1:N) for (i in 1:J[n]) { int m = i; a[n + m] = x[n] * i * z; }
        target += sum(square(a));""", ("may get two values", "may get two values")),
    Loop("ints that overlap", """array[8] int c = rep_array(0, 8);
        for (n in 1:N) for (i in 0:1) c[n + i] = g[n];
        target += c[2] * z;""", ("may get two values", "")),
    Loop("read where another iteration sets them, in a local sum", """vector[8] a = rep_vector(t, 8);
        for (n in 1:N) { real q = x[n]; for (i in 1:2) { q = q * z + a[n + i]; a[n + i] = q; } }
        target += sum(a);""", ("scan: `a`",)),
    Loop("rows that an inner loop steps through, of other columns", """matrix[3, N] A = rep_matrix(z, 3, N);
        for (n in 1:N) for (i in 2:3) A[i, n] = A[i - 1, N + 1 - n] + x[n];
        target += A[3, 1] + sum(A);""", ("filled by one iteration", "scan: `A`")),
    Loop("an entry, then the whole", """for (n in 1:N) {
            vector[2] w = [z, t]'; w[1] = x[n]; w = [z, z]'; target += w[1]; }"""),
    Loop("an entry, then a product of the whole", """for (n in 1:N) {
            matrix[2, 2] A = [[1, 2], [3, 4]]; A[1, 2] = x[n]; A = A * A; target += A[1, 2] * z; }"""),
    Loop("an entry of another variable of that name", """for (n in 1:N) {
            { vector[2] w; w[1] = x[n]; target += w[1] * z; }
            { vector[2] w = [z, t]'; target += w[1] * x[n]; } }"""),
    Loop("an entry, then the whole in a branch", """for (n in 1:N) {
            vector[2] w; w[1] = x[n]; if (x[n] > 0) w = [z, t]'; target += w[1]; }"""),
    Loop("an entry before a loop that sets the whole", """for (n in 1:N) {
            vector[2] w; w[1] = x[n]; for (i in 1:2) { target += w[1] * z; w = [z * i, x[n]]'; } }"""),
    Loop("the diagonal, then the triangle with it", """matrix[3, 3] A;
        for (i in 1:3) { A[i, i] = x[i]; for (j in i:3) A[i, j] = z; target += A[i, i] * t; }"""),
    Loop("both sides of a triangle, read on the diagonal", """matrix[3, 3] A;
        for (i in 1:3) for (j in i:3) { A[i, j] = x[i]; A[j, i] = z; target += A[i, j] * t; }""",
        ("scan: `A`",)),
    # Variables of a step that the terms, which run after the scan, need with fewer axes than its state does
    Loop("a term of a whole of which the state reads a changed entry", """real a = t;
        for (n in 1:3) { vector[3] w = v; target += sum(w); w[n] += z; a = 0.5 * a + w[n]; } target += a;""",
         ("scan: `a`",)),
    Loop("the same by a count that is reset", """real a = t; for (n in 1:3) {
        int b = 1; int c = b; b = n; a = 0.5 * a + z * c * b; target += v[c]; } target += a;""",
         ("scan: `a`",)),
    # Elsewhere
    Loop("a term of which a branch sets the variable again", """real a = z; target += a;
        if (z > 0) a = t; target += a ^ 2;""", ()),
    Loop("the same by a function and a ternary", """real a = z; target += f(a); target += N > 2 ? a : 1;
        if (z > 0) a = t; target += a ^ 2;""", (), functions="real f(real y) { return y; }"),
    Loop("in a function", "target += partial(x, z);", ("", "an effect"), functions=PARTIAL),
    Loop("calls an _lp function", "for (n in 1:N) add_lp(x[n], z);", ("",),
         functions="void add_lp(real a, real b) { target += a * b; return; }"),
    Loop("in a function that is written out", "target += waves(x, z) * waves(s, t);", ("",) * 3,
         functions="""real waves(vector a, real b) {
             real o = 0; for (i in 1:size(a)) o += sin(a[i] * b); return o; }"""),
    Loop("an _lp function that may return early", "early_lp(z - 3); target += t ^ 2; early_lp(z);", ("",),
         functions="void early_lp(real a) { if (a < 0) return; for (i in 1:3) target += a * i; }"),
    Loop("generated quantities", "", ("`normal_rng` draws", "", ""), generated="""
        vector[N] w; array[N] int c;
        for (n in 1:N) w[n] = z * x[n] + normal_rng(0, 1);
        for (n in 1:N) c[n] = x[n] > z;
        for (n in 1:N) w[n] = c[n] ? w[n] : -w[n];"""),
)  # fmt: skip
