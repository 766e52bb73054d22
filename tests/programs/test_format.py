"""The formatter: what it lays out, and that it changes nothing but the space between tokens."""

import random
from pathlib import Path

import pytest
from laws.every import every

from ppl.errors import ModelError
from ppl.kernel.language.printer import print_program
from ppl.programs.explained import parse
from ppl.programs.format import CANONICAL, format_program
from ppl.programs.spacing import tokens
from ppl.source import SourceText

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted([*ROOT.glob("models/*/*.model"), *ROOT.glob("tests/conformance/programs/*.stan")])

UNTIDY = """\
/* Two lines
 * of a comment */
functions{
@grad(g( a ),1)   @inline
tuple( real,)h(){ return( 1 , );}
real f(real x, // the x
   data array[ , ] real y)   // the y
   { if(x>0)return x; else if (x < -1) { return -x ; } // done
   else return   y[1,1]*-x^2; }
}
data{int<lower=0,upper=10>N;array[N] vector<lower=-1>[3] y;// obs


  tuple(real,int) t; /* inline */
}
model{

  y[1]~normal(t.1 , 2)T[0,];
  target+=normal_lpdf(a|0,1)-(N > 2 ? 1.5:-.2e3)+some_long_name(a+b*c,another(d,e),y[1,2]./3,!N==0);
  for(i in 1:N)for(j in N:1){x[, i]=x.*b;}
  while(1) // forever
    { break; }
  if (a) { b = 1; }
  // between
  else { b = 2; }
     /* block
        comment */
  {array[2,3] real m={{1,2,3},{4,5,6}}; print("a // none", [1,2]');}
  foo(a,
      // own line
      b);

}
"""

TIDY = """\
/* Two lines
 * of a comment */
functions {
  @grad(g( a ),1) @inline tuple(real,) h() {
    return (1,);
  }
  real f(real x, // the x
         data array[,] real y) { // the y
    if (x > 0)
      return x;
    else if (x < -1) {
      return -x;
    } // done
    else
      return y[1, 1] * -x ^ 2;
  }
}
data {
  int<lower=0, upper=10> N;
  array[N] vector<lower=-1>[3] y; // obs

  tuple(real, int) t; /* inline */
}
model {
  y[1] ~ normal(t.1, 2) T[0, ];
  target += normal_lpdf(a | 0, 1) - (N > 2 ? 1.5 : -.2e3)
      + some_long_name(a + b * c, another(d, e), y[1, 2] ./ 3, !N == 0);
  for (i in 1:N)
    for (j in N:1) {
      x[, i] = x .* b;
    }
  while (1) { // forever
    break;
  }
  if (a) {
    b = 1;
  }
  // between
  else {
    b = 2;
  }
  /* block
     comment */
  {
    array[2, 3] real m = {{1, 2, 3}, {4, 5, 6}};
    print("a // none", [1, 2]');
  }
  foo(a,
      // own line
      b);
}
"""


def formatted(text):
    return format_program(SourceText(text))


def test_an_untidy_program():
    assert formatted(UNTIDY) == TIDY


def test_windows_line_ends():
    assert formatted(UNTIDY.replace("\n", "\r\n")) == TIDY


@pytest.mark.rotate
@every("path", PROGRAMS)
def test_only_space_changes_and_only_once(path):
    check(path.read_text())


@pytest.mark.rotate
@every("path", PROGRAMS)
def test_comments_stay_wherever_they_stand(path):
    check(scattered(path.read_text(), random.Random(path.stem)))


SCATTERED = (" /* c */ ", " // d\n", "\n// e\n", "\n\n\n", "\n/* m\n  * n */\n", *["\n"] * 3, *[" "] * 20)


def scattered(text, rng):
    """The program with comments and line ends between its tokens."""
    together = ("transformed", "generated")  # a block's name of two tokens is one
    between = (
        ("\n" if w.ends_line else " " if w.text in together else rng.choice(SCATTERED)) for w in tokens(text)
    )
    return "".join(w.text + space for w, space in zip(tokens(text), between, strict=True))


def check(text):
    once = formatted(text)
    assert formatted(once) == once
    assert print_program(parse(SourceText(once))) == print_program(parse(SourceText(text)))
    assert spelled(once, comments=False) == spelled(text, comments=False)
    assert sorted(spelled(once, comments=True)) == sorted(spelled(text, comments=True))


