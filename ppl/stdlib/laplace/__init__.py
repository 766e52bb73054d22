"""The embedded Laplace approximation of latent Gaussian models.

    theta ~ normal(0, K),   y[i] ~ p(. | theta[g[i]] + m[g[i]]),   log p(y) by Laplace at the mode of theta

likelihoods.py names what y may be, mode.py finds the mode, marginal.py has log p(y) and its derivatives, and
latent.py draws theta; own.py has all this of log p(y | theta) as a function of the program.  Every array has
an axis of the draws, (draws, n), before that of theta.
"""
