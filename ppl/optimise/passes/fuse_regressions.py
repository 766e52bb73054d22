"""Regressions recognised: `y ~ normal(alpha + x * beta, sigma)` is one call of a generalised linear model.

The predictor may stand in the statement or in a variable that is used there alone, and the statement may
have been a loop over rows.  Where x and y are data, the model is a single entry of autograd's tape, which
computes the predictor and the slope in it once; this pass is for autograd, since JAX fuses by itself.
"""

from collections import Counter
from collections.abc import Sequence

from ppl.arrays import Node
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import (
    changing_names,
    known_data,
    rewrite,
    single_assignments,
    substituted,
    used_names,
    walk,
)
from ppl.records import dataclass, replace
from ppl.stdlib import batching
from ppl.stdlib.distributions import bernoulli, categorical, glm, neg_binomial, normal, ordered, poisson
from ppl.stdlib.functions.fills import rep_rows
from ppl.stdlib.functions.operators import OPERATORS, TRANSPOSE
from ppl.stdlib.functions.products import inner, matrix_matrix, matrix_vector, transposed, vector_matrix
from ppl.stdlib.record import Distribution, Impl
from ppl.types import REAL, axes_of, element_type, rank

MODELS: tuple[tuple[Distribution, Distribution], ...] = (
    (normal.NORMAL, glm.NORMAL_ID_GLM),
    (bernoulli.BERNOULLI_LOGIT, glm.BERNOULLI_LOGIT_GLM),
    (poisson.POISSON_LOG, glm.POISSON_LOG_GLM),
    (neg_binomial.NEG_BINOMIAL_2_LOG, glm.NEG_BINOMIAL_2_LOG_GLM),
    (ordered.ORDERED_LOGISTIC, glm.ORDERED_LOGISTIC_ROWS),
    (ordered.ORDERED_PROBIT, glm.ORDERED_PROBIT_ROWS),
    (categorical.CATEGORICAL_LOGIT, glm.CATEGORICAL_LOGIT_GLM),
)
"""Families whose second argument is the predictor, and the models they are the rows of."""

OF_VECTORS = frozenset({categorical.CATEGORICAL_LOGIT.log_density})
"""Those whose predictor is a vector."""


def _kernel(family: Distribution, model: Distribution) -> Distribution:
    """The model with the kernel of the family; see passes/split_normalisers."""
    assert family.parts is not None and isinstance(family.parts.kernel, Node)
    return replace(model, name=f"{model.name}_kernel", log_density=glm.ByRows(family.parts.kernel))


OF_ROWS: dict[Impl, Distribution] = {
    **{family.log_density: model for family, model in MODELS},
    **{f.parts.kernel: _kernel(f, model) for f, model in MODELS if f.parts is not None},
}
PLUS = OPERATORS["+"].name


def fuse_regressions(p: ir.Program) -> ir.Program:
    """A linear predictor and its density become one generalised linear model.

    It runs after data-only work has been hoisted.
    """
    sizes = {d.name: (*d.dims, *d.sizes) for d in (*p.data, *p.parameters) if rank(d.type) == 2}
    prepared = {s.name: s.value for s in single_assignments(p.prepared)}
    fusion = Fusion(known_data(p), sizes, prepared)
    return replace(p, model=tuple(rewrite(s, fusion.change) for s in fusion.put_in(p.model)))


def is_regression(e: ir.Expr) -> bool:
    """Whether it is one of the calls that this pass makes."""
    return isinstance(e, ir.Apply) and e.callee.family in OF_ROWS.values()


def without_transpose(e: ir.Expr) -> ir.Expr:
    """Rows as columns are the same numbers."""
    match e:
        case ir.Apply(callee=callee, args=(inside,)) if callee.name == TRANSPOSE.name:
            return e if callee.impl is transposed else inside
    return e


def one_row(e: ir.Expr) -> ir.Expr:
    """What every row of a matrix is, where it is made of copies."""
    match e:
        case ir.Apply(callee=callee, args=(row, _)) if callee.impl is rep_rows and not e.axes:
            return without_transpose(row)
    return e


def one_varies(x: ir.Expr, beta: ir.Expr) -> bool:
    """Whether there is an x for each row, and one beta for all."""
    return bool(axes_of(x.type)) and not axes_of(beta.type)


def factors(e: ir.Expr) -> tuple[ir.Expr, ir.Expr] | None:
    """x and beta of a product that is a number for each row."""
    match e:
        case ir.Apply(callee=callee, args=(x, beta)) if callee.impl is matrix_vector and not e.axes:
            return x, beta
        case ir.Apply(callee=callee, args=(x, beta)) if callee.impl is inner and one_varies(x, beta):
            return x, beta
        case ir.Apply(callee=callee, args=(beta, x)) if callee.impl is inner and one_varies(x, beta):
            return x, beta
    return None


def factors_of_rows(e: ir.Expr) -> tuple[ir.Expr, ir.Expr] | None:
    """x and beta of a product that is a vector for each row: x * beta whole, x[n] * beta or beta' * x[n]'."""
    match e:
        case ir.Apply(callee=callee, args=(x, beta)) if callee.impl is matrix_matrix and not e.axes:
            return x, beta
        case ir.Apply(callee=callee, args=(x, beta)) if callee.impl is vector_matrix and one_varies(x, beta):
            return x, beta
        case ir.Apply(callee=callee, args=(ir.Apply(callee=turned, args=(beta,)), x)) if (
            callee.impl is matrix_vector and turned.impl is transposed and one_varies(x, beta)
        ):
            return without_transpose(x), beta
    return None


