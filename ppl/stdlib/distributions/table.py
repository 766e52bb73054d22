"""Every distribution of the language.  A new family is one file, its import and its name here."""

from ppl.stdlib.distributions.bernoulli import BERNOULLI, BERNOULLI_LOGIT
from ppl.stdlib.distributions.beta import BETA, BETA_PROPORTION
from ppl.stdlib.distributions.beta_binomial import BETA_BINOMIAL
from ppl.stdlib.distributions.beta_neg_binomial import BETA_NEG_BINOMIAL
from ppl.stdlib.distributions.binomial import BINOMIAL, BINOMIAL_LOGIT
from ppl.stdlib.distributions.categorical import CATEGORICAL, CATEGORICAL_LOGIT
from ppl.stdlib.distributions.cauchy import CAUCHY
from ppl.stdlib.distributions.dirichlet import DIRICHLET
from ppl.stdlib.distributions.dirichlet_multinomial import DIRICHLET_MULTINOMIAL
from ppl.stdlib.distributions.discrete_range import DISCRETE_RANGE
from ppl.stdlib.distributions.double_exponential import DOUBLE_EXPONENTIAL, SKEW_DOUBLE_EXPONENTIAL
from ppl.stdlib.distributions.exp_mod_normal import EXP_MOD_NORMAL
from ppl.stdlib.distributions.exponential import EXPONENTIAL
from ppl.stdlib.distributions.gamma import CHI_SQUARE, GAMMA
from ppl.stdlib.distributions.gaussian_dlm_obs import GAUSSIAN_DLM_OBS
from ppl.stdlib.distributions.glm import (
    BERNOULLI_LOGIT_GLM,
    BINOMIAL_LOGIT_GLM,
    CATEGORICAL_LOGIT_GLM,
    NEG_BINOMIAL_2_LOG_GLM,
    NORMAL_ID_GLM,
    ORDERED_LOGISTIC_GLM,
    POISSON_LOG_GLM,
)
from ppl.stdlib.distributions.gumbel import GUMBEL
from ppl.stdlib.distributions.hmm_latent import HMM_LATENT
from ppl.stdlib.distributions.hypergeometric import HYPERGEOMETRIC
from ppl.stdlib.distributions.inv_gamma import INV_CHI_SQUARE, INV_GAMMA, SCALED_INV_CHI_SQUARE
from ppl.stdlib.distributions.inv_wishart import INV_WISHART, INV_WISHART_CHOLESKY
from ppl.stdlib.distributions.lkj import LKJ_CORR, LKJ_CORR_CHOLESKY, LKJ_COV
from ppl.stdlib.distributions.logistic import LOGISTIC
from ppl.stdlib.distributions.loglogistic import LOGLOGISTIC
from ppl.stdlib.distributions.lognormal import LOGNORMAL
from ppl.stdlib.distributions.multi_gp import MULTI_GP, MULTI_GP_CHOLESKY
from ppl.stdlib.distributions.multi_normal import MULTI_NORMAL, MULTI_NORMAL_CHOLESKY, MULTI_NORMAL_PREC
from ppl.stdlib.distributions.multi_student_t import MULTI_STUDENT_T, MULTI_STUDENT_T_CHOLESKY
from ppl.stdlib.distributions.multinomial import MULTINOMIAL, MULTINOMIAL_LOGIT
from ppl.stdlib.distributions.neg_binomial import NEG_BINOMIAL, NEG_BINOMIAL_2, NEG_BINOMIAL_2_LOG
from ppl.stdlib.distributions.normal import NORMAL, STD_NORMAL
from ppl.stdlib.distributions.ordered import ORDERED_LOGISTIC, ORDERED_PROBIT
from ppl.stdlib.distributions.pareto import PARETO, PARETO_TYPE_2
from ppl.stdlib.distributions.poisson import POISSON, POISSON_LOG
from ppl.stdlib.distributions.skew_normal import SKEW_NORMAL
from ppl.stdlib.distributions.student_t import STUDENT_T
from ppl.stdlib.distributions.uniform import UNIFORM
from ppl.stdlib.distributions.von_mises import VON_MISES
from ppl.stdlib.distributions.weibull import FRECHET, RAYLEIGH, WEIBULL
from ppl.stdlib.distributions.wiener import WIENER
from ppl.stdlib.distributions.wishart import WISHART, WISHART_CHOLESKY
from ppl.stdlib.distributions.yule_simon import YULE_SIMON
from ppl.stdlib.record import Distribution

DISTRIBUTIONS: tuple[Distribution, ...] = (
    *(
        NORMAL,
        STD_NORMAL,
        BERNOULLI,
        BERNOULLI_LOGIT,
        BETA,
        BETA_PROPORTION,
        BETA_BINOMIAL,
        BETA_NEG_BINOMIAL,
    ),
    *(BINOMIAL, BINOMIAL_LOGIT, CATEGORICAL, CATEGORICAL_LOGIT, CAUCHY, DIRICHLET, DIRICHLET_MULTINOMIAL),
    *(DISCRETE_RANGE, DOUBLE_EXPONENTIAL, SKEW_DOUBLE_EXPONENTIAL, EXP_MOD_NORMAL, EXPONENTIAL),
    *(GAMMA, CHI_SQUARE, GAUSSIAN_DLM_OBS),
    *(NORMAL_ID_GLM, BERNOULLI_LOGIT_GLM, POISSON_LOG_GLM, NEG_BINOMIAL_2_LOG_GLM, BINOMIAL_LOGIT_GLM),
    *(CATEGORICAL_LOGIT_GLM, ORDERED_LOGISTIC_GLM, GUMBEL, HMM_LATENT, HYPERGEOMETRIC),
    *(INV_GAMMA, INV_CHI_SQUARE, SCALED_INV_CHI_SQUARE, INV_WISHART, INV_WISHART_CHOLESKY),
    *(LKJ_CORR, LKJ_CORR_CHOLESKY, LKJ_COV, LOGISTIC, LOGLOGISTIC, LOGNORMAL),
    *(MULTI_GP, MULTI_GP_CHOLESKY, MULTI_NORMAL, MULTI_NORMAL_CHOLESKY, MULTI_NORMAL_PREC),
    *(MULTI_STUDENT_T, MULTI_STUDENT_T_CHOLESKY, MULTINOMIAL, MULTINOMIAL_LOGIT),
    *(NEG_BINOMIAL, NEG_BINOMIAL_2, NEG_BINOMIAL_2_LOG, ORDERED_LOGISTIC, ORDERED_PROBIT),
    *(PARETO, PARETO_TYPE_2, POISSON, POISSON_LOG, SKEW_NORMAL, STUDENT_T, UNIFORM, VON_MISES),
    *(WEIBULL, FRECHET, RAYLEIGH, WIENER, WISHART, WISHART_CHOLESKY, YULE_SIMON),
)