def spelled(text, comments):
    """The tokens of a program, or its comments with the spaces in them taken out."""
    return ["".join(w.text.split()) for w in tokens(text) if w.is_comment == comments]


def test_lines_keep_within_a_width():
    assert (
        format_program(SourceText("model { x = f(a, b); }"), width=10)
        == "model {\n  x = f(a,\n        b);\n}\n"
    )


@pytest.mark.rotate
@every("path", PROGRAMS)
def test_the_canonical_text_is_of_the_same_program(path):
    text = path.read_text()
    once = format_program(SourceText(text), canonical=CANONICAL)
    printed = print_program(parse(SourceText(text)))
    assert print_program(parse(SourceText(once))) == printed
    assert format_program(SourceText(once), canonical=CANONICAL) == once
    signs = [w for w in spelled(once, comments=False) if w in "(){}"]
    assert sorted(signs) == sorted(w for w in spelled(printed, comments=False) if w in "(){}")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("((a)) - ((b - c)) + ((d * e))", "a - (b - c) + d * e"),
        ("(a + b)' + ((m))[1] + (t).1", "(a + b)' + m[1] + t.1"),
        ("(-a) ^ (b ^ c) * (-(d ^ 2))", "(-a) ^ b ^ c * -d ^ 2"),
        ("(a ? b : c) ? (d) : (e ? f : g)", "(a ? b : c) ? d : (e ? f : g)"),
        ("f((a), (b, (c)), ((d || e)))", "f(a, (b, c), d || e)"),
    ],
)
def test_parentheses_that_change_nothing_are_left_out(text, canonical):
    found = format_program(SourceText(f"model {{ x = {text}; }}"), canonical=["parentheses"])
    assert found == f"model {{\n  x = {canonical};\n}}\n"


def test_governed_statements_get_braces_and_keep_their_comments():
    text = "model { if (a) // why\n x = 1; /* c */ else for (i in 1:2) y = 2; }"
    lines = format_program(SourceText(text), canonical=["braces"]).splitlines()
    assert lines[1:5] == ["  if (a) { // why", "    x = 1; /* c */", "  } else {", "    for (i in 1:2) {"]
    assert lines[5:] == ["      y = 2;", "    }", "  }", "}"]


def test_lines_keep_within_80_columns_where_they_can_be_broken():
    call = f"x = f({', '.join(['argument'] * 30)}) + {' + '.join(['operand'] * 30)};"
    text = formatted(f"model {{ {call} }}")
    assert max(map(len, text.splitlines())) <= 80 and formatted(text) == text


def test_an_include_stays_where_the_file_is_missing():
    text = 'functions {\n#include "other.stan"\n}\nparameters{real x;}\n'
    assert formatted(text).splitlines()[:3] == ["functions {", '  #include "other.stan"', "}"]


def test_a_block_that_only_the_included_file_completes(tmp_path):
    (tmp_path / "data.stan").write_text("data { int N; }\n")
    source = SourceText("#include data.stan\nparameters{real x;}", str(tmp_path / "a.stan"))
    assert format_program(source) == "#include data.stan\nparameters {\n  real x;\n}\n"


def test_a_wrong_program_is_refused_where_it_is_wrong():
    with pytest.raises(ModelError) as refused:
        formatted("parameters {\n  real x\n}\n")
    assert refused.value.line in (2, 3)


COLUMN = """\
data {
  int<lower=0>   N;      // how many
  vector[N] y;           // what was measured,
                         // in metres
  real a; // alone

  real bb;        // after an empty line
}
"""


def test_comments_in_one_column_stay_in_one():
    text = format_program(SourceText(COLUMN))
    assert text.splitlines()[1:] == [
        "  int<lower=0> N; // how many",
        "  vector[N] y;    // what was measured,",
        "  // in metres",
        "  real a; // alone",
        "",
        "  real bb; // after an empty line",
        "}",
    ]
    assert format_program(SourceText(text)) == text


@pytest.mark.parametrize("path", sorted(ROOT.glob("models/*/*.model")), ids=lambda path: path.stem)
def test_our_own_models_are_in_the_canonical_layout(path):
    text = path.read_text()
    assert format_program(SourceText(text, str(path)), [path.parent]) == text
