"""Loops over segments of different lengths go through those of one length at once, and mean the same."""

import numpy as np
import pytest
from laws.passes import assert_law, assert_same, lowered, posterior, reference

from ppl.arrays import NUMPY
from ppl.errors import InferenceError
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise import forms
from ppl.stdlib import batching
from ppl.stdlib.spans import log_sums_of_spans, products_of_spans, sums_of_spans

DATA = {
    "T": 8,
    "N": 14,
    "start": [1, 3, 5, 7, 7, 9, 10, 11],
    "end": [2, 4, 6, 6, 8, 9, 10, 12],  # the fourth is empty
    "other": [4, 2, 4, 2, 7, 7, 4, 2],
    "which": [1, 2, 2, 1, 2, 1, 1, 2],
    "first": [[1, 2], [9, 3], [4, 4], [5, 1], [2, 8], [7, 7], [14, 1], [3, 12]],
    "y": np.sin(np.arange(14.0)).round(2).tolist(),
    "X": np.linspace(-1, 1, 42).reshape(14, 3).tolist(),
}
PROGRAM = """
data {{
  int T; int N; array[T] int start; array[T] int end; array[T] int other; array[T] int which;
  array[T, 2] int first; vector[N] y; matrix[N, 3] X;
}}
parameters {{ vector[3] beta; vector[N] w; vector[T] mu; }}
model {{
  {before}
  for (t in 1:T) {{ {body} }}
  {after}
}}
"""
BOTH = "w[start[t]:end[t]] * mu[t];"
MATRIX, TIMES = "matrix[N, 3] m = rep_matrix(0, N, 3);", "target += sum(m * beta);"
LP, SUM = "vector[N] lp = rep_vector(0.5, N);", "target += dot_product(lp, y);"
ARRAYS = {
    "read": ("", "target += normal_lpdf(y[start[t]:end[t]] | mu[t], 2);", ""),
    "read by segment": ("", "target += log_sum_exp(segment(w, other[t], 2 + which[t])) * mu[t];", ""),
    "read by block": ("", "target += sum(block(X, other[t], 2, 2 + which[t], 2) * beta[2:]) * mu[t];", ""),
    "written": (LP, "lp[start[t]:end[t]] = log1p_exp(X[start[t]:end[t]] * beta);", SUM),
    "written and read back": (
        LP,
        f"lp[start[t]:end[t]] = {BOTH} target += sum(square(lp[start[t]:end[t]]));",
        SUM,
    ),
    "two sizes": ("", "target += sum(w[start[t]:end[t]]) * sum(y[other[t]:(other[t] + which[t])]);", ""),
    "one end fixed": ("", "target += mu[t] * sum(w[other[t]:N]) + log_sum_exp(w[1:other[t]]);", ""),
    "columns": (MATRIX, f"m[start[t]:end[t], 2] = {BOTH}", TIMES),
    "rows": (MATRIX, "m[start[t]:end[t]] = X[start[t]:end[t]] * mu[t];", TIMES),
    "an inner segment of a row": ("", "target += X[t, which[t]:3] * beta[which[t]:3] * mu[t];", ""),
    "a branch": (
        "",
        "real s = sum(w[start[t]:end[t]]); "
        "if (which[t] > 1) target += s * log_sum_exp(w[start[t]:end[t]] * mu[t]);",
        "",
    ),
    "a branch of what is always there": (
        "",
        "if (which[t] > 1) target += log_sum_exp(w[t:N] * mu[t]);",
        "",
    ),
    "ends that are not always there": (
        "",
        "if (t > 1) target += sum(w[start[t - 1]:end[t - 1]]) * mu[t];",
        "",
    ),
    "ends after a continue": (
        "",
        "if (t == 1) continue; target += sum(w[start[t - 1]:end[t - 1]]) * mu[t];",
        "",
    ),
    "in an inner loop too": (
        "",
        "target += sum(square(w[start[t]:end[t]])); "
        "for (j in 1:3) target += log_sum_exp(w[start[t]:end[t]] * mu[t] * j);",
        "",
    ),
    "a list of indices": ("", "target += log_sum_exp(w[first[t]] + mu[t]) + sum(X[first[t], which[t]]);", ""),
}
LOOPS = {
    "segments that overlap": (LP, "lp[other[t]:(other[t] + 1)] = w[other[t]:(other[t] + 1)] * mu[t];", SUM),
}
UNCHANGED = {
    "what another iteration wrote": (
        LP,
        "lp[start[t]:end[t]] = w[start[t]:end[t]] * mu[t] + lp[other[t]];",
        SUM,
    ),
    "ends that change": ("int a = 1;", "target += sum(w[a:end[t]]) * mu[t]; a += mu[t] > 1;", ""),
}


def text_of(before, body, after):
    return PROGRAM.format(before=before, body=body, after=after)


def runs_at_once(text):
    model = posterior(text, DATA).model
    called = {n.callee.impl for n in walk(model.program(forms.ARRAYS).model) if isinstance(n, ir.Apply)}
    return bool(called & {batching.groups_by_width, sums_of_spans, products_of_spans, log_sums_of_spans})


