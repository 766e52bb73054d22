"""The words that options of `ppl variational` take; a test holds them to the tables behind them."""

from enum import StrEnum


class Algorithm(StrEnum):
    """What to run: `auto`, an approximating family, or a recipe of another kind."""

    auto = "auto"
    meanfield = "meanfield"
    fullrank = "fullrank"
    lowrank = "lowrank"
    fixed_draws = "fixed-draws"
    laplace = "laplace"
    pathfinder = "pathfinder"
    optimize = "optimize"
    dsvi = "dsvi"
    dsvi_diagonal = "dsvi-diagonal"
    dsvi_ard = "dsvi-ard"
    ssvb = "ssvb"


class Start(StrEnum):
    """Where a run begins."""

    pathfinder = "pathfinder"
    random = "random"


class Estimator(StrEnum):
    """How the gradient of the ELBO is estimated."""

    reparameterised = "reparameterised"
    sticking_the_landing = "sticking-the-landing"
    score_function = "score-function"
    black_box = "black-box"
    stochastic_search = "stochastic-search"


class StepRule(StrEnum):
    """How a step is made of a gradient."""

    advi = "advi"
    adam = "adam"
    rmsprop = "rmsprop"
    staged = "staged"
    robbins_monro = "robbins-monro"
    dowg = "dowg"


class Stop(StrEnum):
    """When the loop ends."""

    relative_elbo = "relative-elbo"
    gradient_norm = "gradient-norm"
    rolling_bound = "rolling-bound"
    iterate_rhat = "iterate-rhat"
    fixed = "fixed"


class Noise(StrEnum):
    """The standard distribution that an approximation shifts and scales (DSVI section 2.1)."""

    normal = "normal"
    student_t = "student_t"
    logistic = "logistic"
    laplace = "laplace"


class Backend(StrEnum):
    """What computes the log density and its gradient."""

    auto = "auto"
    autograd = "autograd"
    jax = "jax"


class Device(StrEnum):
    """Where JAX computes."""

    cpu = "cpu"
    gpu = "gpu"


class PositiveTransform(StrEnum):
    """The map from the reals to a positive parameter (ADVI section 3.3)."""

    log = "log"
    softplus = "softplus"


class Layout(StrEnum):
    """CmdStan's method whose CSV file the draws are written like."""

    variational = "variational"
    sample = "sample"