@dataclass(frozen=True)
class Predictor:
    """alpha + x beta, row by row."""

    x: ir.Expr
    alpha: ir.Expr
    beta: ir.Expr


@dataclass(frozen=True)
class Fusion:
    """`known` names hold data; `sizes` are those of given matrices, `prepared` what was made of data."""

    known: frozenset[str]
    sizes: dict[str, tuple[ir.Expr, ...]]
    prepared: dict[str, ir.Expr]

    def change(self, node: object) -> object:
        """The sum of a density over rows as that of a regression, where it is one."""
        if not isinstance(node, ir.Apply) or node.callee.impl not in OF_ROWS or not self.is_whole(node):
            return node
        y, eta, *rest = node.args
        predictor = self.predictor(eta, node.callee.impl in OF_VECTORS)
        if predictor is None or not self.is_data(y) or rank(y.type) != 1:
            return node
        model = OF_ROWS[node.callee.impl]
        name = model.name + node.callee.name[node.callee.name.rindex("_l") :]
        callee = ir.Callee(name, model.log_density, "whole", "sum", family=model)
        args = (y, predictor.x, predictor.alpha, predictor.beta, *rest)
        return ir.Apply(callee, args, REAL, data_if=node.data_if)

    def is_whole(self, e: ir.Apply) -> bool:
        """Whether it is one sum over a list of rows; in a batch each row is as the family takes it.

        Where the batch is that of y or of the predictor alone, each of its entries meets all of the other.
        """
        varies = [bool(axes_of(a.type)) for a in e.args]
        if any(varies) and not (varies[0] and varies[1]):
            return False
        core = 1 if e.callee.impl in OF_VECTORS else 0
        rows = all(r == (core if k == 1 else 0) for k, r in enumerate(e.ranks) if varies[k])
        return e.callee.reduce == "sum" and rank(e.type) == 0 and rows and len(e.axes) < 2

    def is_data(self, e: ir.Expr) -> bool:
        return isinstance(e, ir.Var) and e.name in self.known

    def predictor(self, e: ir.Expr, vectors: bool) -> Predictor | None:
        """The expression as intercept and product; None for any other.

        Of `vectors`, one for each row, alpha is one vector for all and beta a matrix.
        """
        product = self.product(e, vectors)
        if product is not None:
            return Predictor(product[0], ir.Const(0.0, REAL), product[1])
        match without_transpose(e) if vectors else e:
            case ir.Apply(callee=callee, args=(a, b)) if callee.name == PLUS:
                for alpha, term in ((a, b), (b, a)):
                    product, row = self.product(term, vectors), one_row(alpha) if vectors else alpha
                    one_for_all = rank(row.type) == 1 and not axes_of(alpha.type)
                    if product is not None and (one_for_all or not vectors):
                        return Predictor(product[0], row, product[1])
        return None

    def product(self, e: ir.Expr, vectors: bool) -> tuple[ir.Expr, ir.Expr] | None:
        """x and beta of x * beta, or of the product of every row of x and beta; x being data."""
        factors_ = factors_of_rows(without_transpose(e)) if vectors else factors(e)
        if factors_ is None:
            return None
        x, beta = factors_
        real = element_type(x.type) == REAL and rank(x.type) == 2 and rank(beta.type) == 1 + vectors
        return factors_ if real and self.is_data(x) and not self.is_data(beta) else None

    # --- Predictors with a name ---

    def put_in(self, body: Sequence[ir.Stmt]) -> ir.Stmts:
        """The statements with predictors that one other statement uses put in there."""
        uses = Counter(n.name for n in walk(tuple(body)) if isinstance(n, ir.Var | ir.Update | ir.Scatter))
        sets = Counter(n.name for n in walk(tuple(body)) if isinstance(n, ir.Assign | ir.Declare))
        changed = changing_names(body)
        values = {
            s.name: s.value
            for s in body
            if isinstance(s, ir.Assign) and s.declares and uses[s.name] == sets[s.name] == 1
            if not used_names(s.value) & changed and self.fits(s)
        }
        others = (s for s in body if not (isinstance(s, ir.Assign) and s.name in values))
        return tuple(substituted(s, values) for s in others)

    def fits(self, s: ir.Assign) -> bool:
        """Whether it is a predictor with one entry, or one row of them, for each row, as declared."""
        predictor = self.predictor(s.value, False) or self.predictor(s.value, True)
        if predictor is None or not isinstance(predictor.x, ir.Var):
            return False
        rows = self.sizes.get(predictor.x.name, ())[:1]
        columns = self.sizes.get(predictor.beta.name, ())[1:] if isinstance(predictor.beta, ir.Var) else ()
        return not s.shape or (self.size(s.shape[0]), *s.shape[1:]) == (*rows, *columns)

    def size(self, e: ir.Expr) -> ir.Expr:
        """A size as declared, where it is that of a loop's batch."""
        match self.prepared.get(e.name) if isinstance(e, ir.Var) else e:
            case ir.Apply(callee=callee, args=(ir.Var(name=name),)) if callee.impl is batching.batch_size:
                match self.prepared.get(name):
                    case ir.Apply(callee=of, args=(ir.Const(value=1), upper)) if (
                        of.impl is batching.loop_range
                    ):
                        return upper
        return e
