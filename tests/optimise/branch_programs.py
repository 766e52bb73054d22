"""Programs that branch on their two parameters, in every place where one may stand."""

import numpy as np

POINTS = np.array([[-1.3, 0.4], [0.7, -0.2], [1.9, 1.1], [-0.2, -2.0], [0.3, 2.5]])


def of_two(model: str, functions: str = "") -> str:
    functions = f"functions {{ {functions} }}\n" if functions else ""
    return f"{functions}parameters {{ real a, b; }}\nmodel {{ {model} }}"


SCALARS = {
    "sides": "if (a > 0) target += -a ^ 2; else target += -b ^ 4 + a;",
    "one_side": "a ~ std_normal(); if (a > b) b ~ normal(a, 1);",
    "sets": "real x = 1; vector[2] v; if (a > 0) { x = b; v = [a, b]'; } else v = [x, a * b]';"
    " target += x * sum(v);",
    "part_of_a_vector": "vector[2] v = [a, b]'; if (a > 0) v[2] = exp(a); target += -dot_self(v);",
    "else_if": "real x; if (a > 1) x = a * b; else if (a > 0) x = exp(b); else if (b > 0) x = sin(a);"
    " else x = b; target += -square(x);",
    "nested": "if (a > 0) { if (b > 0) target += -a * b; a ~ normal(b, 2); } else { b ~ std_normal(); }",
    "ints": "int k = 0; array[2] int m = {1, 2}; if (a > 0) { k = 1; m[2] = 7; } if (b > 0) k += 1;"
    " if (k == 1) target += -a ^ 2 * m[2]; else target += -b ^ 2;",
    "int_terms": "if (a > 0) target += 1; else target += -b ^ 2; target += -a ^ 2;",
    "logical": "if (a > 0 && b > 0 || !(a < b)) target += -a * b; target += (a > 0 && b > 0) * a - a ^ 2;",
    "ternary": "target += (a > 0 ? log(a) : a) - square(b > 0 ? sqrt(b) : b * a);",
    "many": " ".join(
        f"if (a > {k / 10}) target += -square(a - {k} * b); else target += b;" for k in range(12)
    ),
    "rejects": 'if (a > 1) reject("a is ", a); target += -a ^ 2 - b ^ 2;',
    "profile": 'profile("p") { if (a > 0) { a ~ std_normal(); } }',
    "locals_of_one_name": " ".join(
        2
        * ["if (a > 0) for (k in 1:3) { real t = b * k; if (t > a) target += t; else target += -square(t); }"]
    ),
    "target_so_far": "if (a > 0) target += -a ^ 2; if (target() < -1) target += b;",
    "scan": "vector[3] x; x[1] = a; for (t in 2:3) { if (x[t - 1] > b) x[t] = sqrt(x[t - 1] - b);"
    " else x[t] = b * x[t - 1]; } target += -dot_self(x);",
}
"""Outside of loops."""

FUNCTIONS = {
    "early_return": """real f(real x, real y) {
        if (x > 0) return log(x); if (y > 0) return y * x; return -y ^ 2; }""",
    "containers": """vector g(real x, real y) { vector[2] v = [x, y]'; if (x > 0) return v; return -v .* v; }
        real f(real x, real y) { return -dot_self(g(x, y)) + g(x, y)[1]; }""",
    "no_value": """void g_lp(real x) { if (x > 0) { target += -x; return; } target += x ^ 3; }
        real h_lp(real x, real y) { g_lp(x); if (y > 0) g_lp(y * x); return -x ^ 2; }""",
    "rejects": "real f(real x, real y) { if (x > 1.5) reject(x); return -x ^ 2 * y; }",
    "from_a_loop": """real f(real x, real y) {
        for (k in 1:4) { real z = k * y; if (z > x) return k * x; } return y; }""",
}
"""In functions that return early."""

WHILE = {
    "newton": "real y = exp(a); while (abs(y * y - exp(a)) > 1e-13) y = 0.5 * (y + exp(a) / y);"
    " target += y * b;",
    "vectors": "vector[2] v = [a, b]'; int k = 0; while (sum(v) < 3 && k < 9) { v += [1, exp(-b)]'; k += 1; }"
    " target += -dot_self(v) + k;",
    "jumps": "real y = a; while (1) { if (y > 4) break; y += 0.7 + square(b); if (y < 0) continue;"
    " target += -y; }",
    "adds": "real y = a; while (y < 2) { target += -square(y - b); y += 1; }",
}
"""Loops that parameters end."""

