"""The table of experiments, in the order of the papers."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from frame.result import Result

PAPERS = {
    "advi": "Kucukelbir, Tran, Ranganath, Gelman and Blei: Automatic Differentiation Variational Inference"
    " (JMLR 2017)",
    "dsvi": "Titsias and Lázaro-Gredilla: Doubly Stochastic Variational Bayes for non-Conjugate Inference"
    " (ICML 2014)",
    "stochastic_search": "Paisley, Blei and Jordan: Variational Bayesian Inference with Stochastic Search"
    " (ICML 2012)",
}


@dataclass(frozen=True)
class Experiment:
    """One figure or table: `paper/name.py` beside this folder, with `run(quick, data)`.

    `needs` are the files, below the folder of data, without which it is skipped.
    """

    paper: str
    name: str
    title: str
    place: str
    needs: tuple[str, ...] = ()

    def missing(self, data: Path | None) -> list[str]:
        return [name for name in self.needs if data is None or not (data / name).exists()]

    def run(self, quick: bool, data: Path | None) -> Result:
        found: Callable[[bool, Path | None], Result] = import_module(f"{self.paper}.{self.name}").run
        return found(quick, data)


ADVI: tuple[Experiment, ...] = (
    Experiment("advi", "gamma_transforms", "Gamma densities under two transforms", "Table 2 and Figure 9"),
    Experiment("advi", "gaussian_2d", "The mean of a correlated Gaussian", "Figure 4"),
    Experiment("advi", "logistic_regression", "Marginals of a logistic regression", "Figure 5"),
    Experiment("advi", "stochastic_volatility", "Stochastic volatility", "Figures 6 and 7"),
    Experiment("advi", "gradient_variance", "Variance of stochastic gradients", "Figure 8"),
    Experiment(
        "advi",
        "regressions",
        "Regressions with hierarchical priors",
        "Figure 10",
        ("election88/election88_full.data.json",),
    ),
    Experiment(
        "advi", "frey_faces", "Factorising the Frey faces", "Figure 11", ("frey_faces/frey_faces.npz",)
    ),
    Experiment(
        "advi",
        "image_mixture",
        "Gaussian mixtures of colour histograms",
        "Figure 12",
        ("cifar10_hist/cifar10_hist_train.npz", "cifar10_hist/cifar10_hist_test.npz"),
    ),
    Experiment(
        "advi",
        "taxi",
        "Subspaces and clusters of taxi trips",
        "Figures 13 to 15",
        ("porto_taxi/porto_interp50.csv", "porto_taxi/porto_train1k.jsonl"),
    ),
)

DSVI: tuple[Experiment, ...] = (
    Experiment("dsvi", "gaussian_gradients", "Two gradients on their way to a Gaussian", "Figure 1"),
    Experiment("dsvi", "pima_convergence", "Evaluations to a full C", "Figure 2", ("pima/pima.csv",)),
    Experiment(
        "dsvi",
        "cancer",
        "Genes that tell a tumour",
        "Table 2 and Figure 3",
        (
            "colon/colon.csv",
            "leukemia/leukemia_train.csv",
            "leukemia/leukemia_test.csv",
            "duke/duke.csv",
        ),
    ),
    Experiment(
        "dsvi",
        "large_scale",
        "Weights selected in large regressions",
        "Table 4",
        (
            "a9a/a9a.svm",
            "a9a/a9a_test.svm",
            "rcv1_subset/rcv1_subset_train.svm",
            "rcv1_subset/rcv1_subset_test.svm",
            "text_polarity/polarity_train.svm.gz",
            "text_polarity/polarity_test.svm.gz",
        ),
    ),
    Experiment("dsvi", "epsilon_shape", "400,000 x 2,000 on disk", "Table 4, Epsilon"),
    Experiment(
        "dsvi",
        "gp_hyperparameters",
        "Hyperparameters of Gaussian processes",
        "Table 5 and Figure 4",
        ("boston/boston.csv", "bodyfat/bodyfat.csv", "pendulum/pendulum.csv"),
    ),
)

STOCHASTIC_SEARCH: tuple[Experiment, ...] = (
    Experiment(
        "stochastic_search",
        "control_variates",
        "Two control variates for logistic regression",
        "Tables 1 and 2, Figure 3",
        ("iris/iris.csv", "pima/pima.csv", "spectf/spectf.csv", "voting/votes_coded.csv", "wdbc/wdbc.csv"),
    ),
    Experiment(
        "stochastic_search",
        "hdp",
        "The top level of a finite HDP",
        "Table 3, Figures 2 and 4",
        ("text_polarity/polarity_train.svm.gz", "text_polarity/polarity_test.svm.gz"),
    ),
)

EXPERIMENTS = ADVI + DSVI + STOCHASTIC_SEARCH
BY_NAME = {e.name: e for e in EXPERIMENTS}
