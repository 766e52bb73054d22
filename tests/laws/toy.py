"""A posterior small enough to know everything about."""

from types import SimpleNamespace

import numpy as np
import pytest

from ppl.compilation.phases import Compilation
from ppl.compilation.traits import Traits
from ppl.density.log_density import LogDensity
from ppl.density.problem import Extent, Problem
from ppl.errors import InferenceError
from ppl.kernel.density.layout import Data
from ppl.kernel.draws.names import NO_LABELS, Labels, Sized
from ppl.kernel.ir.nodes import Program
from ppl.records import dataclass, field
from ppl.source import SourceText

CENTRE, SCALE = np.array([1.0, -0.5]), np.array([0.5, 2.0])

PROGRAM = SourceText("parameters { real mu; real<lower=0> tau; }", "toy.model")

NO_TRAITS = Traits(calls_of_a_step=0, solves_equations=False, calls_by_row=False, calls=0)
NOTHING_DECLARED = Program(*[()] * 10)


@dataclass(frozen=True)
class ToyModel:
    """What `load_fit` and the CSV ask of a model."""

    source: SourceText = PROGRAM
    softplus: bool = False
    floor: float = -np.inf
    keeps_time: bool = False
    traits: Traits = NO_TRAITS
    discrete: None = None
    completions: tuple = ()
    lowered: Program = NOTHING_DECLARED

    @property
    def compilation(self):
        return Compilation(self.source, self.softplus)

    @property
    def data_schema(self):
        return {"N": "int", "y": "vector"}

    def condition(self, data, seed=0, missing="refuse"):
        return Toy(self, data)


@dataclass(frozen=True)
class Toy:
    """mu and log tau are independent normals; theta = (mu, tau); y_rep cannot be drawn below `floor`."""

    model: ToyModel = ToyModel()
    data: dict = field(default_factory=lambda: {"N": 2, "y": [1.0, 2.0]})
    earlier: None = None
    notes: tuple = ()
    labels: Labels = NO_LABELS
    on_disk: tuple = ()
    targets: dict = field(default_factory=dict)

    @property
    def source(self):
        return self.model.source

    @property
    def observed(self):
        return self.data

    @property
    def d(self):
        return Data(N=self.data["N"], y=np.array(self.data["y"]))

    @property
    def numbers(self):
        return vars(self.d)

    @property
    def extent(self):
        return Extent(2, tuple(self.declared()))

    @property
    def problem(self):
        return Problem(
            self.extent,
            self.param_unc_names(),
            np.zeros(2, bool),
            self.numbers,
            NO_TRAITS,
            2,
            0,
            False,
            False,
        )

    width = 2

    @property
    def cost(self):
        return 2

    @property
    def rounding_limits(self):
        return np.array([[-np.inf, -746.0], [np.inf, 710.0]])

    def param_unc_num(self):
        return 2

    def param_unc_names(self):
        return ("mu", "tau")

    def param_names(self, include_tp=False, include_gq=False):
        return ("mu", "tau") + ("theta.1", "theta.2") * include_tp + ("y_rep",) * include_gq

    def declared(self, include_tp=False, include_gq=False):
        return [Sized("mu", (), ()), Sized("tau", (), ())]

    def log_density(self, u, propto=False, jacobian=True):
        return self.log_density_gradient(u)[0]

    def log_density_gradient(self, u, propto=False, jacobian=True):
        z = (u - CENTRE) / SCALE
        return float(-0.5 * z @ z - np.log(SCALE).sum() - np.log(2 * np.pi)), -z / SCALE

    def log_densities(self, us, propto=False, jacobian=True):
        return np.array([self.log_density(u, propto, jacobian) for u in us])

    def log_density_gradients(self, us, propto=False, jacobian=True):
        pairs = [self.log_density_gradient(u, propto, jacobian) for u in us]
        return np.array([value for value, _ in pairs]), np.array([gradient for _, gradient in pairs])

    def log_joint(self, propto=False, jacobian=True):
        def both(us, moving):
            return self.log_density_gradients(us)

        return SimpleNamespace(
            values_and_gradients=both, gradients=lambda us, moving: both(us, moving)[1], values_at_once=None
        )

    def explain(self, u):
        return ""

    def axes(self, size):
        return ()

    draws_at_once = 1

    def param_constrain(self, u, include_tp=False, include_gq=False, rng=None):
        mu, tau = u[0], np.exp(u[1])
        if include_gq and mu < self.model.floor:
            raise InferenceError("normal_rng: mu is too low")
        return np.array([mu, tau] + [mu, tau] * include_tp + ([rng.normal(mu)] if include_gq else []))

    initial_point = LogDensity.initial_point

    def param_unconstrain(self, values):
        return np.array([values["mu"], np.log(values["tau"])])


@pytest.fixture
def toy():
    return Toy()


@pytest.fixture
def make_model():
    return ToyModel