@pytest.mark.rotate
@pytest.mark.parametrize(
    "parts", [*ARRAYS.values(), *LOOPS.values(), *UNCHANGED.values()], ids=[*ARRAYS, *LOOPS, *UNCHANGED]
)
def test_it_means_the_same(parts):
    assert_law(text_of(*parts), DATA, np.random.default_rng(1).normal(size=25))


@pytest.mark.parametrize("name", [*ARRAYS, *LOOPS])
def test_segments_of_one_length_go_together(name):
    assert runs_at_once(text_of(*{**ARRAYS, **LOOPS}[name])) is (name != "a list of indices")


@pytest.mark.parametrize("parts", UNCHANGED.values(), ids=UNCHANGED)
def test_a_loop_whose_iterations_depend_on_one_another_stays(parts):
    assert not runs_at_once(text_of(*parts))


def test_segments_of_one_length_are_not_grouped_again_in_an_inner_loop():
    program = forms.ARRAYS.of(lowered(text_of(*ARRAYS["in an inner loop too"])))
    called = [n.callee.impl for n in walk(program.model) if isinstance(n, ir.Apply)]
    assert called.count(batching.groups_by_width) == 1


@pytest.mark.parametrize(
    "body",
    [
        """target += log_sum_exp(w[start[t]:end[t]] * mu[t]);
        for (j in 2:which[t]) target += log_sum_exp(w[start[t - 1]:end[t]] * mu[j]);""",
        "target += t > 1 ? log_sum_exp(w[start[t - 1]:N] * mu[t]) : mu[t];",
        "target += t > 1 ? log_sum_exp(w[1:end[t - 1]] * mu[t]) : mu[t];",
    ],
    ids=["in a loop without iterations", "before others", "after others"],
)
def test_ends_that_no_iteration_comes_to_are_not_evaluated(body):
    """The first iteration has no entry of `start` before its own."""
    text, u = text_of("", body, ""), np.random.default_rng(1).normal(size=25)
    assert_same(posterior(text, DATA), reference(text, DATA), u)


def test_a_loop_that_runs_not_once_does_nothing():
    empty = {
        **DATA,
        "T": 0,
        **{name: [] for name in ("start", "end", "other", "which")},
        "first": np.zeros((0, 2), int),
    }
    for name in ("read", "written"):
        text, u = text_of(*ARRAYS[name]), np.random.default_rng(1).normal(size=17)
        assert_same(posterior(text, empty), reference(text, empty), u)


def test_a_segment_beyond_the_end_is_refused():
    text, u = text_of(*ARRAYS["read"]), np.zeros(25)
    found = posterior(text, {**DATA, "end": [2, 4, 6, 6, 8, 9, 10, 15]})
    with pytest.raises(InferenceError, match=r"out of range|outside|bounds"):
        found.log_density(u)


@pytest.mark.rotate
def test_any_segments_mean_the_same():
    """Empty, overlapping, in any order, and beside them lists of indices."""
    rng = np.random.default_rng(4)
    names = [*ARRAYS, *LOOPS, *UNCHANGED]
    models = {name: text_of(*{**ARRAYS, **LOOPS, **UNCHANGED}[name]) for name in names}
    compiled = {
        name: (posterior(text, DATA).model, reference(text, DATA).model) for name, text in models.items()
    }
    for trial in range(26):
        start = rng.integers(1, 15, 8)
        end = np.minimum(start + rng.integers(-1, 3, 8), 14)
        other, which = rng.integers(1, 12, 8), rng.integers(1, 3, 8)
        some = {
            "start": start,
            "end": end,
            "other": other,
            "which": which,
            "first": rng.integers(1, 15, (8, 2)),
        }
        name, u = names[trial % len(names)], rng.normal(size=25)
        one, plain = (model.condition({**DATA, **some}) for model in compiled[name])
        assert_same(one, plain, u)


def test_it_pays_where_half_of_the_segments_or_more_have_company():
    def pays(*groups):
        return batching.pays_by_width(NUMPY, np.array(groups, dtype=int))

    assert pays() and pays(1, 1) and pays(1, 2, 1, 2) and pays(*range(33))
    assert not pays(1) and not pays(1, 2, 3, 1) and not pays(*range(1, 33))


def test_the_plan_says_so():
    plan = posterior(text_of(*ARRAYS["read"]), DATA).model.plan
    assert "array operations, for each length of its segments" in plan.splitlines()[1]


def test_a_local_of_another_length_than_its_segment_is_refused():
    def found(size):
        body = f"vector[{size}] a = w[start[t]:end[t]]; target += sum(a) * mu[t];"
        return posterior(text_of("", body, ""), DATA)

    assert np.isfinite(found("end[t] - start[t] + 1").log_density(np.zeros(25)))
    with pytest.raises(InferenceError, match="The declared size is"):
        found("end[t] - start[t]").log_density(np.zeros(25))