LOOPS = {
    "increments": "if (a * x[n] > b) target += -a ^ 2 * x[n]; else target += normal_lpdf(x[n] | b, exp(a));",
    "densities": "if (a > x[n]) x[n] ~ normal(a, 1); else if (b > x[n]) { k[n] ~ poisson(exp(b)); }"
    " else a ~ std_normal();",
    "one_for_all": "if (x[n] > a) target += -b ^ 2;",
    "sets": "if (x[n] > b) v[n] = x[n] * a; else v[n] = exp(b) + n;",
    "sets_some": "v[n] = a; if (x[n] > b) { v[n] = log(x[n] - b); } else if (x[n] > a) v[n] *= 2;",
    "sets_elsewhere": "if (x[n] > a) v[N - n + 1] = x[n] * b;",
    "sets_in_reverse": "real q = a - x[n]; if (q > 0) v[N - n + 1] = log(q) * b;",
    "sets_rows": "real q = a - x[n]; if (q > 0) w[n, 1:2] = [log(q), b];",
    "sets_a_local": "real q = a - x[n]; vector[1] s = [b]'; if (q > 0) s[1] = log(q); target += -s[1]^2;",
    "sets_one_of_a_nest": "vector[3] s = rep_vector(b, 3); for (j in 1:M) { real q = x[n] * j - a;"
    " if (q > 0) { if (q > 1) s[j] = log(q); else s[4 - j] = q ^ 2; } } target += -dot_self(s);",
    "locals": "real s = x[n]; real r = 2; if (s > a) { real q = sqrt(s - a); s = q * b; r = q; }"
    " target += -s ^ 2 * r;",
    "nested": "if (x[n] > a) { if (b > x[n]) target += -log(x[n] - a) ^ 2; else v[n] = b; } else v[n] = a;",
    "data_inside": "if (x[n] > a) { if (k[n] > 1) target += -k[n] * (x[n] - a) ^ 1.5; }",
    "inside_data": "if (k[n] > 1) { if (x[n] > a) target += -k[n] * (x[n] - a) ^ 1.5; }",
    "loop_inside": "if (x[n] > a) for (j in 1:M) target += -sqrt(x[n] - a) * z[n, j] * b;",
    "ragged_inside": "if (x[n] > a) for (j in 1:k[n]) target += -sqrt(x[n] - a) * z[n, j] * b;",
    "in_a_nest": "for (j in 1:M) { if (z[n, j] > a) target += -log(z[n, j] - a) ^ 2;"
    " else w[n, j] = b * z[n, j]; }",
    "sums": "if (x[n] > a) { total += log(x[n] - a); v[k[n] + 1] += b; }",
    "ternary": "v[n] = x[n] > a ? log(x[n] - a) : b * x[n]; target += -(x[n] > b ? x[n] - b : 0) ^ 2;",
    "ternaries": "target += -(x[n] > a ? x[n] > b ? sqrt(x[n] - b) : sqrt(x[n] - a) : a) ^ 2;",
    "logical": "if (x[n] > a && sqrt(x[n] - a) > b || k[n] == 3) target += -b ^ 2;"
    " target += -(x[n] > a && b > 0) * a ^ 2;",
    "hinge": "target += normal_lpdf(x[n] | a + b * fmax(x[n] - a, 0) + (x[n] > a ? b * (x[n] - a) : 0), 1);",
    "gamma": "if (x[n] > a) target += lgamma(x[n] - a); else target += b / (x[n] - a) + pow(a - x[n], b);",
    "continue": "if (x[n] < a) continue; target += -sqrt(x[n] - a);",
    "vectors": "vector[2] m = [x[n], a]'; if (x[n] > a) m = [sqrt(x[n] - a), b]'; target += -dot_self(m);",
    "calls": "if (x[n] > a) target += f(x[n] - a, b); else target += f(a - x[n], -b);",
    "scan": "if (n > 1) { if (v[n - 1] > a) v[n] = sqrt(v[n - 1] - a) + b; else v[n] = x[n] * b;"
    " if (v[n] > 0) target += -log(v[n]); } else v[1] = a;",
    "by_index": "if (a > x[n]) target += -b * x[k[n] + 1] ^ 2;",
    "none_or_all": "if (a > 100 * b) target += log(a - 100 * b) * x[n];"
    " else target += log(100 * b - a) * x[n];",
}
DATA = {
    "N": 5,
    "M": 3,
    "x": [-1.0, 0.3, 0.3, 2.0, 4.5],
    "k": [0, 3, 1, 2, 3],
    "z": [[0.1 * i * j - 0.3 for j in range(3)] for i in range(5)],
}


def in_a_loop(body: str) -> str:
    return f"""
      functions {{ real f(real x, real y) {{ if (x > 1) return log(x) * y; return -x ^ 2; }} }}
      data {{ int N, M; vector[N] x; array[N] int k; matrix[N, M] z; }}
      parameters {{ real a, b; }}
      model {{
        vector[N] v = rep_vector(0.5, N); matrix[N, M] w = rep_matrix(a, N, M); real total = 0;
        for (n in 1:N) {{ {body} }}
        target += -dot_self(v) + sum(w) - total ^ 2;
      }}
    """
