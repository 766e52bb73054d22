"""The terms that messages, help and files use without explanation: `ppl docs glossary`."""

from collections.abc import Mapping
from types import MappingProxyType

GLOSSARY: Mapping[str, str] = MappingProxyType(
    {
        "annealing": (
            "Sequential Monte Carlo from q to the posterior p: particles follow q^(1-beta) p^beta while "
            "the inverse temperature beta goes from 0 to 1. At each temperature they are resampled by "
            "weight and moved by HMC; at beta = 1 the moves continue until the particles are stationary. "
            "Neal (2001), Annealed importance sampling; Del Moral, Doucet and Jasra (2006), JRSS B 68."
        ),
        "autocorrelation": (
            "Of annealed draws, with the start: the correlation between where a particle began its moves "
            "at temperature 1 and where it ended. Near 0 the moves have mixed. A large value means that "
            "they mix slowly and that the draws still depend on the start."
        ),
        "divergence": (
            "An HMC move on which the energy error is so large that the integrator has failed, a sign of "
            "a region whose curvature is too high for the step size. Betancourt (2017), A conceptual "
            "introduction to Hamiltonian Monte Carlo."
        ),
        "divergent transition": (
            "A trajectory of NUTS with a large energy error, because the step is too large for the "
            "curvature there. Draws may miss such regions. A larger --delta or non-centred effects help. "
            "Betancourt (2017), arXiv:1701.02434."
        ),
        "ELBO": (
            "Evidence lower bound, in nats: E_q[log p(y, u) - log q(u)], at most the log evidence log "
            "p(y), from which it differs by KL(q || p(u | y)). ADVI maximises it over the parameters of "
            "q. Blei, Kucukelbir and McAuliffe (2017), JASA 112; Kucukelbir et al. (2017), JMLR 18:14."
        ),
        "ELPD": (
            "Expected log pointwise predictive density, in nats: the sum over rows of the log density that "
            "the model gives to a row it has not seen. Of two models the one with the higher ELPD predicts "
            "better: `ppl compare`. Vehtari, Gelman and Gabry (2017), Statistics and Computing 27."
        ),
        "ESS": (
            "Effective sample size, or effective draws: how many independent draws would estimate a mean "
            "as precisely. Of weighted draws it is 1 / sum(w^2), with weights w that sum to 1."
        ),
        "eta": (
            "The step size of the stochastic optimisation. Without --eta, 100, 10, 1, 0.1 and 0.01 are "
            "tried in turn for --adapt-iter steps each, as in CmdStan, and the one with the best ELBO is "
            "used."
        ),
        "full-rank": (
            "The family of Gaussians on the unconstrained scale with any covariance: q(u) = N(mu, L L'). "
            "It represents correlations, with dim (dim + 1) / 2 numbers for L. Kucukelbir et al. (2017)."
        ),
        "fused": (
            "Computed as one operation in place of several: a linear predictor together with its density, "
            "as one generalised linear model (`ppl show passes`), or many iterations of the stochastic "
            "optimisation as one compiled call."
        ),
        "HMC": (
            "Hamiltonian Monte Carlo: a Markov kernel that follows the gradient of the log density with "
            "an auxiliary momentum, and accepts or rejects the end of the trajectory. Neal (2011), "
            "Handbook of Markov Chain Monte Carlo, chapter 5."
        ),
        "importance resampling": (
            "Draws of q are resampled with probabilities proportional to their smoothed importance "
            "ratios p/q. They follow the posterior if k-hat says that the ratios are reliable. "
            "`--resample`, `--no-resample`."
        ),
        "k-hat": (
            "The shape of a generalised Pareto distribution fitted to the largest importance ratios p/q "
            "at draws of q. Below min(1 - 1 / log10(n), 0.7) estimates with n such weights are "
            "reliable; above, q misses part of the posterior. Vehtari, Simpson, Gelman, Yao and Gabry "
            "(2024), Pareto smoothed importance sampling, JMLR 25:72; for variational inference, Yao, "
            "Vehtari, Simpson and Gelman (2018), ICML."
        ),
        "L-BFGS": (
            "A quasi-Newton method of optimisation that keeps the curvature of its last steps only. "
            "Nocedal and Wright (2006), Numerical Optimization, section 7.2."
        ),
        "linear response": (
            "A correction of the covariance of a mean-field fit, from how its means respond to small "
            "tilts of the target: `--linear-response`. Giordano, Broderick and Jordan (2018), JMLR 19."
        ),
        "log-Jacobian": (
            "The log of the absolute determinant of the Jacobian of the map from unconstrained to "
            "constrained parameters. Added to the log density, it gives a density of the unconstrained "
            "parameters; `jacobian=False` omits it. Stan Reference Manual, Constraint "
            "Transforms."
        ),
        "log_g__": (
            "In files of draws: log q(u), the log density of the approximation at each draw, as in CmdStan."
        ),
        "log_p__": (
            "In files of draws: the log density log p(u, y) of the program at each draw, on the "
            "unconstrained scale with the log-Jacobian, as in CmdStan. log_p__ - log_g__ is the log "
            "importance ratio."
        ),
        "low-rank": (
            "A family between mean-field and full-rank: a Gaussian whose covariance is a diagonal plus a "
            "matrix of low rank (--rank). Ong, Nott and Smith (2018), JCGS 27."
        ),
        "MCSE": (
            "Monte Carlo standard error: how far the mean of so many draws may be from that of infinitely "
            "many. The standard error `se` of a fit also includes the error of the approximation. Vehtari, "
            "Gelman, Simpson, Carpenter and Burkner (2021), Bayesian Analysis 16."
        ),
        "mean-field": (
            "The family of Gaussians on the unconstrained scale with a diagonal covariance: no "
            "correlation between parameters, and variances that are too small where the posterior has "
            "correlations. Kucukelbir et al. (2017)."
        ),
        "minibatch": (
            "A random subset of rows of the data, rescaled to all of them, that a stochastic gradient is "
            "computed from: `--minibatch B`. It needs a target that is a sum over rows."
        ),
        "moment matching": (
            "The mean of q is moved to its importance-weighted mean, for as long as that raises the "
            "effective sample size. Paananen, Piironen, Burkner and Vehtari (2021), Statistics and "
            "Computing 31."
        ),
        "NUTS": (
            "No-U-Turn sampler: Hamiltonian Monte Carlo whose trajectories are doubled until they turn back, "
            "at most max_depth times. Hoffman and Gelman (2014), JMLR 15."
        ),
        "Pathfinder": (
            "A start for q: the Gaussian with the best ELBO among those that an L-BFGS path implies, of "
            "several paths from dispersed starting points. Zhang, Carpenter, Gelman and Vehtari (2022), "
            "JMLR 23."
        ),
        "population Monte Carlo": (
            "Adaptive importance sampling: a mixture is fitted to weighted draws, and draws of it are "
            "weighted in turn, round by round, until their weights are good. Cappe et al. (2008), "
            "Statistics and Computing 18."
        ),
        "prior predictive distribution": (
            "The distribution of data under the prior: parameters drawn from the prior, data given the "
            "parameters. `ppl predict --prior` draws from it."
        ),
        "PSIS": (
            "Pareto-smoothed importance sampling: the largest importance ratios are replaced by quantiles "
            "of the generalised Pareto distribution fitted to them; its shape is k-hat. Vehtari et al. "
            "(2024)."
        ),
        "PSIS-LOO": (
            "Leave-one-out cross-validation: the ELPD from the posteriors that each leave one row of data "
            "out. They are estimated from draws of the posterior with all rows by smoothed importance "
            "weights. The k-hat of each row says whether this is reliable: `ppl loo`, `fit.loo()`. It "
            "needs the log likelihood of each row: `log_lik` among the generated quantities, or densities "
            "of rows in the model block. Vehtari, "
            "Gelman and Gabry (2017); at draws of q, Magnusson et al. (2019), ICML."
        ),
        "q": (
            "The approximation of the posterior p: the member of a family, such as mean-field, that the "
            "fit has found on the unconstrained scale. Draws of q may be corrected towards p; the verdict "
            "says how close the draws are."
        ),
        "R-hat": (
            "The potential scale reduction factor: the disagreement of runs, or of the two halves of "
            "annealed draws with their two starts; 1 if they agree. Gelman and Rubin (1992); rank-normalised "
            "by "
            "Vehtari et al. (2021), Bayesian Analysis 16; of many short chains, Margossian et al. (2024), "
            "Nested R-hat."
        ),
        "refinement on fixed draws": (
            "The ELBO estimated with draws of noise that are held fixed is a deterministic function (a "
            "sample average approximation), which L-BFGS maximises; the draws are doubled until the means "
            "no longer change. `--refine`, and the algorithm `fixed-draws`. Giordano, Ingram and "
            "Broderick (2024), Black box variational inference with a deterministic objective (DADVI), "
            "JMLR 25."
        ),
        "simulation-based calibration": (
            "Parameters are drawn from the prior, data given them, and the "
            "model is fitted to these data. If its draws are those of the posterior, the ranks of the "
            "parameters among them are uniform. Talts et al. (2018), arXiv:1804.06788."
        ),
        "stationary": (
            "Of annealed draws: their means and standard deviations change from stage to stage of the "
            "moves by no more than chance."
        ),
        "unconstrained parameters": (
            "The vector u in R^dim that inference works on. Each constrained parameter of the program is "
            "a smooth map of part of it, such as exp for <lower=0>. Stan Reference Manual, Constraint "
            "Transforms; `ppl docs simplex` and so on give the maps."
        ),
        "upgrade of the family": (
            "If k-hat says that mean-field does not fit, it is optimised again in rescaled coordinates. If "
            "draws are corrected, it is replaced by full-rank: `--upgrade`."
        ),
        "verdict": (
            "How far the draws of a fit can be trusted. good: use them as draws of the posterior; all "
            "checks passed. usable: means and standard deviations are close, but one check failed; the "
            "sentence says which. poor: do not use them. unknown: there are too few draws to judge."
        ),
    }
)
"""What each term means, in a paragraph, with the source where there is one; in alphabetical order."""
